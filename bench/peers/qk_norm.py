"""Peers of qk_norm: PyTorch's rms_norm called for q and for k, torch.compile of the formula."""

from typing import Any

import torch
from task import Function, Peer, Skipped, Task
from torch.nn import functional

EPS = 1e-6


def formula(task: Task) -> Function:
    """The module as models write it, with the problem's rounding points."""
    offset = task.integer("offset")
    rounding = task.keys["rounding"]

    def norm(x: Any, weight: Any) -> Any:
        h = x.to(torch.float64 if x.dtype == torch.float64 else torch.float32)
        r = torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + EPS)
        if rounding == "none":
            y = x * r.to(x.dtype)
            return y if weight is None else y * (weight + offset).to(x.dtype)
        y = h * r
        if rounding == "llama":
            y = y.to(x.dtype)
        return (y if weight is None else y * (weight.to(h.dtype) + offset)).to(x.dtype)

    return lambda q, k, q_weight, k_weight: (norm(q, q_weight), norm(k, k_weight))


def load_torch(task: Task) -> tuple[Function, str]:
    offset = task.integer("offset")
    if task.keys["weight"] not in ("none", task.keys["dtype"]):
        raise Skipped("F.rms_norm takes a weight of x's dtype only")
    shape = (task.integer("cols"),)

    def qk_norm(q: Any, k: Any, q_weight: Any, k_weight: Any) -> Any:
        if offset != 0:
            q_weight, k_weight = q_weight + offset, k_weight + offset
        rms_norm = functional.rms_norm
        return rms_norm(q, shape, q_weight, EPS), rms_norm(k, shape, k_weight, EPS)

    return qk_norm, torch.__version__


def load_compiled(task: Task) -> tuple[Function, str]:
    return torch.compile(formula(task), fullgraph=True, dynamic=False), torch.__version__


def inputs(task: Task) -> list[tuple[Any, ...]]:
    """q and k of each set are slices of one tensor where tokens have gaps, as of a projection."""
    generator = torch.Generator(device=task.device).manual_seed(task.seed)
    cols, q_heads, k_heads = (task.integer(key) for key in ("cols", "q_heads", "k_heads"))
    dtype, weight_dtype = task.dtype("dtype"), task.dtype("weight")
    strided = task.keys.get("layout") == "row_strided"

    def draw(*shape: int) -> Any:
        return torch.randn(*shape, generator=generator, device=task.device)

    def weight() -> Any:
        if weight_dtype is None:
            return None
        return (0.1 * draw(cols) + 1 - task.integer("offset")).to(weight_dtype)

    sets = []
    for _ in range(task.sets):
        heads = q_heads + (2 if strided else 1) * k_heads
        qkv = draw(task.integer("rows"), heads, cols).to(dtype)
        q, k = qkv[:, :q_heads], qkv[:, q_heads : q_heads + k_heads]
        if not strided:
            q, k = q.contiguous(), k.contiguous()
        sets.append((q, k, weight(), weight()))
    return sets


def peers(task: Task) -> list[Peer]:
    # The weights have q's dtype unless the problem says otherwise.
    if "weight" not in task.given:
        task.keys["weight"] = task.keys["dtype"]
    sets = inputs(task)
    expected = formula(task)
    return [
        Peer("torch", lambda: load_torch(task), sets, expected),
        Peer("torch.compile", lambda: load_compiled(task), sets, expected),
    ]
