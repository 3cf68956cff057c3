#pragma once

// Parameters of every silu_mul_bwd kernel, shared by host and device code. Strides in elements.

namespace einkorn::silu_mul_bwd {

struct Params {
  const void* dy;
  const void* gate;  // interleaved: the packed tensor
  const void* up;    // interleaved: unused
  void* dgate;       // interleaved: the packed gradient
  void* dup;         // interleaved: unused
  long long rows;
  long long cols;
  long long dy_stride;
  long long gate_stride;
  long long up_stride;
  long long dgate_stride;
  long long dup_stride;
  float limit;
  float alpha;
  float up_offset;
};

}  // namespace einkorn::silu_mul_bwd
