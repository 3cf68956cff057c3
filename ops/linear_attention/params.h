#pragma once

// Parameters of every decode kernel, shared by host and device code.

#include "ops/linear_attention/step_params.h"

namespace einkorn::linear_attention {

struct DecodeParams : StepParams {
  const void* indices;
  const int* accepted;
  void* state;
  long long pool;   ///< rows of the state
  int index_bytes;  ///< of an entry of indices: 0 without them, 4, 8
  int per_token;    ///< indices has an entry for each token
  /// Blocks that may start before the previous kernel has ended; 0 where none may.
  unsigned early_blocks;
};

}  // namespace einkorn::linear_attention
