"""The operators, one function each.

Each takes arrays of one framework (PyTorch, NumPy, JAX or CuPy), all on one device, without copies.
Work on a GPU is queued on the framework's current stream. Outputs that are not given are allocated
by the framework; an optional output is an array to write to, or True to have it allocated; it is
given back behind the result then. `variant` names the one implementation to use ("cpu/rows_v1",
"reference"); without it configuration and list order decide, as `einkorn.explain` tells.

Every function raises, with nothing written: TypeError for a missing array, a dtype, rank or device;
ValueError for a size, stride, overlap or number; NotImplementedError where no variant serves, with
each one's reason; RuntimeError for the machine's faults.

Written by scripts/generate_python.py from the ops' declarations: do not edit.
"""

from typing import Literal, TypeVar

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
    handler = _handlers.get(type(x)) or _first_call
    return handler(_gated_rms_norm, (x, gate, weight), (out,), (eps,), variant)


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
    _qk_norm.name: _qk_norm,
    _rms_norm.name: _rms_norm,
    _rms_norm_bwd.name: _rms_norm_bwd,
}

__all__ = [
    "gated_norm_pair",
    "gated_rms_norm",
    "qk_norm",
    "rms_norm",
    "rms_norm_bwd",
    "silu_mul",
    "silu_mul_bwd",
]

_meet_frameworks()
