#pragma once

// What all rms_norm kernels compute, apart from how they move data.

#include "ops/norm/rms_norm/params.h"
#include "src/cuda/device/common/pdl.cuh"
#include "src/cuda/device/common/types.cuh"
#include "src/cuda/device/common/vec.cuh"
#include "src/cuda/device/common/warp.cuh"

namespace einkorn::rms_norm {

/// The contract's enum, by the same numbers.
enum class Rounding { kLlama = 0, kGemma = 1, kNone = 2 };

/// Everything that a kernel is specialised on. W and R are `none` where the tensor is left out.
template <class T_, class W_, class R_, int kRounding_, bool kResidualOut_, bool kRstd_>
struct Traits {
  using T = T_;
  using W = W_;
  using R = R_;
  static constexpr Rounding kRounding = static_cast<Rounding>(kRounding_);
  static constexpr bool kHasWeight = !is_none<W>;
  static constexpr bool kHasResidual = !is_none<R>;
  static constexpr bool kResidualOut = kResidualOut_;
  static constexpr bool kRstd = kRstd_;
};

__device__ inline float reciprocal_rms(float sum_of_squares, const Params& p) {
  return rsqrtf(sum_of_squares * p.inverse_cols + p.eps);
}

/// All of a vector; pairs of 16 bits are taken apart by one instruction a value, single ones by
/// two.
template <class T, int kN>
__device__ inline void to_floats(const Vec<T, kN>& vec, float (&out)[kN]) {
  if constexpr (sizeof(T) == 2 && kN % 2 == 0) {
#pragma unroll
    for (int i = 0; i < kN; i += 2) {
      const float2 pair = unpack2<T>(reinterpret_cast<const u32*>(vec.item)[i / 2]);
      out[i] = pair.x;
      out[i + 1] = pair.y;
    }
  } else {
#pragma unroll
    for (int i = 0; i < kN; ++i) out[i] = vec.get(i);
  }
}

/// Every value after a trip through T; pairs share an instruction where T has 16 bits.
template <class T, int kN>
__device__ inline void round_all(float (&values)[kN]) {
  if constexpr (sizeof(T) == 2 && kN % 2 == 0) {
#pragma unroll
    for (int i = 0; i < kN; i += 2) {
      const float2 pair = unpack2<T>(pack2<T>(values[i], values[i + 1]));
      values[i] = pair.x;
      values[i + 1] = pair.y;
    }
  } else {
#pragma unroll
    for (int i = 0; i < kN; ++i) values[i] = round_to<T>(values[i]);
  }
}

template <class Tr>
__device__ inline float scale_of(float r) {
  return Tr::kRounding == Rounding::kNone ? round_to<typename Tr::T>(r) : r;
}

/// w + offset of kN columns, 1 without a weight.
template <class Tr, int kN>
__device__ inline void load_scales(const Vec<typename Tr::W, kN>& weight, float offset,
                                   float (&scales)[kN]) {
  if constexpr (Tr::kHasWeight) {
    to_floats(weight, scales);
#pragma unroll
    for (int j = 0; j < kN; ++j) scales[j] += offset;
    if constexpr (Tr::kRounding == Rounding::kNone) round_all<typename Tr::T>(scales);
  } else {
#pragma unroll
    for (int j = 0; j < kN; ++j) scales[j] = 1.0f;
  }
}

/// Both values after a trip through T.
template <class T>
__device__ inline float2 round_pair(float2 values) {
  if constexpr (sizeof(T) == 2) {
    return unpack2<T>(pack2<T>(values.x, values.y));
  } else {
    return {round_to<T>(values.x), round_to<T>(values.y)};
  }
}

/// Two values of y, not rounded yet, from two of h and of the weight, which does not count where
/// there is none; `r` as scale_of() gives it. In pairs all the way, not array by array: that is a
/// tenth of what a kernel takes to compile.
template <class Tr>
__device__ inline float2 normalize_pair(float2 h, float2 weight, float r, float offset) {
  float2 y{h.x * r, h.y * r};
  if constexpr (Tr::kRounding != Rounding::kGemma) y = round_pair<typename Tr::T>(y);
  if constexpr (Tr::kHasWeight) {
    float2 scale{weight.x + offset, weight.y + offset};
    if constexpr (Tr::kRounding == Rounding::kNone) scale = round_pair<typename Tr::T>(scale);
    y.x *= scale.x;
    y.y *= scale.y;
  }
  return y;
}

/// kN values of y from kN values of h.
template <class Tr, int kN>
__device__ inline Vec<typename Tr::T, kN> normalize_vec(const float (&h)[kN],
                                                        const Vec<typename Tr::W, kN>& weight,
                                                        float r, float offset) {
  Vec<typename Tr::T, kN> y;
  if constexpr (kN == 1) {
    y.item[0] =
        from_float<typename Tr::T>(normalize_pair<Tr>({h[0], 0}, {weight.get(0), 0}, r, offset).x);
  } else {
#pragma unroll
    for (int j = 0; j < kN; j += 2) {
      y.set_pair(j / 2, normalize_pair<Tr>({h[j], h[j + 1]}, weight.pair(j / 2), r, offset));
    }
  }
  return y;
}

}  // namespace einkorn::rms_norm
