"""Rows of a matrix times one factor each."""

import torch

from ._C import ops


def scale_rows(x: torch.Tensor, factors: torch.Tensor, negate: bool = False) -> torch.Tensor:
    if x.dim() != 2:
        raise ValueError("x must be a matrix")
    assert factors.shape[0] == x.shape[0], "one factor per row"
    out = torch.empty_like(x)
    _run(x, factors, out, negate)
    return out


def _run(x: torch.Tensor, factors: torch.Tensor, out: torch.Tensor, negate: bool) -> None:
    ops.scale_rows(x, factors, out, negate)
