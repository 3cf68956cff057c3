"""Peers of rms_norm: PyTorch's own operator, torch.compile of the formula, Liger."""

import importlib.metadata
from typing import Any

import torch
from rms import EPS, complete, draw_weight, needs_weight_of_dtype, reciprocal, scaling, widened
from task import Function, Peer, Skipped, Task, compiled, needs_cuda
from torch.nn import functional


def formula(task: Task) -> Function:
    """The module as models write it, with the problem's rounding points."""
    scaled = scaling(task)
    with_rstd = task.flag("rstd")

    def rms_norm(x: Any, weight: Any, residual: Any) -> Any:
        h = widened(x)
        if residual is not None:
            h = h + residual.to(h.dtype)
        r = reciprocal(h)
        y = scaled(h, r, weight, x.dtype)
        extra = () if residual is None else (h.to(residual.dtype),)
        if with_rstd:
            extra += (r.squeeze(-1),)
        return (y, *extra) if extra else y

    return rms_norm


def load_torch(task: Task) -> tuple[Function, str]:
    offset = task.integer("offset")
    if task.flag("rstd"):
        raise Skipped("F.rms_norm gives no rstd")
    needs_weight_of_dtype(task)
    shape = (task.integer("cols"),)

    def rms_norm(x: Any, weight: Any, residual: Any) -> Any:
        scale = weight if weight is None or offset == 0 else weight + offset
        if residual is None:
            return functional.rms_norm(x, shape, scale, EPS)
        h = (x + residual).to(residual.dtype)
        return functional.rms_norm(h.to(x.dtype), shape, scale, EPS), h

    return rms_norm, torch.__version__


def load_liger(task: Task) -> tuple[Function, str]:
    needs_cuda(task)
    from liger_kernel.transformers import functional as liger

    if task.keys["residual"] not in ("none", task.keys["dtype"]):
        raise Skipped("takes a residual of x's dtype only")
    offset = float(task.integer("offset"))
    mode = task.keys["rounding"]

    def rms_norm(x: Any, weight: Any, residual: Any) -> Any:
        if residual is None:
            return liger.liger_rms_norm(x, weight, EPS, offset, mode, False)
        return liger.liger_fused_add_rms_norm(x, residual, weight, EPS, offset, mode, False)

    return rms_norm, importlib.metadata.version("liger-kernel")


def inputs(task: Task) -> list[tuple[Any, ...]]:
    generator = torch.Generator(device=task.device).manual_seed(task.seed)
    cols = task.integer("cols")
    dtype = task.dtype("dtype")
    residual_dtype = task.dtype("residual")
    weight = draw_weight(task, generator)
    sets = []
    for _ in range(task.sets):
        x = task.rows_of(cols, dtype, generator)
        residual = None
        if residual_dtype is not None:
            residual = task.rows_of(cols, residual_dtype, generator)
        sets.append((x, None if weight is None else weight.clone(), residual))
    return sets


def peers(task: Task) -> list[Peer]:
    complete(task)
    sets = inputs(task)
    expected = formula(task)
    return [
        Peer("torch", lambda: load_torch(task), sets, expected),
        Peer("torch.compile", lambda: compiled(formula(task)), sets, expected),
        Peer("liger", lambda: load_liger(task), sets, expected),
    ]
