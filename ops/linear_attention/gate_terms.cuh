#pragma once

// From a prefill's gates, in any of their forms, to log2 of decays.

#include "ops/linear_attention/chunk_params.h"
#include "src/cuda/device/common/math.cuh"

namespace einkorn::linear_attention {

/// The host's enums, by the same numbers.
enum class Gate { kLog, kSoftplus, kLowerBound, kFactor };
enum class Beta { kProbability, kLogit };

namespace prepare_detail {

inline constexpr float kLog2e = 1.44269504f;

/// log2 of the decay from the gate's element. `factor` and `bias` are the channel's, prepared by
/// gate_terms.
template <Gate kGate>
__device__ inline float log2_decay(float g, float factor, float bias, float bound) {
  if constexpr (kGate == Gate::kLog) {
    return g * kLog2e;
  } else if constexpr (kGate == Gate::kFactor) {
    return log2_approx(g);
  } else if constexpr (kGate == Gate::kLowerBound) {
    return bound * reciprocal_approx(1.0f + exp2_approx(g * factor + bias));
  } else {
    const float x = g * kLog2e + bias;
    // Beyond 20 (natural) softplus is its argument. Only the absolute error counts, so 1 + 2^x may
    // swallow a small 2^x.
    return factor * (x > 20 * kLog2e ? x : log2_approx(1.0f + exp2_approx(x)));
  }
}

/// A decay below 2^-150 is 0 in every product it is part of; without the bound two infinities would
/// meet. NaN stays.
template <Gate kGate>
__device__ inline float bounded(float decay) {
  if constexpr (kGate == Gate::kLowerBound) return decay;
  return decay < -150.0f ? -150.0f : decay;
}

/// What turns an element of the gate into log2 of the decay: of a head, and of 2 channels.
struct GateTerms {
  float factor = 1;
  float bound = 0;
  float bias[2] = {0, 0};
};

/// What they are made of, as it lies in memory; 0 where there is none.
struct RawTerms {
  float a_log = 0;
  float2 bias{0, 0};
};

template <Gate kGate>
inline constexpr bool kRawGate = kGate == Gate::kSoftplus || kGate == Gate::kLowerBound;

__device__ inline RawTerms load_terms(const PrepareParams& p, int head, float2 bias) {
  return {p.a_log != nullptr ? p.a_log[head] : 0.0f, bias};
}

/// Of channels `channel` and the next, each with a bias of its own.
template <Gate kGate>
__device__ inline RawTerms load_channel_terms(const PrepareParams& p, int head, int channel) {
  float2 bias{0, 0};
  if (!kRawGate<kGate>) return {0, bias};
  if (p.dt_bias != nullptr) {
    bias = *reinterpret_cast<const float2*>(p.dt_bias + head * kChunkDim + channel);
  }
  return load_terms(p, head, bias);
}

template <Gate kGate>
__device__ inline GateTerms gate_terms(const PrepareParams& p, const RawTerms& raw) {
  GateTerms terms;
  if constexpr (kRawGate<kGate>) {
    const float rate = exp_approx(raw.a_log);
    terms.factor = kGate == Gate::kSoftplus ? -rate : -rate * kLog2e;
    terms.bound = p.lower_bound * kLog2e;
    const float unit = kGate == Gate::kSoftplus ? kLog2e : terms.factor;
    terms.bias[0] = raw.bias.x * unit;
    terms.bias[1] = raw.bias.y * unit;
  }
  return terms;
}

}  // namespace prepare_detail
}  // namespace einkorn::linear_attention
