#pragma once

// The yardstick of memory-bound kernels: a copy that does nothing else.

#include "src/cuda/device/common/types.cuh"

namespace einkorn {

/// Grid: one thread for each 16 bytes, the last ones idle. A program includes this once.
__global__ void __launch_bounds__(512) plain_copy(const uint4* from, uint4* to, i64 count) {
  const i64 index = i64{blockIdx.x} * 512 + threadIdx.x;
  if (index < count) to[index] = from[index];
}

}  // namespace einkorn
