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
  const float* decay;  ///< [value heads]
  int factor;          ///< `decay` holds factors, not their natural logs
  float scale;
};

}  // namespace einkorn::linear_attention
