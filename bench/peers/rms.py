"""What the peers of norms by the root of the mean square share."""

from typing import Any

import torch
from task import Function, Skipped, Task

EPS = 1e-6


def complete(task: Task) -> None:
    """Weights have x's dtype unless the problem says otherwise."""
    if "weight" not in task.given:
        task.keys["weight"] = task.keys["dtype"]


def widened(x: Any) -> Any:
    return x.to(torch.float64 if x.dtype == torch.float64 else torch.float32)


def reciprocal(h: Any) -> Any:
    """1 / sqrt(mean + eps) of each row of a widened tensor."""
    return torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + EPS)


def scaling(task: Task) -> Function:
    """(h, r, weight, dtype) -> h * r * (weight + offset) as models write it, with the problem's
    rounding points. The task is read here, not where torch.compile would guard it."""
    offset = task.integer("offset")
    rounding = task.keys["rounding"]

    def scaled(h: Any, r: Any, weight: Any, dtype: Any) -> Any:
        if rounding == "none":
            y = h.to(dtype) * r.to(dtype)
            return y if weight is None else y * (weight + offset).to(dtype)
        y = h * r
        if rounding == "llama":
            y = y.to(dtype)
        return (y if weight is None else y * (weight.to(h.dtype) + offset)).to(dtype)

    return scaled


def needs_weight_of_dtype(task: Task) -> None:
    if task.keys["weight"] not in ("none", task.keys["dtype"]):
        raise Skipped("F.rms_norm takes a weight of x's dtype only")


def draw_weight(task: Task, generator: Any) -> Any:
    """[cols], near to what leaves the product alone; None for a problem without weights."""
    dtype = task.dtype("weight")
    if dtype is None:
        return None
    noise = torch.randn(task.integer("cols"), generator=generator, device=task.device)
    return (0.1 * noise + 1 - task.integer("offset")).to(dtype)
