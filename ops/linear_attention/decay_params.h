#pragma once

// Parameters of the kernels over chunks whose decay is a number a head, fixed for all tokens;
// shared by host and device code.

#include "ops/linear_attention/chunk_params.h"

namespace einkorn::linear_attention {

inline constexpr int kCarryThreads = 256;
inline constexpr int kCarryBlocks = 16;  ///< that carry a value head's state

/// Of the base, the records are not used, nor what segments make of the identity: that is a power
/// of the decay. What a segment makes of no state is left where the next one's state will be.
struct DecayParams : RecurrenceParams {
  const void* q;
  const void* k;
  const float* decay;  ///< [value heads]
  long long q_token, k_token;
  long long q_head, k_head;
  int group;   ///< value heads that share a head of q and k
  int factor;  ///< `decay` holds factors, not their natural logs
  float scale;
};

}  // namespace einkorn::linear_attention
