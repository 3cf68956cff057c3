#pragma once

// What all silu_mul_bwd kernels compute, apart from how they move data.

#include "ops/activation/silu_mul_bwd/params.h"
#include "src/cuda/device/common/math.cuh"
#include "src/cuda/device/common/pdl.cuh"
#include "src/cuda/device/common/types.cuh"
#include "src/cuda/device/common/vec.cuh"

namespace einkorn::silu_mul_bwd {

template <class T_, bool kClamp_, bool kRoundSilu_, bool kInterleaved_>
struct Traits {
  using T = T_;
  static constexpr bool kClamp = kClamp_;
  static constexpr bool kRoundSilu = kRoundSilu_;
  static constexpr bool kInterleaved = kInterleaved_;
};

/// Gradients of one element, before their last rounding.
template <class Tr>
__device__ inline void gradients(float dy, float g, float u, const Params& p, float& dgate,
                                 float& dup) {
  bool gate_clamped = false;
  bool up_clamped = false;
  float z = g;
  if constexpr (Tr::kClamp) {
    // NaN compares false: it stays, and so does its gradient.
    gate_clamped = g > p.limit;
    up_clamped = fabsf(u) > p.limit;
    g = gate_clamped ? p.limit : g;
    u = (up_clamped ? copysignf(p.limit, u) : u) + p.up_offset;
    z = p.alpha * g;
  }
  const float t = exp_approx(-z);
  const float s = reciprocal_approx(1.0f + t);
  // 1 - s without cancellation where it is small, and without infinity times 0 where t is infinite.
  const float rest = z > 0.0f ? t * s : 1.0f - s;
  // At most 1.1, so that the product with dy goes beyond f32 no earlier than dgate's factors do.
  const float derivative = s * fmaf(z, rest, 1.0f);
  float silu = g * s;
  if constexpr (Tr::kRoundSilu) silu = round_to<typename Tr::T>(silu);
  dgate = gate_clamped ? 0.0f : dy * derivative * u;
  dup = up_clamped ? 0.0f : dy * silu;
}

template <class Tr, int kN>
using Elements = Vec<typename Tr::T, kN>;

template <class Tr, int kN>
__device__ inline void gradients_vec(const Elements<Tr, kN>& dy, const Elements<Tr, kN>& gate,
                                     const Elements<Tr, kN>& up, const Params& p,
                                     Elements<Tr, kN>& dgate, Elements<Tr, kN>& dup) {
  float dg[kN];
  float du[kN];
#pragma unroll
  for (int j = 0; j < kN; ++j) {
    gradients<Tr>(dy.get(j), gate.get(j), up.get(j), p, dg[j], du[j]);
  }
  dgate = Elements<Tr, kN>::from(dg);
  dup = Elements<Tr, kN>::from(du);
}

/// The same from and to 2 kN interleaved elements: gate, up, gate, up.
template <class Tr, int kN>
__device__ inline Elements<Tr, 2 * kN> gradients_pairs(const Elements<Tr, kN>& dy,
                                                       const Elements<Tr, 2 * kN>& packed,
                                                       const Params& p) {
  float out[2 * kN];
#pragma unroll
  for (int j = 0; j < kN; ++j) {
    gradients<Tr>(dy.get(j), packed.get(2 * j), packed.get(2 * j + 1), p, out[2 * j],
                  out[2 * j + 1]);
  }
  return Elements<Tr, 2 * kN>::from(out);
}

}  // namespace einkorn::silu_mul_bwd
