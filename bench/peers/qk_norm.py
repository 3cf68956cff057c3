"""Peers of qk_norm: PyTorch's rms_norm called for q and for k, torch.compile of the formula."""

from typing import Any

import torch
from rms import EPS, complete, draw_weight, needs_weight_of_dtype, reciprocal, scaling, widened
from task import Function, Peer, Task, compiled
from torch.nn import functional


def formula(task: Task) -> Function:
    """The module as models write it, with the problem's rounding points."""
    scaled = scaling(task)

    def norm(x: Any, weight: Any) -> Any:
        h = widened(x)
        return scaled(h, reciprocal(h), weight, x.dtype)

    return lambda q, k, q_weight, k_weight: (norm(q, q_weight), norm(k, k_weight))


def load_torch(task: Task) -> tuple[Function, str]:
    offset = task.integer("offset")
    needs_weight_of_dtype(task)
    shape = (task.integer("cols"),)

    def qk_norm(q: Any, k: Any, q_weight: Any, k_weight: Any) -> Any:
        if offset != 0:
            q_weight, k_weight = q_weight + offset, k_weight + offset
        rms_norm = functional.rms_norm
        return rms_norm(q, shape, q_weight, EPS), rms_norm(k, shape, k_weight, EPS)

    return qk_norm, torch.__version__


def inputs(task: Task) -> list[tuple[Any, ...]]:
    """q and k of each set are slices of one tensor where tokens have gaps, as of a projection."""
    generator = torch.Generator(device=task.device).manual_seed(task.seed)
    cols, q_heads, k_heads = (task.integer(key) for key in ("cols", "q_heads", "k_heads"))
    strided = task.keys.get("layout") == "row_strided"
    sets = []
    for _ in range(task.sets):
        shape = (task.integer("rows"), q_heads + (2 if strided else 1) * k_heads, cols)
        qkv = torch.randn(shape, generator=generator, device=task.device).to(task.dtype("dtype"))
        q, k = qkv[:, :q_heads], qkv[:, q_heads : q_heads + k_heads]
        if not strided:
            q, k = q.contiguous(), k.contiguous()
        sets.append((q, k, draw_weight(task, generator), draw_weight(task, generator)))
    return sets


def peers(task: Task) -> list[Peer]:
    complete(task)
    sets = inputs(task)
    expected = formula(task)
    return [
        Peer("torch", lambda: load_torch(task), sets, expected),
        Peer("torch.compile", lambda: compiled(formula(task)), sets, expected),
    ]
