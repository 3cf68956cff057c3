#pragma once

// Parameters of the kernels that go through whole sequences token by token, shared by host and
// device code. Strides in elements.

#include "ops/linear_attention/chunk_params.h"

namespace einkorn::linear_attention {

struct TokensParams {
  const void* q;
  const void* k;
  const void* v;
  const void* g;  ///< of lightning attention the decay of each head: no stride between tokens
  const void* beta;
  const float* a_log;    ///< [value heads], or null: factor 1
  const float* dt_bias;  ///< [value heads], or with a gate by channels [value heads][K]; or null: 0
  const void* initial;   ///< [sequences][value heads], states, or null: zeros
  void* final;           ///< likewise, or null
  void* checkpoints;     ///< [rows][value heads], states, or null
  void* o;
  const SequenceStart* starts;  ///< of packed sequences, or null: all are of `tokens`
  long long q_token, q_head;
  long long k_token, k_head;
  long long v_token, v_head;
  long long g_token, g_head;
  long long beta_token;
  long long o_token, o_head;
  int tokens;
  int value_heads;
  int group;  ///< value heads that share a head of q and k
  int value_dim;
  int state_key, state_value;  ///< between a state's keys, and between its values
  int checkpoint_every;        ///< tokens, or 0
  unsigned parts;              ///< blocks a value head
  float scale;
  float beta_scale;  ///< 2 with negative eigenvalues, else 1
  float lower_bound;
};

}  // namespace einkorn::linear_attention
