#pragma once

// Reductions over the lanes of a warp and over a block. The order is fixed and nothing is atomic,
// so results repeat bit by bit, and every thread gets the same bits.

#include "src/cuda/device/common/types.cuh"
#include "src/cuda/device/common/warp.cuh"

namespace einkorn {

// Types: float, double, int, u32, i64, u64; f16 and bf16, which are reduced in float.
//
// An operation has an identity for every type and combines two values; it has to be associative
// (floats: nearly) and commutative. Any type with these two members will do.

/// The identity is +0, so the sum of nothing is +0.
struct Sum {
  template <class T>
  __device__ static constexpr T identity() {
    return T{0};
  }
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

/// Largest and smallest value of a type: infinities of float and double.
template <class T>
__device__ constexpr T highest_of() {
  return static_cast<T>(-1) > T{0} ? static_cast<T>(-1)
                                   : static_cast<T>((u64{1} << (8 * sizeof(T) - 1)) - 1);
}
template <>
__device__ constexpr float highest_of<float>() {
  return infinity();
}
template <>
__device__ constexpr double highest_of<double>() {
  return infinity();
}
template <class T>
__device__ constexpr T lowest_of() {
  return static_cast<T>(-highest_of<T>() - 1);  // 0 where highest is all ones
}
template <>
__device__ constexpr float lowest_of<float>() {
  return -infinity();
}
template <>
__device__ constexpr double lowest_of<double>() {
  return -infinity();
}

/// NaN counts as missing: the result is the maximum of the others, NaN when there is none. +0 is
/// above -0 (PTX ISA, "max").
struct Max {
  template <class T>
  __device__ static constexpr T identity() {
    return lowest_of<T>();
  }
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
  __device__ double operator()(double a, double b) const { return fmax(a, b); }
};

/// As Max: NaN counts as missing, and -0 is below +0.
struct Min {
  template <class T>
  __device__ static constexpr T identity() {
    return highest_of<T>();
  }
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a < b ? a : b;
  }
  __device__ float operator()(float a, float b) const { return fminf(a, b); }
  __device__ double operator()(double a, double b) const { return fmin(a, b); }
};

/// For float only: NaN (0x7fffffff) when any value is NaN, so that none goes unseen.
struct MaxNan {
  template <class T>
  __device__ static constexpr T identity() {
    return lowest_of<T>();
  }
  template <class T>
  __device__ T operator()(T, T) const = delete;  // others would turn into float unseen
  __device__ float operator()(float a, float b) const {
    float out;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
    return out;
  }
};
struct MinNan {
  template <class T>
  __device__ static constexpr T identity() {
    return highest_of<T>();
  }
  template <class T>
  __device__ T operator()(T, T) const = delete;  // others would turn into float unseen
  __device__ float operator()(float a, float b) const {
    float out;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
    return out;
  }
};

/// Type in which T is reduced, and of the result: float for f16 and bf16, which rounds once, where
/// the caller does it.
template <class T>
struct Wide {
  using Type = T;
};
template <>
struct Wide<f16> {
  using Type = float;
};
template <>
struct Wide<bf16> {
  using Type = float;
};
template <class T>
using WideType = typename Wide<T>::Type;

namespace reduce_detail {

template <class T>
__device__ inline T widen(T value) {
  return value;
}
__device__ inline float widen(f16 value) { return to_float(value); }
__device__ inline float widen(bf16 value) { return to_float(value); }

// One instruction for a whole warp of 32-bit integers (PTX ISA, "redux.sync"; sm_80).
template <class Op, class T>
inline constexpr bool kHasRedux = false;
template <>
inline constexpr bool kHasRedux<Sum, int> = true;
template <>
inline constexpr bool kHasRedux<Sum, u32> = true;
template <>
inline constexpr bool kHasRedux<Max, int> = true;
template <>
inline constexpr bool kHasRedux<Max, u32> = true;
template <>
inline constexpr bool kHasRedux<Min, int> = true;
template <>
inline constexpr bool kHasRedux<Min, u32> = true;

template <class T>
__device__ inline T redux(Sum, T value) {
  return __reduce_add_sync(kFullWarp, value);
}
template <class T>
__device__ inline T redux(Max, T value) {
  return __reduce_max_sync(kFullWarp, value);
}
template <class T>
__device__ inline T redux(Min, T value) {
  return __reduce_min_sync(kFullWarp, value);
}

/// Over the first kLanes lanes of a warp that has no others.
template <class Op, int kLanes, class T>
__device__ inline T partial_warp_reduce(T value) {
  constexpr u32 kMask = (1u << kLanes) - 1;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    const T other = __shfl_down_sync(kMask, value, offset);
    if (lane + offset < kLanes) value = Op{}(value, other);
  }
  return __shfl_sync(kMask, value, 0);
}

}  // namespace reduce_detail

/// Over each group of kLanes neighbouring lanes (a power of two up to 32); every lane gets its
/// group's result. All 32 lanes of the warp must arrive. No barrier but the warp's.
template <class Op, int kLanes = 32, class T>
__device__ inline WideType<T> warp_reduce(T value) {
  static_assert(kLanes >= 1 && kLanes <= 32 && (kLanes & (kLanes - 1)) == 0);
  auto result = reduce_detail::widen(value);
  if constexpr (kLanes == 32 && reduce_detail::kHasRedux<Op, WideType<T>>) {
    return reduce_detail::redux(Op{}, result);
  } else {
#pragma unroll
    for (int offset = kLanes / 2; offset > 0; offset /= 2) {
      result = Op{}(result, __shfl_xor_sync(kFullWarp, result, offset));
    }
    return result;
  }
}

/// Elements of shared memory that block_reduce takes: one a warp.
template <int kThreads>
inline constexpr int kReduceScratch = (kThreads + 31) / 32;

/// Over a one-dimensional block of exactly kThreads threads, 1 to 1024, whole warps or not; every
/// thread gets the result. `shared` has kReduceScratch<kThreads> elements.
///
/// Barriers: two __syncthreads(), after the partial results are written and after they are read; up
/// to 32 threads none, and `shared` is not touched. So all threads must arrive, and after the
/// return the scratch is free at once, for the next reduction or anything else.
template <class Op, int kThreads, class T>
__device__ inline WideType<T> block_reduce(T value, WideType<T>* shared) {
  static_assert(kThreads >= 1 && kThreads <= 1024);
  using R = WideType<T>;
  constexpr int kWarps = (kThreads + 31) / 32;
  constexpr int kTail = kThreads % 32;  // threads of a last warp that is not whole
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;

  R result;
  if (kTail != 0 && warp == kWarps - 1) {
    result = reduce_detail::partial_warp_reduce<Op, kTail>(reduce_detail::widen(value));
  } else {
    result = warp_reduce<Op>(value);
  }
  if constexpr (kWarps > 1) {
    if (lane == 0) shared[warp] = result;
    __syncthreads();
    if constexpr (kWarps > 8 && (kWarps & (kWarps - 1)) == 0 && kTail == 0) {
      result = warp_reduce<Op, kWarps>(shared[lane % kWarps]);
    } else {
      // Reading a few is quicker than handing them around.
      result = shared[0];
#pragma unroll
      for (int i = 1; i < kWarps; ++i) result = Op{}(result, shared[i]);
    }
    __syncthreads();
  }
  return result;
}

}  // namespace einkorn
