#include "bias.h"

#include <cuda_runtime.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>

template <typename T, bool kVectors>
__global__ void bias_kernel(const T* x, const T* bias, T* out, int width) {
  const long row = blockIdx.x;
  if constexpr (kVectors) {
    const int4* from = reinterpret_cast<const int4*>(x + row * width);
    const int4 loaded = from[threadIdx.x];
    reinterpret_cast<int4*>(out + row * width)[threadIdx.x] = loaded;
  }
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    out[row * width + i] = x[row * width + i] + bias[i];
  }
}

__global__ void scale_kernel(float* bias, float by) { bias[threadIdx.x] *= by; }

void add_bias_launcher(tvm::ffi::TensorView x, tvm::ffi::TensorView bias,
                       tvm::ffi::TensorView out) {
  TVM_FFI_ICHECK_EQ(x.ndim(), 2);
  TVM_FFI_ICHECK(bias.size(0) == x.size(1)) << "bias has another width";
  TVM_FFI_ICHECK_EQ(x.dtype().code, kDLFloat);
  auto stream =
      static_cast<cudaStream_t>(TVMFFIEnvGetStream(x.device().device_type, x.device().device_id));
  const int width = static_cast<int>(x.size(1));
  const dim3 grid(static_cast<unsigned>(x.size(0)));
  const bool vectors = width % 4 == 0;
  if (vectors) {
    bias_kernel<float, true><<<grid, width / 4, 0, stream>>>(
        static_cast<float*>(x.data_ptr()), static_cast<float*>(bias.data_ptr()),
        static_cast<float*>(out.data_ptr()), width);
  } else {
    bias_kernel<float, false><<<grid, 128, 0, stream>>>(static_cast<float*>(x.data_ptr()),
                                                        static_cast<float*>(bias.data_ptr()),
                                                        static_cast<float*>(out.data_ptr()), width);
  }
}

void scale_bias(tvm::ffi::TensorView bias, double by) {
  if (bias.size(0) > 1024) {
    throw tvm::ffi::Error("ValueError", "bias is too wide", "");
  }
  static_assert(sizeof(float) == 4);
  scale_kernel<<<1, bias.size(0)>>>(static_cast<float*>(bias.data_ptr()), static_cast<float>(by));
}
