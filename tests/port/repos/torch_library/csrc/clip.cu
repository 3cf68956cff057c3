#include <ATen/cuda/CUDAContext.h>
#include <torch/library.h>

#include <cstdlib>

#include "clip.cuh"

namespace softclip {

static int launches_so_far = 0;

at::Tensor clip_cuda(const at::Tensor& x, double limit) {
  TORCH_CHECK(x.is_cuda(), "x must be on a GPU");
  TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
  TORCH_CHECK_EQ(reinterpret_cast<uintptr_t>(x.data_ptr()) % 16, 0);
  at::Tensor out = at::empty_like(x);
  const int block = std::getenv("SOFTCLIP_BLOCK") ? 512 : 256;
  ++launches_so_far;
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "clip", [&] {
    launch_clip<scalar_t>(x.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), x.numel(), limit, block,
                          at::cuda::getCurrentCUDAStream());
  });
  return out;
}

void clip_in_place_cuda(at::Tensor& x, double limit) { x.copy_(clip_cuda(x, limit)); }

at::Tensor clip_cpu(const at::Tensor& x, double limit) { return limit * at::tanh(x / limit); }

}  // namespace softclip

TORCH_LIBRARY(softclip, m) {
  m.def("clip(Tensor x, float limit) -> Tensor");
  m.def("clip_(Tensor(a!) x, float limit) -> ()");
  m.impl("clip_", torch::kCUDA, &softclip::clip_in_place_cuda);
}

TORCH_LIBRARY_IMPL(softclip, CUDA, m) { m.impl("clip", &softclip::clip_cuda); }

TORCH_LIBRARY_IMPL(softclip, CPU, m) { m.impl("clip", TORCH_FN(softclip::clip_cpu)); }
