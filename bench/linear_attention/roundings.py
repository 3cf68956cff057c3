"""What kda_prefill's chunks of 64 tokens miss by rounding to bf16, emulated in double.

    .venv/bin/python bench/linear_attention/roundings.py [--tokens N]

Every rounding of ops/linear_attention/prepare.cuh and recurrence_wgmma.cuh is here, and nothing
else of them; which of them counts is asked by leaving some out. Prints relative RMS errors of o and
of the last state against the recurrence over tokens, for three ways to prepare a chunk: beta in the
inverse; that, with a second bf16 number for q's factors; beta in the keys and V, as it is.
"""

import argparse
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]

DIM, CHUNK, BLOCK = 128, 64, 16  # K and V; tokens
SCALE = DIM**-0.5


def bf16(x: Array) -> Array:
    """To nearest, ties to even."""
    bits = x.astype(np.float32).view(np.uint32)
    bits = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(
        0xFFFF0000
    )
    return bits.view(np.float32).astype(np.float64)


def two_bf16(x: Array) -> Array:
    high = bf16(x)
    return high + bf16(x - high)


def recurrence(q: Array, k: Array, v: Array, decay: Array, beta: Array) -> tuple[Array, Array]:
    """`decay` is log2 of what a token leaves of each channel."""
    state = np.zeros((DIM, DIM))
    o = np.empty_like(v)
    for t in range(len(q)):
        state *= np.exp2(decay[t])[:, None]
        state += np.outer(k[t], beta[t] * (v[t] - k[t] @ state))
        o[t] = SCALE * q[t] @ state
    return o, state


def run_chunk(
    state: Array, parts: tuple[Array, ...], two_of_q: bool, beta_apart: bool
) -> tuple[Array, Array]:
    """o of a chunk, and the state behind it."""
    q, k, v, decay, beta = parts
    n = len(q)
    total = decay.cumsum(0)
    ends = np.vstack([np.zeros(DIM), np.ceil(total[BLOCK - 1 :: BLOCK])])  # whole exponents
    block = np.arange(n) // BLOCK
    left = np.exp2(total - ends[block])
    right = np.exp2(ends[block + 1] - total)
    q_exact = SCALE * q * left
    q_left = bf16(q_exact)
    k_left = bf16(k * left * (beta[:, None] if beta_apart else 1))
    k_right = bf16(k * right)
    q_used = two_bf16(q_exact) if two_of_q else q_left
    attention = np.zeros((n, n))
    akk = np.zeros((n, n))
    for i in range(n // BLOCK):
        for j in range(i + 1):
            at = np.s_[i * BLOCK : (i + 1) * BLOCK, j * BLOCK : (j + 1) * BLOCK]
            column = k_right[at[1]] * np.exp2(ends[i] - ends[j + 1])
            attention[at] = q_used[at[0]] @ column.T
            akk[at] = k_left[at[0]] @ column.T
    attention = bf16(np.tril(attention, -1) + np.diag(SCALE * (q * k).sum(1)))
    akk = np.tril(akk if beta_apart else akk * beta[:, None], -1)
    inverse = np.linalg.inv(np.eye(n) + akk)
    inverse = bf16(inverse if beta_apart else inverse * beta)
    start = np.exp2(ends[block])
    held = bf16(state)
    x = (beta[:, None] * v if beta_apart else v) - (k_left * start) @ held
    u = two_bf16(inverse @ two_bf16(x))
    o = bf16((q_left * start) @ held + attention @ u)
    updates = bf16(k * right * np.exp2(total[-1] - ends[block + 1]))
    return o, state * np.exp2(total[-1])[:, None] + updates.T @ u


def apart(got: Array, want: Array) -> float:
    return float(np.linalg.norm(got - want) / np.linalg.norm(want))


def errors(name: str, decay: Array, rng: np.random.Generator) -> str:
    tokens = len(decay)

    def normal() -> Array:
        return bf16(rng.standard_normal((tokens, DIM)))

    def unit(x: Array) -> Array:
        out: Array = x / np.linalg.norm(x, axis=1, keepdims=True)
        return out

    beta = 1 / (1 + np.exp(-bf16(rng.standard_normal(tokens))))
    call = (unit(normal()), unit(normal()), normal(), decay, beta)
    want = recurrence(*call)
    columns = []
    for two_of_q, beta_apart in ((False, False), (True, False), (False, True)):
        state = np.zeros((DIM, DIM))
        o = np.empty((tokens, DIM))
        for begin in range(0, tokens, CHUNK):
            part = slice(begin, begin + CHUNK)
            o[part], state = run_chunk(state, tuple(x[part] for x in call), two_of_q, beta_apart)
        columns.append(f"{apart(o, want[0]):.4f} {apart(state, want[1]):.4f}")
    return f"{name:12s}" + "".join(f"{column:>18s}" for column in columns)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokens", type=int, default=512, help="a multiple of 16")
    shape = (parser.parse_args().tokens, DIM)
    rng = np.random.default_rng(1)
    log2e = np.log2(np.e)
    decays = {
        "none": np.zeros(shape),
        "weak": -0.02 * log2e * rng.random(shape),
        "middling": -0.3 * log2e * rng.random(shape),
        "fast": -5 * log2e / (1 + np.exp(-rng.standard_normal(shape))),
    }
    print("of o, of the state".ljust(12), "beta in inverse", "q twice", "beta apart", sep="  ")
    for name, decay in decays.items():
        print(errors(name, decay, rng))


if __name__ == "__main__":
    main()
