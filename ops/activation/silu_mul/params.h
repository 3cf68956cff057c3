#pragma once

// Parameters of every silu_mul kernel, shared by host and device code. Strides in elements.

namespace einkorn::silu_mul {

struct Params {
  const void* gate;  // interleaved: the packed tensor
  const void* up;    // interleaved: unused
  void* y;
  long long rows;
  long long cols;
  long long gate_stride;
  long long up_stride;
  long long y_stride;
  float limit;
  float alpha;
  float up_offset;
};

}  // namespace einkorn::silu_mul
