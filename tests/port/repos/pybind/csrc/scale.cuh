#pragma once

#include <c10/cuda/CUDAStream.h>
#include <cuda_fp16.h>

#include <cassert>

#include "flags.h"
#include "scale.h"

namespace rowops::kernels {

template <typename T, int kVector, bool kNegate>
__global__ void scale_kernel(const T* x, const T* factors, T* out, int columns) {
  extern __shared__ char staged[];
  const float4* from = reinterpret_cast<const float4*>(x + blockIdx.x * columns);
  float4* to = reinterpret_cast<float4*>(out + blockIdx.x * columns);
  for (int i = threadIdx.x; i < columns / kVector; i += blockDim.x) {
    reinterpret_cast<float4*>(staged)[threadIdx.x] = from[i];
    to[i] = times<T, kNegate>(reinterpret_cast<float4*>(staged)[threadIdx.x], factors[blockIdx.x]);
  }
}

template <typename Body, typename... Arguments>
__global__ void run_kernel(Arguments... arguments) {
  Body()(arguments...);
}

template <typename T, bool kNegate>
struct Scaler {
  static constexpr int kVector = sizeof(float4) / sizeof(T);
  static_assert(kVector * sizeof(T) == 16, "one load of 16 bytes");

  struct RowSums {
    __device__ void operator()(const T* x, T* out, long columns) const {
      float sum = 0;
      for (long i = threadIdx.x; i < columns; i += blockDim.x) {
        sum += static_cast<float>(x[blockIdx.x * columns + i]);
      }
      atomicAdd(out + blockIdx.x, static_cast<T>(sum));
    }
  };

  static void launch(View x, View factors, View out) {
    assert(x.columns % kVector == 0);
    const int bytes = 128 * sizeof(float4);
    auto kernel = scale_kernel<T, kVector, kNegate>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    const dim3 grid(x.rows);
    kernel<<<grid, 128, bytes, at::cuda::getCurrentCUDAStream()>>>(
        static_cast<const T*>(x.data), static_cast<const T*>(factors.data),
        static_cast<T*>(out.data), x.columns);
  }
};

}  // namespace rowops::kernels
