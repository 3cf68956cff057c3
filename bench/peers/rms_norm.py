"""Peers of rms_norm: PyTorch's own operator, torch.compile of the formula, Liger."""

import importlib.metadata
from typing import Any

import torch
from task import Function, Peer, Skipped, Task, needs_cuda
from torch.nn import functional

EPS = 1e-6


def formula(task: Task) -> Function:
    """The module as models write it, with the problem's rounding points."""
    offset = task.integer("offset")
    rounding = task.keys["rounding"]
    with_rstd = task.flag("rstd")

    def scale(h: Any, r: Any, weight: Any, dtype: Any) -> Any:
        if rounding == "none":
            y = h.to(dtype) * r.to(dtype)
            return y if weight is None else y * (weight + offset).to(dtype)
        y = h * r
        if rounding == "llama":
            y = y.to(dtype)
        return (y if weight is None else y * (weight.to(h.dtype) + offset)).to(dtype)

    def rms_norm(x: Any, weight: Any, residual: Any) -> Any:
        wide = torch.float64 if x.dtype == torch.float64 else torch.float32
        h = x.to(wide)
        if residual is not None:
            h = h + residual.to(wide)
        r = torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + EPS)
        y = scale(h, r, weight, x.dtype)
        extra = () if residual is None else (h.to(residual.dtype),)
        if with_rstd:
            extra += (r.squeeze(-1),)
        return (y, *extra) if extra else y

    return rms_norm


def load_torch(task: Task) -> tuple[Function, str]:
    offset = task.integer("offset")
    if task.flag("rstd"):
        raise Skipped("F.rms_norm gives no rstd")
    if task.keys["weight"] not in ("none", task.keys["dtype"]):
        raise Skipped("F.rms_norm takes a weight of x's dtype only")
    shape = (task.integer("cols"),)

    def rms_norm(x: Any, weight: Any, residual: Any) -> Any:
        scale = weight if weight is None or offset == 0 else weight + offset
        if residual is None:
            return functional.rms_norm(x, shape, scale, EPS)
        h = (x + residual).to(residual.dtype)
        return functional.rms_norm(h.to(x.dtype), shape, scale, EPS), h

    return rms_norm, torch.__version__


def load_compiled(task: Task) -> tuple[Function, str]:
    return torch.compile(formula(task), fullgraph=True, dynamic=False), torch.__version__


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
    weight_dtype = task.dtype("weight")
    residual_dtype = task.dtype("residual")
    weight = None
    if weight_dtype is not None:
        noise = torch.randn(cols, generator=generator, device=task.device)
        weight = (0.1 * noise + 1 - task.integer("offset")).to(weight_dtype)
    sets = []
    for _ in range(task.sets):
        x = task.rows_of(cols, dtype, generator)
        residual = None
        if residual_dtype is not None:
            residual = task.rows_of(cols, residual_dtype, generator)
        sets.append((x, None if weight is None else weight.clone(), residual))
    return sets


def peers(task: Task) -> list[Peer]:
    # The weight has x's dtype unless the problem says otherwise.
    if "weight" not in task.given:
        task.keys["weight"] = task.keys["dtype"]
    sets = inputs(task)
    expected = formula(task)
    return [
        Peer("torch", lambda: load_torch(task), sets, expected),
        Peer("torch.compile", lambda: load_compiled(task), sets, expected),
        Peer("liger", lambda: load_liger(task), sets, expected),
    ]
