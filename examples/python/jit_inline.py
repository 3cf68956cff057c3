"""A kernel in a text, as load_inline takes it; without a GPU it is compiled only."""

import einkorn
import torch

SOURCE = r"""
template <class T, int kFactor>
__global__ void scale(T* dst, const T* src, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dst[i] = kFactor * src[i];
}
"""
gpu = torch.cuda.is_available()
scale = einkorn.jit.load(
    "scale",
    cuda_source=SOURCE,
    entry="scale",
    template=(torch.float32, 3),
    arch=None if gpu else "sm_90a",  # without a GPU somebody has to say for which one
)
print(scale, scale.entry.registers, "registers")
if gpu:
    src = torch.arange(1000.0, device="cuda")
    dst = torch.empty_like(src)
    scale(dst, src, src.numel(), grid=(src.numel() + 255) // 256, block=256)
    print(f"src[999] = {src[999].item()}, dst[999] = {dst[999].item()}")
