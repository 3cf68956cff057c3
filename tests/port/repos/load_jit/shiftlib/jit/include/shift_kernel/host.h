#pragma once

#include <cuda_runtime.h>
#include <dlpack/dlpack.h>

#include <stdexcept>

namespace host {

template <typename... Parts>
void RuntimeCheck(bool holds, Parts&&...) {
  if (!holds) {
    throw std::runtime_error("a requirement does not hold");
  }
}

inline size_t div_ceil(size_t a, size_t b) { return (a + b - 1) / b; }

struct LaunchKernel {
  explicit LaunchKernel(dim3 grid, dim3 block, DLDevice device, size_t shared = 0) noexcept
      : config_(), attribute_() {
    config_.gridDim = grid;
    config_.blockDim = block;
    config_.dynamicSmemBytes = shared;
    config_.stream = resolve_device(device);
  }

  static cudaStream_t resolve_device(DLDevice device);

  LaunchKernel& enable_pdl(bool enabled) {
    attribute_.val.programmaticStreamSerializationAllowed = enabled;
    config_.numAttrs = enabled ? 1 : 0;
    config_.attrs = &attribute_;
    return *this;
  }

  template <typename Kernel, typename... Arguments>
  void operator()(Kernel&& kernel, Arguments&&... arguments) const {
    RuntimeCheck(cudaLaunchKernelEx(&config_, kernel, arguments...) == cudaSuccess);
  }

 private:
  cudaLaunchConfig_t config_;
  cudaLaunchAttribute attribute_;
};

}  // namespace host
