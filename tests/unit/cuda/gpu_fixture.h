#pragma once

// Fixture and kernels of the tests that need a GPU; they skip, with the reason, where there is
// none.

#include <cstdint>
#include <string>
#include <vector>

#include <einkorn/cuda.h>
#include <einkorn/jit.h>
#include <einkorn/tensor.h>
#include <gtest/gtest.h>

#include "src/cuda/allocator.h"

namespace einkorn::cuda {

inline constexpr const char* kGpuTestSource = R"(
namespace gpu_test {

template <int kStep>
__global__ void add(int* out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] += kStep;
}

__global__ void waits_then_adds(int* out, int count) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = 2 * out[i] + 1;
}

__global__ void cluster_rank(int* out) {
  unsigned rank = 0, size = 1;
#if __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
#endif
  if (threadIdx.x == 0) out[blockIdx.x] = int(size * 100 + rank);
}

__global__ void sum_dynamic_smem(int* out, int words) {
  extern __shared__ int s[];
  for (int i = threadIdx.x; i < words; i += blockDim.x) s[i] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < words; ++i) sum += s[i];
    *out = sum;
  }
}

__global__ void static_and_dynamic_smem(int* out) {
  __shared__ int fixed[8192];  // 32 KiB: with 32 KiB more the default of 48 KiB is passed
  extern __shared__ int s[];
  fixed[threadIdx.x] = 1;
  s[8191 - threadIdx.x] = 2;
  __syncthreads();
  if (threadIdx.x == 0) *out = fixed[1] + s[8190];
}

struct Block {
  int* out;
  int value;
};
__global__ void one_struct(Block block) { block.out[threadIdx.x] = block.value; }

__global__ void __launch_bounds__(64) small_blocks(int* out) { *out = 1; }

}  // namespace gpu_test
)";

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    if (!available(&reason)) GTEST_SKIP() << reason;
    register_allocator();
  }

  static int cc() { return device_info(0).cc; }

  static Kernel kernel(const std::string& name) {
    return jit::load({"gpu_test.cu", kGpuTestSource, {name}, jit::native_arch(cc()), {}});
  }

  static Tensor zeros(std::int64_t count) {
    Tensor tensor = Tensor::empty({count}, kI32, cuda_device(0));
    tensor.fill_bytes(0);
    return tensor;
  }

  static std::vector<int> values(const Tensor& tensor) {
    const Tensor host = tensor.to(kCpuDevice);
    const int* data = host.view().data_as<int>();
    return {data, data + host.view().numel()};
  }

  template <class... Values>
  static void launch(const Kernel& kernel, const Launch& geometry, Stream stream,
                     Values... arguments) {
    void* pointers[] = {static_cast<void*>(&arguments)...};
    kernel.launch(geometry, stream, pointers);
  }
};

}  // namespace einkorn::cuda
