#pragma once

// dst[i] = src[i] + kConstant, for `einkorn jit run` and the program beside it.

#include "src/cuda/device/common/types.cuh"

template <class T, int kConstant>
__global__ void add_constant(T* dst, const T* src, int n) {
  const einkorn::i64 i = einkorn::i64{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) dst[i] = src[i] + static_cast<T>(kConstant);
}
