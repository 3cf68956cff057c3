#include <ATen/cuda/CUDAContext.h>
#include <cuda_bf16.h>
#include <torch/extension.h>

template <int kBlock>
__global__ __launch_bounds__(kBlock) void gate_kernel(const __nv_bfloat162* x,
                                                      const __nv_bfloat162* gate,
                                                      __nv_bfloat162* out, int pairs) {
  static_assert(kBlock % 32 == 0);
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < pairs; i += gridDim.x * kBlock) {
    const float2 value = __bfloat1622float2(x[i]);
    const float2 by = __bfloat1622float2(gate[i]);
    out[i] =
        __floats2bfloat162_rn(value.x / (1.0f + __expf(-by.x)), value.y / (1.0f + __expf(-by.y)));
  }
}

#define CHECK_BF16(x) TORCH_CHECK((x).scalar_type() == torch::kBFloat16, #x " must be bfloat16")

void gate_out(torch::Tensor x, torch::Tensor gate, torch::Tensor out) {
  CHECK_BF16(x);
  CHECK_BF16(gate);
  TORCH_CHECK(x.numel() % 2 == 0, "pairs only");
  constexpr int kBlock = 128;
  const int pairs = static_cast<int>(x.numel() / 2);
  const int blocks = at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
  gate_kernel<kBlock><<<blocks, kBlock, 0, at::cuda::getCurrentCUDAStream()>>>(
      reinterpret_cast<const __nv_bfloat162*>(x.data_ptr()),
      reinterpret_cast<const __nv_bfloat162*>(gate.data_ptr()),
      reinterpret_cast<__nv_bfloat162*>(out.data_ptr()), pairs);
}

PYBIND11_MODULE(gatelib_C, m) { m.def("gate_out", &gate_out, "x * sigmoid(gate)"); }
