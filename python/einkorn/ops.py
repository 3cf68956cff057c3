"""The operators, one function each.

Each takes arrays of one framework (PyTorch, NumPy, JAX or CuPy), all on one device, without copies.
Work on a GPU is queued on the framework's current stream. Outputs that are not given are allocated
by the framework; an optional output is an array to write to, or True to have it allocated; it is
given back behind the result then. One whose size follows from values is the caller's to make: an
array, never True. What an op updates in place has to be an array that can be
written; of JAX's, which cannot, the new one is given back behind the results. `variant` names the
one implementation to use ("cpu/rows_v1", "reference"); without it configuration and list order
decide, as `einkorn.explain` tells.

Every function raises, with nothing written: TypeError for a missing array, a dtype, rank or device;
ValueError for a size, stride, overlap or number; NotImplementedError where no variant serves, with
each one's reason; RuntimeError for the machine's faults.

Written by scripts/generate_python.py from the ops' declarations: do not edit.
"""

from typing import Literal, TypeVar

from . import _dispatch
from ._dispatch import first_call as _first_call
from ._dispatch import handlers as _handlers
from ._dispatch import meet_frameworks as _meet_frameworks
from ._op import Op

Array = TypeVar("Array")

_silu_mul = Op(
    "silu_mul",
    inputs=("gate", "up", "packed"),
    outputs=("y",),
    optional_outputs=(),
    models={"y": ("gate", "packed")},
    rules=(
        lambda gate, up, packed: (
            gate if packed is None else packed,
            ()
            if (gate if packed is None else packed) is None
            else (gate.shape if packed is None else (*packed.shape[:-1], packed.shape[-1] // 2)),
            None,
        ),
    ),
    scalars={
        "packing": "split",
        "clamp": False,
        "limit": 7.0,
        "alpha": 1.0,
        "up_offset": 0.0,
        "rounding": "once",
    },
)


def silu_mul(
    gate: Array | None = None,
    up: Array | None = None,
    packed: Array | None = None,
    *,
    packing: Literal["split", "halves", "interleaved"] = "split",
    clamp: bool = False,
    limit: float = 7.0,
    alpha: float = 1.0,
    up_offset: float = 0.0,
    rounding: Literal["once", "silu"] = "once",
    out: Array | None = None,
    variant: str | None = None,
) -> Array:
    """y = silu(gate) * up, from two tensors or one packed, optionally clamped

    Args:
        gate: [..., n], f32, f16, bf16 or f64; left out with packed; optional
        up: like gate; left out with packed; optional
        packed: [..., 2n]: gate and up in one tensor, as packing says; optional
        packing: split: gate and up; halves of packed; or its interleaved columns
        clamp: the clamped form, with limit, alpha and up_offset
        limit: of the clamped form, positive
        alpha: of the clamped form, finite: sigmoid(alpha * gate)
        up_offset: of the clamped form, finite: added to up
        rounding: silu: round silu(gate) before the product
        out: output, [..., n], of the inputs' dtype; may be exactly gate or up
        variant: the one implementation to use

    Sources: Shazeer 2020, "GLU Variants Improve Transformer". The clamped form with alpha 1.702,
    limit 7 and up_offset 1 is gpt-oss's; with alpha 1 and up_offset 0 DeepSeek's.
    """
    if out is not None and not _dispatch.is_tracing():
        direct = _silu_mul.direct
        done = direct(
            gate, up, packed, out, packing, clamp, limit, alpha, up_offset, rounding, variant
        )
        if done is not None:
            return done
    handler = _handlers.get(type(gate)) or _first_call
    return handler(
        _silu_mul,
        (gate, up, packed),
        (out,),
        (packing, clamp, limit, alpha, up_offset, rounding),
        variant,
    )


_silu_mul_bwd = Op(
    "silu_mul_bwd",
    inputs=("dy", "gate", "up", "packed"),
    outputs=("dgate", "dup", "dpacked"),
    optional_outputs=(),
    models={"dgate": ("gate",), "dup": ("up",), "dpacked": ("packed",)},
    rules=(
        lambda dy, gate, up, packed: (gate, () if gate is None else gate.shape, None),
        lambda dy, gate, up, packed: (up, () if up is None else up.shape, None),
        lambda dy, gate, up, packed: (packed, () if packed is None else packed.shape, None),
    ),
    scalars={
        "packing": "split",
        "clamp": False,
        "limit": 7.0,
        "alpha": 1.0,
        "up_offset": 0.0,
        "rounding": "once",
    },
)


def silu_mul_bwd(
    dy: Array,
    gate: Array | None = None,
    up: Array | None = None,
    packed: Array | None = None,
    *,
    packing: Literal["split", "halves", "interleaved"] = "split",
    clamp: bool = False,
    limit: float = 7.0,
    alpha: float = 1.0,
    up_offset: float = 0.0,
    rounding: Literal["once", "silu"] = "once",
    dgate: Array | None = None,
    dup: Array | None = None,
    dpacked: Array | None = None,
    variant: str | None = None,
) -> Array | tuple[Array, ...]:
    """the gradients of silu_mul's gate and up, or of both in one packed tensor

    Args:
        dy: [..., n], f32, f16, bf16 or f64: the gradient of silu_mul's y
        gate: [..., n], of dy's dtype; left out with packed; optional
        up: like gate; left out with packed; optional
        packed: [..., 2n]: gate and up in one tensor, as packing says; optional
        packing: split: gate and up; halves of packed; or its interleaved columns
        clamp: the clamped form, with limit, alpha and up_offset
        limit: of the clamped form, positive
        alpha: of the clamped form, finite: sigmoid(alpha * gate)
        up_offset: of the clamped form, finite: added to up
        rounding: silu_mul's; silu: round silu(gate) before the product with dy
        dgate: output, like gate, and with it; may be exactly dy, gate or up
        dup: output, like up, and with it; may be exactly dy, gate or up
        dpacked: output, like packed, and with it; may be exactly packed
        variant: the one implementation to use
    """
    if dgate is not None and not _dispatch.is_tracing():
        direct = _silu_mul_bwd.direct
        done = direct(
            dy,
            gate,
            up,
            packed,
            dgate,
            dup,
            dpacked,
            packing,
            clamp,
            limit,
            alpha,
            up_offset,
            rounding,
            variant,
        )
        if done is not None:
            return done
    handler = _handlers.get(type(dy)) or _first_call
    return handler(
        _silu_mul_bwd,
        (dy, gate, up, packed),
        (dgate, dup, dpacked),
        (packing, clamp, limit, alpha, up_offset, rounding),
        variant,
    )


_gated_norm_pair = Op(
    "gated_norm_pair",
    inputs=("gate", "up", "gate_weight", "up_weight"),
    outputs=("y",),
    optional_outputs=(),
    models={"y": ("gate",)},
    rules=(lambda gate, up, gate_weight, up_weight: (gate, gate.shape, None),),
    scalars={"eps": 1e-06},
)


def gated_norm_pair(
    gate: Array,
    up: Array,
    gate_weight: Array,
    up_weight: Array,
    *,
    eps: float = 1e-06,
    out: Array | None = None,
    variant: str | None = None,
) -> Array:
    """y = silu(rms_norm(gate)) * rms_norm(up)

    Args:
        gate: [..., cols], contiguous, f32, f16 or bf16
        up: like gate
        gate_weight: [cols], contiguous, gate's dtype
        up_weight: like gate_weight
        eps: positive and finite
        out: output, like gate; may be exactly gate or up
        variant: the one implementation to use
    """
    if out is not None and not _dispatch.is_tracing():
        direct = _gated_norm_pair.direct
        done = direct(gate, up, gate_weight, up_weight, out, eps, variant)
        if done is not None:
            return done
    handler = _handlers.get(type(gate)) or _first_call
    return handler(_gated_norm_pair, (gate, up, gate_weight, up_weight), (out,), (eps,), variant)


_gated_rms_norm = Op(
    "gated_rms_norm",
    inputs=("x", "gate", "weight"),
    outputs=("y",),
    optional_outputs=(),
    models={"y": ("x",)},
    rules=(lambda x, gate, weight: (x, x.shape, None),),
    scalars={"eps": 1e-06},
)


def gated_rms_norm(
    x: Array,
    gate: Array,
    weight: Array,
    *,
    eps: float = 1e-06,
    out: Array | None = None,
    variant: str | None = None,
) -> Array:
    """y = silu(gate) * rms_norm(x, weight)

    Args:
        x: [..., cols], contiguous, f32, f16 or bf16
        gate: like x
        weight: [cols], contiguous, x's dtype
        eps: positive and finite
        out: output, like x; may be exactly gate
        variant: the one implementation to use
    """
    if out is not None and not _dispatch.is_tracing():
        direct = _gated_rms_norm.direct
        done = direct(x, gate, weight, out, eps, variant)
        if done is not None:
            return done
    handler = _handlers.get(type(x)) or _first_call
    return handler(_gated_rms_norm, (x, gate, weight), (out,), (eps,), variant)


_gdn_decode = Op(
    "gdn_decode",
    inputs=("q", "k", "v", "g", "beta", "state", "a_log", "dt_bias", "state_indices", "accepted"),
    inouts=("state",),
    outputs=("o",),
    optional_outputs=(),
    models={"o": ("v",)},
    rules=(
        lambda q, k, v, g, beta, state, a_log, dt_bias, state_indices, accepted: (v, v.shape, None),
    ),
    scalars={
        "scale": 0.0,
        "lower_bound": -5.0,
        "gate": "log",
        "beta_form": "probability",
        "negative_eigenvalues": False,
        "l2norm": False,
        "state_layout": "vk",
    },
)


def gdn_decode(
    q: Array,
    k: Array,
    v: Array,
    g: Array,
    beta: Array,
    state: Array,
    a_log: Array | None = None,
    dt_bias: Array | None = None,
    state_indices: Array | None = None,
    accepted: Array | None = None,
    *,
    scale: float = 0.0,
    lower_bound: float = -5.0,
    gate: Literal["log", "softplus", "lower_bound", "factor"] = "log",
    beta_form: Literal["probability", "logit"] = "probability",
    negative_eigenvalues: bool = False,
    l2norm: bool = False,
    state_layout: Literal["kv", "vk"] = "vk",
    out: Array | None = None,
    variant: str | None = None,
) -> Array | tuple[Array, ...]:
    """gated delta rule of a few tokens a sequence, states of a pool updated in place

    Args:
        q: [seqs, tokens, heads, key_dim], f32, f16 or bf16; heads and tokens with a stride each
        k: like q, with strides of its own
        v: [seqs, tokens, value_heads, value_dim], of q's dtype; value_heads a multiple of heads
        g: [seqs, tokens, value_heads], f32, f16 or bf16: the decay, in the form that gate says
        beta: [seqs, tokens, value_heads], f32, f16 or bf16, in the form that beta_form says
        state: [pool, value_heads, value_dim, key_dim] or, by state_layout, [pool, value_heads,
            key_dim, value_dim], f32 or bf16, contiguous; read and written in place
        a_log: [value_heads], f32; gate softplus needs it, lower_bound may have it; optional
        dt_bias: [value_heads], f32; with gate softplus or lower_bound; optional
        state_indices: [seqs] or, with a row for the state after each token, [seqs, tokens], i32 or
            i64, contiguous: rows of the pool; outside of it: none; optional
        accepted: [seqs], i32, contiguous: which token's state of state_indices [seqs, tokens] the
            call goes on from, counted from 1; optional
        scale: of the result; 0: key_dim^-0.5
        lower_bound: of the log decay with gate lower_bound: from -5 to below 0
        gate: what g holds: the log of the decay, a raw value (softplus, lower_bound), or the decay
            itself (factor)
        beta_form: what beta holds: itself, or its logit
        negative_eigenvalues: beta is doubled
        l2norm: q and k are divided by sqrt(sum of squares + 1e-6) first
        state_layout: order of a state's last two dimensions
        out: output, like v; rows of sequences left alone are not written
        variant: the one implementation to use

    Source: Yang, Kautz and Hatamizadeh 2024, "Gated Delta Networks: Improving Mamba2 with Delta
    Rule", eq. 10.
    """
    if out is not None and not _dispatch.is_tracing():
        direct = _gdn_decode.direct
        done = direct(
            q,
            k,
            v,
            g,
            beta,
            state,
            a_log,
            dt_bias,
            state_indices,
            accepted,
            out,
            scale,
            lower_bound,
            gate,
            beta_form,
            negative_eigenvalues,
            l2norm,
            state_layout,
            variant,
        )
        if done is not None:
            return done
    handler = _handlers.get(type(q)) or _first_call
    return handler(
        _gdn_decode,
        (q, k, v, g, beta, state, a_log, dt_bias, state_indices, accepted),
        (out,),
        (scale, lower_bound, gate, beta_form, negative_eigenvalues, l2norm, state_layout),
        variant,
    )


_gdn_prefill = Op(
    "gdn_prefill",
    inputs=(
        "q",
        "k",
        "v",
        "g",
        "beta",
        "a_log",
        "dt_bias",
        "initial_state",
        "cu_seqlens",
        "cu_seqlens_cpu",
    ),
    outputs=("o", "final_state", "checkpoints"),
    optional_outputs=("final_state", "checkpoints"),
    models={"o": ("v",), "final_state": ("q",), "checkpoints": ()},
    rules=(
        lambda q, k, v, g, beta, a_log, dt_bias, initial_state, cu_seqlens, cu_seqlens_cpu: (
            v,
            v.shape,
            None,
        ),
        lambda q, k, v, g, beta, a_log, dt_bias, initial_state, cu_seqlens, cu_seqlens_cpu: (
            q,
            (
                (q.shape[0] if cu_seqlens is None else cu_seqlens.shape[0] - 1),
                v.shape[2],
                q.shape[3],
                v.shape[3],
            )
            if initial_state is None
            else initial_state.shape,
            "f32",
        ),
        lambda q, k, v, g, beta, a_log, dt_bias, initial_state, cu_seqlens, cu_seqlens_cpu: (
            None,
            (),
            None,
        ),
    ),
    scalars={
        "scale": 0.0,
        "lower_bound": -5.0,
        "gate": "log",
        "beta_form": "probability",
        "negative_eigenvalues": False,
        "l2norm": False,
        "state_layout": "kv",
        "checkpoint_every": 0,
        "split": "auto",
        "segment": 0,
    },
    given_outputs={
        "checkpoints": (
            "[stored, value_heads, ...], contiguous, f32 or bf16: the state after every "
            "checkpoint_every tokens of each sequence, sequences in order"
        )
    },
)


def gdn_prefill(
    q: Array,
    k: Array,
    v: Array,
    g: Array,
    beta: Array,
    a_log: Array | None = None,
    dt_bias: Array | None = None,
    initial_state: Array | None = None,
    cu_seqlens: Array | None = None,
    cu_seqlens_cpu: Array | None = None,
    *,
    scale: float = 0.0,
    lower_bound: float = -5.0,
    gate: Literal["log", "softplus", "lower_bound", "factor"] = "log",
    beta_form: Literal["probability", "logit"] = "probability",
    negative_eigenvalues: bool = False,
    l2norm: bool = False,
    state_layout: Literal["kv", "vk"] = "kv",
    checkpoint_every: int = 0,
    split: Literal["off", "auto", "force"] = "auto",
    segment: int = 0,
    out: Array | None = None,
    final_state: Array | bool | None = None,
    checkpoints: Array | None = None,
    variant: str | None = None,
) -> Array | tuple[Array, ...]:
    """gated delta rule over whole sequences: a decay for each head

    Args:
        q: [batch, tokens, heads, K], f32, f16 or bf16; K without gaps, batch and tokens with one
            stride
        k: like q; strides of its own
        v: [batch, tokens, value_heads, V], of q's dtype; value_heads a multiple of heads
        g: [batch, tokens, value_heads], f32, f16 or bf16: the gate, in the form of gate
        beta: [batch, tokens, value_heads], f32, f16 or bf16, in the form of beta_form
        a_log: [value_heads], f32: log of the gate's rate; softplus needs it, lower_bound takes 0
            without it, other gates refuse it; optional
        dt_bias: [value_heads], f32: added to a raw gate; other gates refuse it; optional
        initial_state: [sequences, value_heads, K, V], or V, K by state_layout, contiguous, f32 or
            bf16; zeros without it; optional
        cu_seqlens: [sequences + 1], i32 or i64: where the sequences packed into one row begin, and
            its end; without it each row is a sequence; optional
        cu_seqlens_cpu: the numbers of cu_seqlens on the CPU, which otherwise are read back from
            the device in each call; optional
        scale: of q; 0: K^-0.5
        lower_bound: of gate lower_bound: at least -5, below 0
        gate: what g holds
        beta_form: what beta holds: itself, or before a sigmoid
        negative_eigenvalues: beta is doubled
        l2norm: q and k are divided by sqrt(sum of squares + 1e-6)
        state_layout: order of a state's last two dimensions
        checkpoint_every: tokens between checkpoints, a multiple of 64; 0: none
        split: sequences cut into segments that run side by side: never, where it pays, always
        segment: tokens of a segment, a multiple of 64; 0: as many as pay
        out: output, like v
        final_state: optional output, the states after the last tokens, as initial_state; may be
            exactly it
        checkpoints: optional output, which the caller makes, [stored, value_heads, ...],
            contiguous, f32 or bf16: the state after every checkpoint_every tokens of each
            sequence, sequences in order
        variant: the one implementation to use

    Source: Yang, Kautz and Hatamizadeh 2024, "Gated Delta Networks: Improving Mamba2 with Delta
    Rule". It is [kda_prefill](../kda_prefill/README.md) with one decay for all channels of a head.
    Value head i reads head i / (value_heads / heads) of q and k.
    """
    if out is not None and not _dispatch.is_tracing():
        direct = _gdn_prefill.direct
        done = direct(
            q,
            k,
            v,
            g,
            beta,
            a_log,
            dt_bias,
            initial_state,
            cu_seqlens,
            cu_seqlens_cpu,
            out,
            final_state,
            checkpoints,
            scale,
            lower_bound,
            gate,
            beta_form,
            negative_eigenvalues,
            l2norm,
            state_layout,
            checkpoint_every,
            split,
            segment,
            variant,
        )
        if done is not None:
            return done
    handler = _handlers.get(type(q)) or _first_call
    return handler(
        _gdn_prefill,
        (q, k, v, g, beta, a_log, dt_bias, initial_state, cu_seqlens, cu_seqlens_cpu),
        (out, final_state, checkpoints),
        (
            scale,
            lower_bound,
            gate,
            beta_form,
            negative_eigenvalues,
            l2norm,
            state_layout,
            checkpoint_every,
            split,
            segment,
        ),
        variant,
    )


_kda_decode = Op(
    "kda_decode",
    inputs=("q", "k", "v", "g", "beta", "state", "a_log", "dt_bias", "state_indices", "accepted"),
    inouts=("state",),
    outputs=("o",),
    optional_outputs=(),
    models={"o": ("v",)},
    rules=(
        lambda q, k, v, g, beta, state, a_log, dt_bias, state_indices, accepted: (v, v.shape, None),
    ),
    scalars={
        "scale": 0.0,
        "lower_bound": -5.0,
        "gate": "log",
        "beta_form": "probability",
        "negative_eigenvalues": False,
        "l2norm": False,
        "state_layout": "vk",
    },
)


def kda_decode(
    q: Array,
    k: Array,
    v: Array,
    g: Array,
    beta: Array,
    state: Array,
    a_log: Array | None = None,
    dt_bias: Array | None = None,
    state_indices: Array | None = None,
    accepted: Array | None = None,
    *,
    scale: float = 0.0,
    lower_bound: float = -5.0,
    gate: Literal["log", "softplus", "lower_bound", "factor"] = "log",
    beta_form: Literal["probability", "logit"] = "probability",
    negative_eigenvalues: bool = False,
    l2norm: bool = False,
    state_layout: Literal["kv", "vk"] = "vk",
    out: Array | None = None,
    variant: str | None = None,
) -> Array | tuple[Array, ...]:
    """Kimi delta attention of a few tokens a sequence, states of a pool updated in place

    Args:
        q: [seqs, tokens, heads, key_dim], f32, f16 or bf16; heads and tokens with a stride each
        k: like q, with strides of its own
        v: [seqs, tokens, value_heads, value_dim], of q's dtype; value_heads a multiple of heads
        g: [seqs, tokens, value_heads, key_dim], f32, f16 or bf16: the decay, in the form that gate
            says
        beta: [seqs, tokens, value_heads], f32, f16 or bf16, in the form that beta_form says
        state: [pool, value_heads, value_dim, key_dim] or, by state_layout, [pool, value_heads,
            key_dim, value_dim], f32 or bf16, contiguous; read and written in place
        a_log: [value_heads], f32; gate softplus needs it, lower_bound may have it; optional
        dt_bias: [value_heads, key_dim], f32; with gate softplus or lower_bound; optional
        state_indices: [seqs] or, with a row for the state after each token, [seqs, tokens], i32 or
            i64, contiguous: rows of the pool; outside of it: none; optional
        accepted: [seqs], i32, contiguous: which token's state of state_indices [seqs, tokens] the
            call goes on from, counted from 1; optional
        scale: of the result; 0: key_dim^-0.5
        lower_bound: of the log decay with gate lower_bound: from -5 to below 0
        gate: what g holds: the log of the decay, a raw value (softplus, lower_bound), or the decay
            itself (factor)
        beta_form: what beta holds: itself, or its logit
        negative_eigenvalues: beta is doubled
        l2norm: q and k are divided by sqrt(sum of squares + 1e-6) first
        state_layout: order of a state's last two dimensions
        out: output, like v; rows of sequences left alone are not written
        variant: the one implementation to use

    Source: Kimi Team 2025, "Kimi Linear: An Expressive, Efficient Attention Architecture", eq. 1.
    """
    if out is not None and not _dispatch.is_tracing():
        direct = _kda_decode.direct
        done = direct(
            q,
            k,
            v,
            g,
            beta,
            state,
            a_log,
            dt_bias,
            state_indices,
            accepted,
            out,
            scale,
            lower_bound,
            gate,
            beta_form,
            negative_eigenvalues,
            l2norm,
            state_layout,
            variant,
        )
        if done is not None:
            return done
    handler = _handlers.get(type(q)) or _first_call
    return handler(
        _kda_decode,
        (q, k, v, g, beta, state, a_log, dt_bias, state_indices, accepted),
        (out,),
        (scale, lower_bound, gate, beta_form, negative_eigenvalues, l2norm, state_layout),
        variant,
    )


_kda_prefill = Op(
    "kda_prefill",
    inputs=(
        "q",
        "k",
        "v",
        "g",
        "beta",
        "a_log",
        "dt_bias",
        "initial_state",
        "cu_seqlens",
        "cu_seqlens_cpu",
    ),
    outputs=("o", "final_state", "checkpoints"),
    optional_outputs=("final_state", "checkpoints"),
    models={"o": ("v",), "final_state": ("q",), "checkpoints": ()},
    rules=(
        lambda q, k, v, g, beta, a_log, dt_bias, initial_state, cu_seqlens, cu_seqlens_cpu: (
            v,
            v.shape,
            None,
        ),
        lambda q, k, v, g, beta, a_log, dt_bias, initial_state, cu_seqlens, cu_seqlens_cpu: (
            q,
            (
                (q.shape[0] if cu_seqlens is None else cu_seqlens.shape[0] - 1),
                v.shape[2],
                q.shape[3],
                v.shape[3],
            )
            if initial_state is None
            else initial_state.shape,
            "f32",
        ),
        lambda q, k, v, g, beta, a_log, dt_bias, initial_state, cu_seqlens, cu_seqlens_cpu: (
            None,
            (),
            None,
        ),
    ),
    scalars={
        "scale": 0.0,
        "lower_bound": -5.0,
        "gate": "log",
        "beta_form": "probability",
        "negative_eigenvalues": False,
        "l2norm": False,
        "state_layout": "kv",
        "checkpoint_every": 0,
        "split": "auto",
        "segment": 0,
    },
    given_outputs={
        "checkpoints": (
            "[stored, value_heads, ...], contiguous, f32 or bf16: the state after every "
            "checkpoint_every tokens of each sequence, sequences in order"
        )
    },
)


def kda_prefill(
    q: Array,
    k: Array,
    v: Array,
    g: Array,
    beta: Array,
    a_log: Array | None = None,
    dt_bias: Array | None = None,
    initial_state: Array | None = None,
    cu_seqlens: Array | None = None,
    cu_seqlens_cpu: Array | None = None,
    *,
    scale: float = 0.0,
    lower_bound: float = -5.0,
    gate: Literal["log", "softplus", "lower_bound", "factor"] = "log",
    beta_form: Literal["probability", "logit"] = "probability",
    negative_eigenvalues: bool = False,
    l2norm: bool = False,
    state_layout: Literal["kv", "vk"] = "kv",
    checkpoint_every: int = 0,
    split: Literal["off", "auto", "force"] = "auto",
    segment: int = 0,
    out: Array | None = None,
    final_state: Array | bool | None = None,
    checkpoints: Array | None = None,
    variant: str | None = None,
) -> Array | tuple[Array, ...]:
    """Kimi delta attention over whole sequences: a decay for each channel

    Args:
        q: [batch, tokens, heads, K], f32, f16 or bf16; K without gaps, batch and tokens with one
            stride
        k: like q; strides of its own
        v: [batch, tokens, value_heads, V], of q's dtype; value_heads a multiple of heads
        g: [batch, tokens, value_heads, K], f32, f16 or bf16: the gate, in the form of gate
        beta: [batch, tokens, value_heads], f32, f16 or bf16, in the form of beta_form
        a_log: [value_heads], f32: log of the gate's rate; softplus needs it, lower_bound takes 0
            without it, other gates refuse it; optional
        dt_bias: [value_heads, K], f32: added to a raw gate; other gates refuse it; optional
        initial_state: [sequences, value_heads, K, V], or V, K by state_layout, contiguous, f32 or
            bf16; zeros without it; optional
        cu_seqlens: [sequences + 1], i32 or i64: where the sequences packed into one row begin, and
            its end; without it each row is a sequence; optional
        cu_seqlens_cpu: the numbers of cu_seqlens on the CPU, which otherwise are read back from
            the device in each call; optional
        scale: of q; 0: K^-0.5
        lower_bound: of gate lower_bound: at least -5, below 0
        gate: what g holds
        beta_form: what beta holds: itself, or before a sigmoid
        negative_eigenvalues: beta is doubled
        l2norm: q and k are divided by sqrt(sum of squares + 1e-6)
        state_layout: order of a state's last two dimensions
        checkpoint_every: tokens between checkpoints, a multiple of 64; 0: none
        split: sequences cut into segments that run side by side: never, where it pays, always
        segment: tokens of a segment, a multiple of 64; 0: as many as pay
        out: output, like v
        final_state: optional output, the states after the last tokens, as initial_state; may be
            exactly it
        checkpoints: optional output, which the caller makes, [stored, value_heads, ...],
            contiguous, f32 or bf16: the state after every checkpoint_every tokens of each
            sequence, sequences in order
        variant: the one implementation to use

    Source: Kimi Team 2025, "Kimi Linear: An Expressive, Efficient Attention Architecture". Value
    head i reads head i / (value_heads / heads) of q and k.
    """
    if out is not None and not _dispatch.is_tracing():
        direct = _kda_prefill.direct
        done = direct(
            q,
            k,
            v,
            g,
            beta,
            a_log,
            dt_bias,
            initial_state,
            cu_seqlens,
            cu_seqlens_cpu,
            out,
            final_state,
            checkpoints,
            scale,
            lower_bound,
            gate,
            beta_form,
            negative_eigenvalues,
            l2norm,
            state_layout,
            checkpoint_every,
            split,
            segment,
            variant,
        )
        if done is not None:
            return done
    handler = _handlers.get(type(q)) or _first_call
    return handler(
        _kda_prefill,
        (q, k, v, g, beta, a_log, dt_bias, initial_state, cu_seqlens, cu_seqlens_cpu),
        (out, final_state, checkpoints),
        (
            scale,
            lower_bound,
            gate,
            beta_form,
            negative_eigenvalues,
            l2norm,
            state_layout,
            checkpoint_every,
            split,
            segment,
        ),
        variant,
    )


_lightning_decode = Op(
    "lightning_decode",
    inputs=("q", "k", "v", "decay", "state", "state_indices", "accepted"),
    inouts=("state",),
    outputs=("o",),
    optional_outputs=(),
    models={"o": ("v",)},
    rules=(lambda q, k, v, decay, state, state_indices, accepted: (v, v.shape, None),),
    scalars={"scale": 0.0, "gate": "log", "l2norm": False, "state_layout": "vk"},
)


def lightning_decode(
    q: Array,
    k: Array,
    v: Array,
    decay: Array,
    state: Array,
    state_indices: Array | None = None,
    accepted: Array | None = None,
    *,
    scale: float = 0.0,
    gate: Literal["log", "softplus", "lower_bound", "factor"] = "log",
    l2norm: bool = False,
    state_layout: Literal["kv", "vk"] = "vk",
    out: Array | None = None,
    variant: str | None = None,
) -> Array | tuple[Array, ...]:
    """lightning attention of a few tokens a sequence, states of a pool updated in place

    Args:
        q: [seqs, tokens, heads, key_dim], f32, f16 or bf16; heads and tokens with a stride each
        k: like q, with strides of its own
        v: [seqs, tokens, value_heads, value_dim], of q's dtype; value_heads a multiple of heads
        decay: [value_heads], f32: the decay of each head, in the form that gate says
        state: [pool, value_heads, value_dim, key_dim] or, by state_layout, [pool, value_heads,
            key_dim, value_dim], f32 or bf16, contiguous; read and written in place
        state_indices: [seqs] or, with a row for the state after each token, [seqs, tokens], i32 or
            i64, contiguous: rows of the pool; outside of it: none; optional
        accepted: [seqs], i32, contiguous: which token's state of state_indices [seqs, tokens] the
            call goes on from, counted from 1; optional
        scale: of the result; 0: key_dim^-0.5
        gate: what decay holds: its log, or the decay itself (factor)
        l2norm: q and k are divided by sqrt(sum of squares + 1e-6) first
        state_layout: order of a state's last two dimensions
        out: output, like v; rows of sequences left alone are not written
        variant: the one implementation to use

    Source: Qin et al. 2024, "Lightning Attention-2: A Free Lunch for Handling Unlimited Sequence
    Lengths in Large Language Models", eq. 6; a decay of each head as MiniMax-01 has it.
    """
    if out is not None and not _dispatch.is_tracing():
        direct = _lightning_decode.direct
        done = direct(
            q,
            k,
            v,
            decay,
            state,
            state_indices,
            accepted,
            out,
            scale,
            gate,
            l2norm,
            state_layout,
            variant,
        )
        if done is not None:
            return done
    handler = _handlers.get(type(q)) or _first_call
    return handler(
        _lightning_decode,
        (q, k, v, decay, state, state_indices, accepted),
        (out,),
        (scale, gate, l2norm, state_layout),
        variant,
    )


_lightning_prefill = Op(
    "lightning_prefill",
    inputs=("q", "k", "v", "decay", "initial_state", "cu_seqlens", "cu_seqlens_cpu"),
    outputs=("o", "final_state", "checkpoints"),
    optional_outputs=("final_state", "checkpoints"),
    models={"o": ("v",), "final_state": ("q",), "checkpoints": ()},
    rules=(
        lambda q, k, v, decay, initial_state, cu_seqlens, cu_seqlens_cpu: (v, v.shape, None),
        lambda q, k, v, decay, initial_state, cu_seqlens, cu_seqlens_cpu: (
            q,
            (
                (q.shape[0] if cu_seqlens is None else cu_seqlens.shape[0] - 1),
                v.shape[2],
                q.shape[3],
                v.shape[3],
            )
            if initial_state is None
            else initial_state.shape,
            "f32",
        ),
        lambda q, k, v, decay, initial_state, cu_seqlens, cu_seqlens_cpu: (None, (), None),
    ),
    scalars={
        "scale": 0.0,
        "gate": "log",
        "l2norm": False,
        "state_layout": "kv",
        "checkpoint_every": 0,
        "split": "auto",
        "segment": 0,
    },
    given_outputs={
        "checkpoints": (
            "[stored, value_heads, ...], contiguous, f32 or bf16: the state after every "
            "checkpoint_every tokens of each sequence, sequences in order"
        )
    },
)


def lightning_prefill(
    q: Array,
    k: Array,
    v: Array,
    decay: Array,
    initial_state: Array | None = None,
    cu_seqlens: Array | None = None,
    cu_seqlens_cpu: Array | None = None,
    *,
    scale: float = 0.0,
    gate: Literal["log", "softplus", "lower_bound", "factor"] = "log",
    l2norm: bool = False,
    state_layout: Literal["kv", "vk"] = "kv",
    checkpoint_every: int = 0,
    split: Literal["off", "auto", "force"] = "auto",
    segment: int = 0,
    out: Array | None = None,
    final_state: Array | bool | None = None,
    checkpoints: Array | None = None,
    variant: str | None = None,
) -> Array | tuple[Array, ...]:
    """lightning attention over whole sequences: a fixed decay for each head

    Args:
        q: [batch, tokens, heads, K], f32, f16 or bf16; K without gaps, batch and tokens with one
            stride
        k: like q; strides of its own
        v: [batch, tokens, value_heads, V], of q's dtype; value_heads a multiple of heads
        decay: [value_heads], f32, in the form of gate
        initial_state: [sequences, value_heads, K, V], or V, K by state_layout, contiguous, f32 or
            bf16; zeros without it; optional
        cu_seqlens: [sequences + 1], i32 or i64: where the sequences packed into one row begin, and
            its end; without it each row is a sequence; optional
        cu_seqlens_cpu: the numbers of cu_seqlens on the CPU, which otherwise are read back from
            the device in each call; optional
        scale: of q; 0: K^-0.5
        gate: what decay holds: log or factor
        l2norm: q and k are divided by sqrt(sum of squares + 1e-6)
        state_layout: order of a state's last two dimensions
        checkpoint_every: tokens between checkpoints, a multiple of 64; 0: none
        split: sequences cut into segments that run side by side: never, where it pays, always
        segment: tokens of a segment, a multiple of 64; 0: as many as pay
        out: output, like v
        final_state: optional output, the states after the last tokens, as initial_state; may be
            exactly it
        checkpoints: optional output, which the caller makes, [stored, value_heads, ...],
            contiguous, f32 or bf16: the state after every checkpoint_every tokens of each
            sequence, sequences in order
        variant: the one implementation to use

    Source: Qin et al. 2024, "Lightning Attention-2: A Free Lunch for Handling Unlimited Sequence
    Lengths in Large Language Models". Value head i reads head i / (value_heads / heads) of q and
    k.
    """
    if out is not None and not _dispatch.is_tracing():
        direct = _lightning_prefill.direct
        done = direct(
            q,
            k,
            v,
            decay,
            initial_state,
            cu_seqlens,
            cu_seqlens_cpu,
            out,
            final_state,
            checkpoints,
            scale,
            gate,
            l2norm,
            state_layout,
            checkpoint_every,
            split,
            segment,
            variant,
        )
        if done is not None:
            return done
    handler = _handlers.get(type(q)) or _first_call
    return handler(
        _lightning_prefill,
        (q, k, v, decay, initial_state, cu_seqlens, cu_seqlens_cpu),
        (out, final_state, checkpoints),
        (scale, gate, l2norm, state_layout, checkpoint_every, split, segment),
        variant,
    )


_qk_norm = Op(
    "qk_norm",
    inputs=("q", "k", "q_weight", "k_weight"),
    outputs=("q_out", "k_out"),
    optional_outputs=(),
    models={"q_out": ("q",), "k_out": ("k",)},
    rules=(
        lambda q, k, q_weight, k_weight: (q, q.shape, None),
        lambda q, k, q_weight, k_weight: (k, k.shape, None),
    ),
    scalars={"eps": 1e-06, "offset": 0, "rounding": "llama"},
)


def qk_norm(
    q: Array,
    k: Array,
    q_weight: Array | None = None,
    k_weight: Array | None = None,
    *,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: Literal["llama", "gemma", "none"] = "llama",
    q_out: Array | None = None,
    k_out: Array | None = None,
    variant: str | None = None,
) -> Array | tuple[Array, ...]:
    """rms_norm of each head of q and of k, in one call

    Args:
        q: [..., q_heads, cols], f32, f16, bf16 or f64; a token's heads without gaps, leading dims
            with one stride
        k: [..., k_heads, cols], of q's dtype; strides of its own
        q_weight: [cols], contiguous, f32, f16, bf16 or f64; with k_weight; optional
        k_weight: like q_weight, and with it; optional
        eps: positive and finite
        offset: added to the weights: 0, or 1 (zero-initialised)
        rounding: where intermediate results are rounded to q's dtype
        q_out: output, like q; may be exactly q
        k_out: output, like k; may be exactly k
        variant: the one implementation to use

    Sources: Zhang and Sennrich 2019, "Root Mean Square Layer Normalization", eq. 4; Henry et al.
    2020, "Query-Key Normalization for Transformers", for where it is applied.
    """
    if q_out is not None and not _dispatch.is_tracing():
        direct = _qk_norm.direct
        done = direct(q, k, q_weight, k_weight, q_out, k_out, eps, offset, rounding, variant)
        if done is not None:
            return done
    handler = _handlers.get(type(q)) or _first_call
    return handler(
        _qk_norm, (q, k, q_weight, k_weight), (q_out, k_out), (eps, offset, rounding), variant
    )


_rms_norm = Op(
    "rms_norm",
    inputs=("x", "weight", "residual"),
    outputs=("y", "residual_out", "rstd"),
    optional_outputs=("residual_out", "rstd"),
    models={"y": ("x",), "residual_out": ("residual",), "rstd": ("x",)},
    rules=(
        lambda x, weight, residual: (x, x.shape, None),
        lambda x, weight, residual: (residual, () if residual is None else residual.shape, None),
        lambda x, weight, residual: (x, x.shape[:-1], "f32+"),
    ),
    scalars={"eps": 1e-06, "offset": 0, "rounding": "llama"},
)


def rms_norm(
    x: Array,
    weight: Array | None = None,
    residual: Array | None = None,
    *,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: Literal["llama", "gemma", "none"] = "llama",
    out: Array | None = None,
    residual_out: Array | bool | None = None,
    rstd: Array | bool | None = None,
    variant: str | None = None,
) -> Array | tuple[Array, ...]:
    """y = x / sqrt(mean(x^2) + eps) * (weight + offset), optional residual add

    Args:
        x: [..., cols], f32, f16, bf16 or f64; leading dims with one row stride
        weight: [cols], contiguous, f32, f16, bf16 or f64; optional
        residual: like x, f32, f16, bf16 or f64; added before the norm; optional
        eps: positive and finite
        offset: added to the weight: 0, or 1 (gemma, zero-initialised)
        rounding: where intermediate results are rounded to x's dtype
        out: output, like x and of its dtype; may be exactly x
        residual_out: optional output, x + residual, like residual; may be exactly it
        rstd: optional output, [...], contiguous, f32 or f64: 1 / sqrt(mean + eps) of each row
        variant: the one implementation to use

    Source: Zhang and Sennrich 2019, "Root Mean Square Layer Normalization", eq. 4.
    """
    if out is not None and not _dispatch.is_tracing():
        direct = _rms_norm.direct
        done = direct(x, weight, residual, out, residual_out, rstd, eps, offset, rounding, variant)
        if done is not None:
            return done
    handler = _handlers.get(type(x)) or _first_call
    return handler(
        _rms_norm,
        (x, weight, residual),
        (out, residual_out, rstd),
        (eps, offset, rounding),
        variant,
    )


_rms_norm_bwd = Op(
    "rms_norm_bwd",
    inputs=("dy", "x", "weight", "rstd", "dresidual_out"),
    outputs=("dx", "dweight"),
    optional_outputs=("dweight",),
    models={"dx": ("x",), "dweight": ("weight",)},
    rules=(
        lambda dy, x, weight, rstd, dresidual_out: (x, x.shape, None),
        lambda dy, x, weight, rstd, dresidual_out: (
            weight,
            () if weight is None else weight.shape,
            None,
        ),
    ),
    scalars={"eps": 1e-06, "offset": 0, "rounding": "llama"},
)


def rms_norm_bwd(
    dy: Array,
    x: Array,
    weight: Array | None = None,
    rstd: Array | None = None,
    dresidual_out: Array | None = None,
    *,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: Literal["llama", "gemma", "none"] = "llama",
    out: Array | None = None,
    dweight: Array | bool | None = None,
    variant: str | None = None,
) -> Array | tuple[Array, ...]:
    """gradients of rms_norm: dx, with that of the residual stream added, and dweight

    Args:
        dy: [..., cols], of x's dtype; leading dims with one row stride
        x: like dy, f32, f16, bf16 or f64: what was normalised, x + residual if there was one
        weight: [cols], contiguous, f32, f16, bf16 or f64; optional
        rstd: [...], contiguous, f32 or f64: as the forward wrote it; computed without; optional
        dresidual_out: like x, f32, f16, bf16 or f64: the gradient of residual_out, added to dx;
            optional
        eps: positive and finite; not used with rstd
        offset: added to the weight: 0, or 1 (gemma, zero-initialised)
        rounding: where the forward rounded to x's dtype
        out: output, like x and of its dtype; may be exactly dy or dresidual_out
        dweight: optional output, [cols], contiguous, f32 or the weight's dtype; needs weight
        variant: the one implementation to use

    Source: the derivative of Zhang and Sennrich 2019, eq. 4; the same as Liger Kernel's
    `ops/rms_norm.py`. With h = x + residual, dx is the gradient of both.
    """
    if out is not None and not _dispatch.is_tracing():
        direct = _rms_norm_bwd.direct
        done = direct(
            dy, x, weight, rstd, dresidual_out, out, dweight, eps, offset, rounding, variant
        )
        if done is not None:
            return done
    handler = _handlers.get(type(dy)) or _first_call
    return handler(
        _rms_norm_bwd,
        (dy, x, weight, rstd, dresidual_out),
        (out, dweight),
        (eps, offset, rounding),
        variant,
    )


#: Every op by its name.
TABLE: dict[str, Op] = {
    _silu_mul.name: _silu_mul,
    _silu_mul_bwd.name: _silu_mul_bwd,
    _gated_norm_pair.name: _gated_norm_pair,
    _gated_rms_norm.name: _gated_rms_norm,
    _gdn_decode.name: _gdn_decode,
    _gdn_prefill.name: _gdn_prefill,
    _kda_decode.name: _kda_decode,
    _kda_prefill.name: _kda_prefill,
    _lightning_decode.name: _lightning_decode,
    _lightning_prefill.name: _lightning_prefill,
    _qk_norm.name: _qk_norm,
    _rms_norm.name: _rms_norm,
    _rms_norm_bwd.name: _rms_norm_bwd,
}

__all__ = [
    "gated_norm_pair",
    "gated_rms_norm",
    "gdn_decode",
    "gdn_prefill",
    "kda_decode",
    "kda_prefill",
    "lightning_decode",
    "lightning_prefill",
    "qk_norm",
    "rms_norm",
    "rms_norm_bwd",
    "silu_mul",
    "silu_mul_bwd",
]

_meet_frameworks()
