#pragma once

// What all rms_norm kernels compute, apart from how they move data.

#include "ops/norm/rms_norm/params.h"
#include "src/cuda/device/common/pdl.cuh"
#include "src/cuda/device/common/reduce.cuh"
#include "src/cuda/device/common/types.cuh"
#include "src/cuda/device/common/vec.cuh"

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
  return __frsqrt_rn(sum_of_squares * p.inverse_cols + p.eps);
}

/// y of one element, before its last rounding; `r` as scale_of() gives it.
template <class Tr>
__device__ inline float normalize(float h, float r, float weight_plus_offset) {
  float normalized = h * r;
  if constexpr (Tr::kRounding != Rounding::kGemma) {
    normalized = round_to<typename Tr::T>(normalized);
  }
  return normalized * weight_plus_offset;
}

template <class Tr>
__device__ inline float scale_of(float r) {
  return Tr::kRounding == Rounding::kNone ? round_to<typename Tr::T>(r) : r;
}

template <class Tr>
__device__ inline float add_offset(float weight, float offset) {
  const float sum = weight + offset;
  return Tr::kRounding == Rounding::kNone ? round_to<typename Tr::T>(sum) : sum;
}

/// kN values of y from kN values of h.
template <class Tr, int kN>
__device__ inline Vec<typename Tr::T, kN> normalize_vec(const float (&h)[kN],
                                                        const Vec<typename Tr::W, kN>& weight,
                                                        float r, float offset) {
  float y[kN];
#pragma unroll
  for (int j = 0; j < kN; ++j) {
    float w = 1.0f;
    if constexpr (Tr::kHasWeight) w = weight.get(j);
    y[j] = normalize<Tr>(h[j], r, add_offset<Tr>(w, offset));
  }
  return Vec<typename Tr::T, kN>::from(y);
}

}  // namespace einkorn::rms_norm
