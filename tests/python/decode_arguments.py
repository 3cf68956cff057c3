"""Calls of the decode ops of linear attention, and what they are to give, in float64."""

import numpy as np

OPS = ("kda_decode", "gdn_decode", "lightning_decode")

_random = np.random.default_rng(23)


def normal(*shape, scale=1.0):
    return (scale * _random.standard_normal(shape)).astype(np.float32)


def arguments(op, seqs=3, tokens=1, heads=2, value_heads=4, size=32, pool=None):
    """Arrays by name; the state [value, key]."""
    of_token = (seqs, tokens, value_heads)
    given = {
        "q": normal(seqs, tokens, heads, size, scale=size**-0.5),
        "k": normal(seqs, tokens, heads, size, scale=size**-0.5),
        "v": normal(*of_token, size),
    }
    if op == "lightning_decode":
        given["decay"] = -np.abs(normal(value_heads))
    else:
        given["g"] = -np.abs(normal(*of_token, size) if op == "kda_decode" else normal(*of_token))
        given["beta"] = _random.uniform(0, 1, of_token).astype(np.float32)
    given["state"] = normal(seqs if pool is None else pool, value_heads, size, size)
    return given


def decoded(given, scale=None, rows=None):
    """The result and the state after it, of logs of decays: gates as they are by default."""
    given = {name: one.astype(np.float64) for name, one in given.items()}
    q, k, v, state = (given[name] for name in ("q", "k", "v", "state"))
    state = state.copy()
    group = v.shape[2] // q.shape[2]
    out = np.zeros_like(v)
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    for seq, token, head in np.ndindex(*v.shape[:3]):
        row = seq if rows is None else rows[seq]
        if not 0 <= row < len(state):
            continue
        s = state[row, head]  # a view
        one_k, one_q = k[seq, token, head // group], q[seq, token, head // group]
        u = v[seq, token, head]
        if "g" in given:
            s *= np.exp(given["g"][seq, token, head])
            u = given["beta"][seq, token, head] * (u - s @ one_k)
        else:
            s *= np.exp(given["decay"][head])
        s += np.outer(u, one_k)
        out[seq, token, head] = scale * (s @ one_q)
    return out, state
