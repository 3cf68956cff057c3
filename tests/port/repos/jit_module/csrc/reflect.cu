#include <tvm/ffi/container/tensor.h>

__global__ void reflect_kernel(float* out) { out[threadIdx.x] = 0; }
__global__ void reflect_far_kernel(float* out) { out[threadIdx.x] = 1; }

void run(tvm::ffi::TensorView x, tvm::ffi::TensorView out) {
  reflect_kernel<<<2, 64>>>(static_cast<float*>(out.data_ptr()));
}

void run_far(tvm::ffi::TensorView x, tvm::ffi::TensorView out) {
  reflect_far_kernel<<<4, 64>>>(static_cast<float*>(out.data_ptr()));
}
