#pragma once

// Parameters of every rms_norm kernel, shared by host and device code. Strides in elements.

namespace einkorn::rms_norm {

struct Params {
  const void* x;
  const void* weight;
  const void* residual;
  void* y;
  void* residual_out;
  float* rstd;
  long long rows;
  long long x_stride;
  long long residual_stride;
  long long y_stride;
  long long residual_out_stride;
  int cols;
  float inverse_cols;
  float eps;
  float offset;
  // Blocks that may start before the previous kernel has ended; 0 where none may. rows only.
  unsigned early_blocks;
};

}  // namespace einkorn::rms_norm
