"""Polynomials of the elements of a tensor."""

import functools
import pathlib

import torch
from torch.utils.cpp_extension import load, load_inline

_DECLARATION = "torch::Tensor horner_cuda(torch::Tensor x, torch::Tensor coefficients);"

_CUDA = r"""
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

template <int kBlock>
__global__ void horner_kernel(const float* x, const float* c, float* out, int count, int degree) {
  const int at = blockIdx.x * kBlock + threadIdx.x;
  if (at < count) {
    float sum = 0;
    for (int i = degree; i >= 0; --i) {
      sum = sum * x[at] + c[i];
    }
    out[at] = sum;
  }
}

torch::Tensor horner_cuda(torch::Tensor x, torch::Tensor coefficients) {
  TORCH_CHECK(x.scalar_type() == torch::kFloat, "x must be float32");
  TORCH_CHECK(coefficients.is_cuda(), "coefficients must be on a GPU");
  static_assert(sizeof(float) == 4, "");
  auto out = torch::empty_like(x);
  const int count = x.numel();
  horner_kernel<256><<<(count + 255) / 256, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), coefficients.data_ptr<float>(), out.data_ptr<float>(), count,
      coefficients.numel() - 1);
  return out;
}
"""


@functools.cache
def _inline():
    return load_inline(
        name="horner_inline",
        cpp_sources=[_DECLARATION],
        cuda_sources=_CUDA,
        functions=["horner_cuda"],
    )


@functools.cache
def _extension():
    here = pathlib.Path(__file__).parent
    return load(name="powers_extension", sources=[str(here / "csrc" / "powers.cu")])


def horner(x: torch.Tensor, coefficients: torch.Tensor) -> torch.Tensor:
    if coefficients.ndim != 1:
        raise ValueError("coefficients must be a vector")
    return _inline().horner_cuda(x, coefficients)


def powers(x: torch.Tensor, degree: int) -> torch.Tensor:
    assert degree >= 1
    module = _extension()
    return module.powers(x, degree)
