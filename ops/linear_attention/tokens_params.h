#pragma once

// Parameters of the kernels that go through whole sequences token by token, shared by host and
// device code.

#include "ops/linear_attention/chunk_params.h"
#include "ops/linear_attention/step_params.h"

namespace einkorn::linear_attention {

struct TokensParams : StepParams {
  const void* initial;          ///< [sequences][value heads], states, or null: zeros
  void* final;                  ///< likewise, or null
  void* checkpoints;            ///< [rows][value heads], states, or null
  const SequenceStart* starts;  ///< of packed sequences, or null: all are of `tokens`
  int state_key, state_value;   ///< elements between a state's keys, and between its values
  int checkpoint_every;         ///< tokens, or 0
};

}  // namespace einkorn::linear_attention
