#pragma once

// What all silu_mul kernels compute, apart from how they move data.

#include "ops/activation/silu_mul/params.h"
#include "src/cuda/device/common/pdl.cuh"
#include "src/cuda/device/common/types.cuh"
#include "src/cuda/device/common/vec.cuh"

namespace einkorn::silu_mul {

template <class T_, bool kClamp_, bool kRoundSilu_, bool kInterleaved_>
struct Traits {
  using T = T_;
  static constexpr bool kClamp = kClamp_;
  static constexpr bool kRoundSilu = kRoundSilu_;
  static constexpr bool kInterleaved = kInterleaved_;
};

/// g * sigmoid(a). The quotient form has the right limits at both ends: exp(-a) overflows to
/// infinity for a very negative a, and dividing by it gives the zero that is meant.
__device__ inline float gated(float g, float a) { return __fdividef(g, 1.0f + __expf(-a)); }

/// y of one element, before its last rounding.
template <class Tr>
__device__ inline float silu_mul(float g, float u, const Params& p) {
  float silu;
  if constexpr (Tr::kClamp) {
    // Written so that NaN passes: it compares false and stays.
    g = g > p.limit ? p.limit : g;
    u = u > p.limit ? p.limit : (u < -p.limit ? -p.limit : u);
    silu = gated(g, p.alpha * g);
    u += p.up_offset;
  } else {
    silu = gated(g, g);
  }
  if constexpr (Tr::kRoundSilu) silu = round_to<typename Tr::T>(silu);
  return silu * u;
}

template <class Tr, int kN>
__device__ inline Vec<typename Tr::T, kN> silu_mul_vec(const Vec<typename Tr::T, kN>& gate,
                                                       const Vec<typename Tr::T, kN>& up,
                                                       const Params& p) {
  float y[kN];
#pragma unroll
  for (int j = 0; j < kN; ++j) y[j] = silu_mul<Tr>(gate.get(j), up.get(j), p);
  return Vec<typename Tr::T, kN>::from(y);
}

/// The same from 2 kN interleaved elements: gate, up, gate, up.
template <class Tr, int kN>
__device__ inline Vec<typename Tr::T, kN> silu_mul_pairs(const Vec<typename Tr::T, 2 * kN>& packed,
                                                         const Params& p) {
  float y[kN];
#pragma unroll
  for (int j = 0; j < kN; ++j) {
    y[j] = silu_mul<Tr>(packed.get(2 * j), packed.get(2 * j + 1), p);
  }
  return Vec<typename Tr::T, kN>::from(y);
}

}  // namespace einkorn::silu_mul
