"""What the tests of the linear attention ops share: sizes, random arguments, the definition."""

import numpy as np

BATCH, TOKENS, HEADS, VALUE_HEADS, K, V = 2, 37, 2, 4, 16, 8


def normal(*shape, seed=5):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def unit(x):
    return x / np.sqrt(np.sum(x * x, -1, keepdims=True) + np.float32(1e-6))


def qkv(batch=BATCH, tokens=TOKENS):
    q = normal(batch, tokens, HEADS, K, seed=1)
    k = unit(normal(batch, tokens, HEADS, K, seed=2))
    return q, k, normal(batch, tokens, VALUE_HEADS, V, seed=3)


def uniform(*shape, seed=7):
    return np.random.default_rng(seed).uniform(0, 1, shape).astype(np.float32)


def definition(q, k, v, decay, beta, state=None, scale=None):
    """Token by token in f64. `decay` broadcasts to [batch, tokens, value heads, K]; without `beta`
    there is no delta rule. Gives o and the last state [batch, value heads, K, V]."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    group = v.shape[2] // q.shape[2]
    q, k = np.repeat(q, group, 2), np.repeat(k, group, 2)
    decay = np.broadcast_to(decay, k.shape).astype(np.float64)
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    if state is None:
        state = np.zeros((v.shape[0], v.shape[2], k.shape[-1], v.shape[-1]))
    state = state.astype(np.float64)
    o = np.zeros(v.shape)
    for t in range(v.shape[1]):
        state = decay[:, t, :, :, None] * state
        u = v[:, t]
        if beta is not None:
            held = np.einsum("bhk,bhkv->bhv", k[:, t], state)
            u = beta[:, t, :, None].astype(np.float64) * (u - held)
        state = state + k[:, t, :, :, None] * u[:, :, None, :]
        o[:, t] = scale * np.einsum("bhk,bhkv->bhv", q[:, t], state)
    return o, state
