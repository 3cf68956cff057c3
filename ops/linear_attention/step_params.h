#pragma once

// Parameters of every kernel that goes from token to token, shared by host and device code. Strides
// in elements.

namespace einkorn::linear_attention {

/// What a token brings, and how the states' rows are shared out.
struct StepParams {
  const void* q;
  const void* k;
  const void* v;
  const void* g;  ///< of lightning attention the decay of each head: no stride between tokens
  const void* beta;
  const float* a_log;    ///< [value heads], or null: factor 1
  const float* dt_bias;  ///< [value heads], or with a gate by channels [value heads][K]; or null: 0
  void* o;
  long long q_token, q_head;
  long long k_token, k_head;
  long long v_token, v_head;
  long long g_token, g_head;
  long long beta_token;
  long long o_token, o_head;
  int tokens;       ///< of a sequence
  int value_heads;  ///< of a token
  int group;        ///< value heads that share a head of q and k
  int value_dim;
  unsigned parts;  ///< blocks a value head
  float scale;
  float beta_scale;  ///< 2 with negative eigenvalues, else 1
  float lower_bound;
};

}  // namespace einkorn::linear_attention
