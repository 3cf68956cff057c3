#pragma once

// Parameters of every qk_norm kernel, shared by host and device code. Strides of tokens, in
// elements.

namespace einkorn::qk_norm {

struct Params {
  const void* q;
  const void* k;
  const void* q_weight;
  const void* k_weight;
  void* q_out;
  void* k_out;
  long long rows;
  long long q_stride;
  long long k_stride;
  long long q_out_stride;
  long long k_out_stride;
  int q_heads;
  int cols;
  float inverse_cols;
  float eps;
  float offset;
  // Blocks that may start before the previous kernel has ended; 0 where none may.
  unsigned early_blocks;
};

}  // namespace einkorn::qk_norm
