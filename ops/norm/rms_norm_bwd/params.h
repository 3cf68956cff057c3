#pragma once

// Parameters of every rms_norm_bwd kernel, shared by host and device code. Strides in elements.

namespace einkorn::rms_norm_bwd {

struct Params {
  const void* dy;
  const void* x;
  const void* weight;
  const void* residual;  // dresidual_out
  const float* rstd;
  void* dx;
  void* dweight;
  // In the workspace: partial sums of dweight, partial_rows rows of partial_stride elements, not
  // used without dweight; and, loop only, two numbers for each row.
  float* partials;
  float* factors;
  long long rows;
  long long dy_stride;
  long long x_stride;
  long long residual_stride;
  long long dx_stride;
  long long partial_rows;
  long long partial_stride;
  int cols;
  float inverse_cols;
  float eps;
  float offset;
  unsigned zero;  // 0, which the compiler does not know
};

}  // namespace einkorn::rms_norm_bwd
