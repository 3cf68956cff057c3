#pragma once

// N elements of one thread, moved in the widest pieces that an alignment allows. Hints to the
// caches other than kReadOnly need cache.cuh as well.

#include "src/cuda/device/common/piece.cuh"
#include "src/cuda/device/common/types.cuh"

namespace einkorn {

/// kN elements of T in registers. Moves in pieces of at most kAlign bytes, which the address must
/// be a multiple of; kN * sizeof(T) must be a power of two.
template <class T, int kN>
struct Vec {
  static constexpr int kBytes = kN * static_cast<int>(sizeof(T));

  alignas(kBytes < 16 ? kBytes : 16) T item[kN];

  template <int kAlign, Cache kCache = Cache::kDefault>
  __device__ static Vec load(const T* address) {
    constexpr int kPiece = kBytes < kAlign ? kBytes : kAlign;
    using P = typename Piece<kPiece>::Type;
    Vec out;
#pragma unroll
    for (int i = 0; i < kBytes / kPiece; ++i) {
      reinterpret_cast<P*>(out.item)[i] =
          load_piece<kCache>(reinterpret_cast<const P*>(address) + i);
    }
    return out;
  }

  /// load() in place, 2 % less of a compilation. load() is not made of it: the compiler then no
  /// longer unrolls loops of run-time length around it.
  template <int kAlign, Cache kCache = Cache::kDefault>
  __device__ void fill(const T* address) {
    constexpr int kPiece = kBytes < kAlign ? kBytes : kAlign;
    using P = typename Piece<kPiece>::Type;
    const P* from = reinterpret_cast<const P*>(address);
    P* to = reinterpret_cast<P*>(item);
    if constexpr (kBytes == kPiece) {
      *to = load_piece<kCache>(from);  // most vectors: no loop to unroll
    } else {
#pragma unroll
      for (int i = 0; i < kBytes / kPiece; ++i) to[i] = load_piece<kCache>(from + i);
    }
  }

  template <int kAlign, Cache kCache = Cache::kDefault>
  __device__ void store(T* address) const {
    constexpr int kPiece = kBytes < kAlign ? kBytes : kAlign;
    using P = typename Piece<kPiece>::Type;
    const P* from = reinterpret_cast<const P*>(item);
    P* to = reinterpret_cast<P*>(address);
    if constexpr (kBytes == kPiece) {
      store_piece<kCache>(to, *from);
    } else {
#pragma unroll
      for (int i = 0; i < kBytes / kPiece; ++i) store_piece<kCache>(to + i, from[i]);
    }
  }

  __device__ float get(int i) const { return to_float(item[i]); }

  /// All of them; fp8 goes in pairs, an instruction for two.
  __device__ void get_all(float (&values)[kN]) const {
    if constexpr (is_fp8<T> && kN % 2 == 0) {
#pragma unroll
      for (int i = 0; i < kN / 2; ++i) {
        const float2 pair = unpack2<T>(reinterpret_cast<const u16*>(item)[i]);
        values[2 * i] = pair.x;
        values[2 * i + 1] = pair.y;
      }
    } else {
#pragma unroll
      for (int i = 0; i < kN; ++i) values[i] = get(i);
    }
  }

  /// Elements 2i and 2i + 1, the latter 0 where there is one only. 16 bits go by one instruction a
  /// value, where get() takes two.
  __device__ float2 pair(int i) const {
    if constexpr (kN == 1) {
      return {get(0), 0};
    } else if constexpr (sizeof(T) == 2) {
      return unpack2<T>(reinterpret_cast<const u32*>(item)[i]);
    } else {
      return {get(2 * i), get(2 * i + 1)};
    }
  }
  /// The inverse, rounded to T.
  __device__ void set_pair(int i, float2 values) {
    if constexpr (kN == 1) {
      item[0] = from_float<T>(values.x);
    } else if constexpr (sizeof(T) == 2) {
      reinterpret_cast<u32*>(item)[i] = pack2<T>(values.x, values.y);
    } else {
      item[2 * i] = from_float<T>(values.x);
      item[2 * i + 1] = from_float<T>(values.y);
    }
  }

  /// Rounds kN floats to T.
  __device__ static Vec from(const float (&values)[kN]) {
    Vec out;
    if constexpr (sizeof(T) == 2 && kN % 2 == 0) {
#pragma unroll
      for (int i = 0; i < kN / 2; ++i) {
        reinterpret_cast<u32*>(out.item)[i] = pack2<T>(values[2 * i], values[2 * i + 1]);
      }
    } else if constexpr (is_fp8<T> && kN % 2 == 0) {
#pragma unroll
      for (int i = 0; i < kN / 2; ++i) {
        reinterpret_cast<u16*>(out.item)[i] =
            static_cast<u16>(pack2<T>(values[2 * i], values[2 * i + 1]));
      }
    } else {
#pragma unroll
      for (int i = 0; i < kN; ++i) out.item[i] = from_float<T>(values[i]);
    }
    return out;
  }
};

/// Stands where a tensor is left out: loads nothing, so the compiler drops it.
template <int kN>
struct Vec<none, kN> {
  template <int kAlign, Cache kCache = Cache::kDefault>
  __device__ static Vec load(const none*) {
    return {};
  }
  template <int kAlign, Cache kCache = Cache::kDefault>
  __device__ void fill(const none*) {}
  __device__ float get(int) const { return 0; }
  __device__ float2 pair(int) const { return {}; }
};

}  // namespace einkorn
