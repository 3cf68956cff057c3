"""Peers of kda_prefill and gdn_prefill: the chunked form as a plain PyTorch program, and libraries.

The ops differ in the gate, a number for each channel or for each head.
"""

import functools
from collections.abc import Callable
from typing import Any

import torch
from task import Function, Peer, Skipped, Task
from torch.nn import functional

CHUNK = 64
Tensors = tuple[Any, ...]


def log_decay(task: Task, g: Any, a_log: Any, dt_bias: Any) -> Any:
    """The log of the decay from the gate's form; `a_log` and `dt_bias` may be None."""
    gate = task.keys["gate"]
    if gate == "log":
        return g
    if gate == "factor":
        return g.log()
    x = g if dt_bias is None else g + dt_bias
    rate = 1 if a_log is None else a_log.exp()
    if a_log is not None and g.ndim == 4:
        rate = rate[:, None]
    if gate == "softplus":
        return -rate * functional.softplus(x)
    return -5 * torch.sigmoid(rate * x)


def l2norm(x: Any) -> Any:
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6)


def prepared(task: Task, arguments: Tensors, dtype: Any) -> Tensors:
    """q (scaled), k, v, log decay and beta as [batch, value heads, tokens, ...] of `dtype`."""
    q, k, v, g, beta, a_log, dt_bias = (None if one is None else one.to(dtype) for one in arguments)
    if task.flag("l2norm"):
        q, k = l2norm(q), l2norm(k)
    g = log_decay(task, g, a_log, dt_bias)
    if task.keys["beta_form"] == "logit":
        beta = beta.sigmoid()
    if g.ndim == 3:  # of heads: the same for all channels
        g = g[..., None].expand(*g.shape, k.shape[-1])
    if task.flag("negative_eigenvalues"):
        beta = 2 * beta
    group = v.shape[2] // q.shape[2]
    q, k = (x.repeat_interleave(group, 2) for x in (q, k))
    return tuple(x.transpose(1, 2) for x in (q * q.shape[-1] ** -0.5, k, v, g, beta))


def recurrent(task: Task) -> Function:
    """Token by token."""

    def run(*arguments: Any) -> Any:
        q, k, v, g, beta = prepared(task, arguments, arguments[0].dtype)
        state = q.new_zeros(*q.shape[:2], q.shape[-1], v.shape[-1])
        o = torch.zeros_like(v)
        for t in range(q.shape[2]):
            state = state * g[:, :, t, :, None].exp()
            held = (k[:, :, t, None] @ state)[:, :, 0]
            u = beta[:, :, t, None] * (v[:, :, t] - held)
            state = state + k[:, :, t, :, None] * u[:, :, None]
            o[:, :, t] = (q[:, :, t, None] @ state)[:, :, 0]
        return o.transpose(1, 2)

    return run


def inverse(a: Any) -> Any:
    """(I + a)^-1 of strictly lower triangles [..., n, n]."""
    eye = torch.eye(a.shape[-1], dtype=a.dtype, device=a.device)
    return torch.linalg.solve_triangular(eye + a, eye.expand_as(a), upper=False, unitriangular=True)


def within_chunks(q: Any, k: Any, g: Any) -> Tensors:
    """Products of tokens of a chunk, [..., i, j]: k_i and q_i with k_j decayed from j to i."""
    n = q.shape[-2]
    kk, qk = (q.new_zeros(*q.shape[:-1], n) for _ in range(2))
    for j in range(n):
        decayed = k[..., j, None, :] * (g[..., j:, :] - g[..., j, None, :]).exp()
        kk[..., j:, j] = (k[..., j:, :] * decayed).sum(-1)
        qk[..., j:, j] = (q[..., j:, :] * decayed).sum(-1)
    return kk.tril(-1), qk.tril()


def chunked(task: Task) -> Function:
    """In f32, chunk by chunk; the tokens of a chunk at once."""

    def run(*arguments: Any) -> Any:
        dtype = arguments[0].dtype
        q, k, v, g, beta = prepared(task, arguments, torch.float32)
        tokens = q.shape[2]
        pad = -tokens % CHUNK
        q, k, v, g = (functional.pad(x, (0, 0, 0, pad)) for x in (q, k, v, g))
        beta = functional.pad(beta, (0, pad))
        q, k, v, g, beta = (x.unflatten(2, (-1, CHUNK)) for x in (q, k, v, g, beta))
        g = g.cumsum(-2)
        kk, qk = within_chunks(q, k, g)
        solved = inverse(kk * beta[..., None]) * beta[..., None, :]
        u, w = solved @ v, solved @ (k * g.exp())
        last = g[..., -1:, :]
        k_to_end, q_from_begin = k * (last - g).exp(), q * g.exp()
        state = q.new_zeros(*q.shape[:2], q.shape[-1], v.shape[-1])
        o = torch.zeros_like(v)
        for i in range(q.shape[2]):
            new = u[:, :, i] - w[:, :, i] @ state
            o[:, :, i] = q_from_begin[:, :, i] @ state + qk[:, :, i] @ new
            decay = last[:, :, i].transpose(-1, -2).exp()
            state = state * decay + k_to_end[:, :, i].transpose(-1, -2) @ new
        return o.flatten(2, 3)[:, :, :tokens].transpose(1, 2).to(dtype)

    return run


def inputs(task: Task, channels: bool) -> list[Tensors]:
    """q, k, v, g (by channels or by heads), beta, a_log and dt_bias of each set."""
    generator = torch.Generator(device=task.device).manual_seed(task.seed)

    def draw(*shape: int) -> Any:
        return torch.randn(shape, generator=generator, device=task.device)

    lead = (task.integer("batch"), task.integer("tokens"))
    heads, value_heads = task.integer("heads"), task.integer("value_heads")
    k_dim, v_dim = task.integer("key_dim"), task.integer("value_dim")
    raw = task.keys["gate"] in ("softplus", "lower_bound")
    sets = []
    for _ in range(task.sets):
        q, k = (draw(*lead, heads, k_dim).to(task.dtype("dtype")) for _ in range(2))
        if not task.flag("l2norm"):
            k = functional.normalize(k, dim=-1)
        v = draw(*lead, value_heads, v_dim).to(task.dtype("dtype"))
        gate = (value_heads, k_dim) if channels else (value_heads,)
        g = draw(*lead, *gate)
        if not raw:
            g = -g.abs() if task.keys["gate"] == "log" else (-g.abs()).exp()
        beta = draw(*lead, value_heads)
        if task.keys["beta_form"] != "logit":
            beta = beta.sigmoid()
        a_log = draw(value_heads) if task.flag("a_log") else None
        dt_bias = draw(*gate) if task.flag("dt_bias") else None
        rest = (g.to(task.dtype("gate_dtype")), beta.to(task.dtype("beta_dtype")), a_log, dt_bias)
        sets.append((q, k, v, *rest))
    return sets


def load(task: Task) -> tuple[Function, str]:
    if task.integer("seqs") > 0 or task.keys["initial_state"] != "none":
        raise Skipped("written for whole rows without an initial state")
    return chunked(task), torch.__version__


# Gives a library's function for the task, and its version; it will be called with the sets.
Loader = Callable[[Task, list[Tensors]], tuple[Function, str]]


def peers_of(task: Task, channels: bool, libraries: dict[str, Loader]) -> list[Peer]:
    sets, expected = inputs(task, channels), recurrent(task)
    loaders = {name: functools.partial(one, task, sets) for name, one in libraries.items()}
    loaders = {"torch, chunked": lambda: load(task)} | loaders
    return [Peer(name, one, sets, expected) for name, one in loaders.items()]
