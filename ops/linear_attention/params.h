#pragma once

// Parameters of every decode kernel, shared by host and device code. Strides in elements.

namespace einkorn::linear_attention {

struct DecodeParams {
  const void* q;
  const void* k;
  const void* v;
  const void* g;  // of lightning attention the decay of each head: no stride between tokens
  const void* beta;
  const float* a_log;
  const float* dt_bias;
  const void* indices;
  const int* accepted;
  void* state;
  void* o;
  long long pool;  // rows of the state
  long long q_token, q_head;
  long long k_token, k_head;
  long long v_token, v_head;
  long long g_token, g_head;
  long long beta_token;
  long long o_token, o_head;
  int tokens;       // of a sequence
  int value_heads;  // of a token
  int group;        // value heads a head of q
  int value_dim;
  unsigned parts;   // blocks a value head
  int index_bytes;  // of an entry of indices: 0 without them, 4, 8
  int per_token;    // indices has an entry for each token
  float scale;
  float beta_scale;  // 2 with negative eigenvalues, else 1
  float lower_bound;
  // Blocks that may start before the previous kernel has ended; 0 where none may.
  unsigned early_blocks;
};

}  // namespace einkorn::linear_attention
