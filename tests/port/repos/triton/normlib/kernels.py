"""x over the root of its mean square, times a weight."""

import torch
import triton
import triton.language as tl


@triton.jit
def _mean_square(values, width):
    return tl.sum(values * values, axis=0) / width


@triton.jit
def _forward_kernel(x, weight, out, width, eps, block: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, block)
    values = tl.load(x + row * width + at, mask=at < width, other=0.0).to(tl.float32)
    scale = tl.rsqrt(_mean_square(values, width) + eps)
    weights = tl.load(weight + at, mask=at < width, other=0.0)
    tl.store(out + row * width + at, values * scale * weights, mask=at < width)


@triton.autotune(configs=[triton.Config({"block": 128}, num_warps=4)], key=["width"])
@triton.jit
def _backward_kernel(dy, weight, dx, width, block: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, block)
    values = tl.load(dy + row * width + at, mask=at < width, other=0.0)
    tl.store(dx + row * width + at, values * tl.load(weight + at, mask=at < width))


def block_of(width: int) -> tuple[int, int]:
    block = triton.next_power_of_2(width)
    if block > 65536:
        raise RuntimeError("rows are too wide")
    return block, 4 if block < 2048 else 8


def rms_scale_forward(x, weight, eps):
    width = x.shape[-1]
    assert weight.shape == (width,), "one weight per column"
    rows = x.numel() // width
    out = torch.empty_like(x)
    block, warps = block_of(width)
    _forward_kernel[(rows,)](x, weight, out, width, eps, block=block, num_warps=warps)
    return out


def rms_scale_backward(dy, weight):
    dx = torch.empty_like(dy)
    grid = lambda meta: (dy.shape[0],)  # noqa: E731
    _backward_kernel[grid](dy, weight, dx, dy.shape[-1])
    return dx


class RmsScaleFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, eps):
        ctx.save_for_backward(weight)
        return rms_scale_forward(x, weight, eps)

    @staticmethod
    def backward(ctx, dy):
        (weight,) = ctx.saved_tensors
        return rms_scale_backward(dy, weight), None, None
