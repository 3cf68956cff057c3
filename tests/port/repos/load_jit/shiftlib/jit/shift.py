"""x plus a number."""

from __future__ import annotations

import torch

from shiftlib.jit.utils import cache_once, load_jit, make_cpp_args


@cache_once
def _jit_shift_module(by: int):
    args = make_cpp_args(by)
    return load_jit(
        "shift",
        args,
        cuda_files=["elementwise/shift.cuh"],
        cuda_wrappers=[("shift", f"shift<{args}>")],
    )


@cache_once
def _jit_shift_by_module(dtype: torch.dtype):
    args = make_cpp_args(dtype, True)
    return load_jit(
        "shift_by",
        args,
        cuda_files=["elementwise/shift.cuh"],
        cuda_wrappers=[("run", f"ShiftBy<{args}>::run"), ("check", f"ShiftBy<{args}>::check")],
    )


def shift(x: torch.Tensor, by: int) -> torch.Tensor:
    out = torch.empty_like(x)
    module = _jit_shift_module(by)
    module.shift(out, x)
    return out


def shift_by(x: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
    if by.numel() != 1:
        raise ValueError("by must have one element")
    out = torch.empty_like(x)
    _jit_shift_by_module(x.dtype).run(out, x, by)
    return out
