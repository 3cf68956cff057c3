"""Peers of silu_mul: PyTorch eager, torch.compile of the formula, Liger."""

import importlib.metadata
from typing import Any

import torch
from task import Function, Peer, Skipped, Task, compiled, needs_cuda
from torch.nn import functional

# The clamped form's parameters, gpt-oss's; they change no byte and no instruction count.
LIMIT, ALPHA, UP_OFFSET = 7.0, 1.702, 1.0


def split(task: Task, packed: Any) -> tuple[Any, Any]:
    if task.keys["packing"] == "halves":
        return packed.chunk(2, dim=-1)
    return packed[..., 0::2], packed[..., 1::2]


def formula(task: Task, eager: bool) -> Function:
    """`eager`: on the tensors' own dtype as models write it; otherwise in f32, rounded once."""
    clamp = task.flag("clamp")
    round_silu = task.keys["rounding"] == "silu"

    def activate(gate: Any, up: Any) -> Any:
        if clamp:
            gate = gate.clamp(max=LIMIT)
            up = up.clamp(-LIMIT, LIMIT) + UP_OFFSET
            return gate * torch.sigmoid(ALPHA * gate), up
        return functional.silu(gate), up

    def silu_mul(*tensors: Any) -> Any:
        gate, up = tensors if len(tensors) == 2 else split(task, tensors[0])
        dtype = gate.dtype
        if eager or dtype == torch.float64:
            left, right = activate(gate, up)
            return left * right
        left, right = activate(gate.float(), up.float())
        if round_silu:
            left = left.to(dtype).float()
        return (left * right).to(dtype)

    return silu_mul


def load_torch(task: Task) -> tuple[Function, str]:
    return formula(task, eager=True), torch.__version__


def load_liger(task: Task) -> tuple[Function, str]:
    needs_cuda(task)
    from liger_kernel.transformers import functional as liger

    if task.keys["packing"] != "split":
        raise Skipped("takes gate and up as two tensors only")
    if task.flag("clamp"):
        raise Skipped("has no clamped form")
    if task.keys["layout"] != "contiguous":
        raise Skipped("copies tensors that are not contiguous")
    return liger.liger_swiglu, importlib.metadata.version("liger-kernel")


def peers(task: Task) -> list[Peer]:
    generator = torch.Generator(device=task.device).manual_seed(task.seed)
    cols = task.integer("cols")
    dtype = task.dtype("dtype")
    sets: list[tuple[Any, ...]] = []
    for _ in range(task.sets):
        if task.keys["packing"] == "split":
            pair = (task.rows_of(cols, dtype, generator), task.rows_of(cols, dtype, generator))
            sets.append(pair)
        else:
            sets.append((task.rows_of(2 * cols, dtype, generator),))
    expected = formula(task, eager=True)
    return [
        Peer("torch", lambda: load_torch(task), sets, expected),
        Peer("torch.compile", lambda: compiled(formula(task, eager=False)), sets, expected),
        Peer("liger", lambda: load_liger(task), sets, expected),
    ]
