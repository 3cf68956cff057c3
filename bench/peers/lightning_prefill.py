"""Peers of lightning_prefill: fla's kernels."""

from typing import Any

import torch
import with_fla
from task import Function, Peer, Task


def recurrent(task: Task) -> Function:
    """Token by token."""

    def run(q: Any, k: Any, v: Any, decay: Any) -> Any:
        if task.flag("l2norm"):
            q, k = (x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6) for x in (q, k))
        group = v.shape[2] // q.shape[2]
        q, k = (x.repeat_interleave(group, 2) for x in (q * q.shape[-1] ** -0.5, k))
        factor = (decay.exp() if task.keys["gate"] == "log" else decay)[:, None, None]
        state = q.new_zeros(q.shape[0], *v.shape[2:3], q.shape[-1], v.shape[-1])
        o = torch.zeros_like(v)
        for t in range(q.shape[1]):
            state = state * factor + k[:, t, :, :, None] * v[:, t, :, None]
            o[:, t] = (q[:, t, :, None] @ state)[:, :, 0]
        return o

    return run


def inputs(task: Task) -> list[tuple[Any, ...]]:
    """q, k, v and the decay of each set; slopes as in attention with linear biases."""
    generator = torch.Generator(device=task.device).manual_seed(task.seed)
    lead = (task.integer("batch"), task.integer("tokens"))
    heads, value_heads = task.integer("heads"), task.integer("value_heads")

    def draw(count: int, size: str) -> Any:
        shape = (*lead, count, task.integer(size))
        made = torch.randn(shape, generator=generator, device=task.device)
        return made.to(task.dtype("dtype"))

    steps = torch.arange(1, value_heads + 1, device=task.device, dtype=torch.float32)
    decay = -(2.0 ** (-8.0 * steps / value_heads))
    if task.keys["gate"] == "factor":
        decay = decay.exp()
    return [
        (draw(heads, "key_dim"), draw(heads, "key_dim"), draw(value_heads, "value_dim"), decay)
        for _ in range(task.sets)
    ]


def peers(task: Task) -> list[Peer]:
    return [Peer("fla", lambda: with_fla.lightning(task), inputs(task), recurrent(task))]
