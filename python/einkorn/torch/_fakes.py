"""What each form of each op gives back for tensors without memory, fake or meta.

Written by scripts/generate_python.py from the ops' declarations: do not edit.
"""

# Whether an input may be None is the checks' business, which a type checker does not follow.
# mypy: disable-error-code="union-attr"

from torch import Tensor

from ._allocation import f32_plus as _f32_plus
from ._allocation import like as _like
from ._allocation import missing as _missing
from ._checks import check as _check
from ._checks import check_output as _check_output


def _fake_silu_mul(
    gate: Tensor | None = None,
    up: Tensor | None = None,
    packed: Tensor | None = None,
    packing: str = "split",
    clamp: bool = False,
    limit: float = 7.0,
    alpha: float = 1.0,
    up_offset: float = 0.0,
    rounding: str = "once",
    variant: str | None = None,
) -> Tensor:
    _check("silu_mul", gate, up, packed)
    if (gate if packed is None else packed) is None:
        raise _missing("silu_mul", "y", ["gate", "packed"])
    y = (gate if packed is None else packed).new_empty(
        gate.shape if packed is None else (*packed.shape[:-1], packed.shape[-1] // 2)
    )
    return y


def _fake_silu_mul_out(
    gate: Tensor | None = None,
    up: Tensor | None = None,
    packed: Tensor | None = None,
    *,
    y: Tensor,
    packing: str = "split",
    clamp: bool = False,
    limit: float = 7.0,
    alpha: float = 1.0,
    up_offset: float = 0.0,
    rounding: str = "once",
    variant: str | None = None,
) -> None:
    _check("silu_mul", gate, up, packed)
    if (gate if packed is None else packed) is None:
        raise _missing("silu_mul", "y", ["gate", "packed"])
    _check_output(
        "silu_mul",
        "y",
        y,
        gate if packed is None else packed,
        gate.shape if packed is None else (*packed.shape[:-1], packed.shape[-1] // 2),
    )


def _fake_silu_mul_bwd_dgate(
    dy: Tensor,
    gate: Tensor | None = None,
    up: Tensor | None = None,
    packed: Tensor | None = None,
    packing: str = "split",
    clamp: bool = False,
    limit: float = 7.0,
    alpha: float = 1.0,
    up_offset: float = 0.0,
    rounding: str = "once",
    variant: str | None = None,
) -> Tensor:
    _check("silu_mul_bwd", dy, gate, up, packed)
    if (gate) is None:
        raise _missing("silu_mul_bwd", "dgate", ["gate"])
    dgate = _like(gate)
    return dgate


def _fake_silu_mul_bwd_dup(
    dy: Tensor,
    gate: Tensor | None = None,
    up: Tensor | None = None,
    packed: Tensor | None = None,
    packing: str = "split",
    clamp: bool = False,
    limit: float = 7.0,
    alpha: float = 1.0,
    up_offset: float = 0.0,
    rounding: str = "once",
    variant: str | None = None,
) -> Tensor:
    _check("silu_mul_bwd", dy, gate, up, packed)
    if (up) is None:
        raise _missing("silu_mul_bwd", "dup", ["up"])
    dup = _like(up)
    return dup


def _fake_silu_mul_bwd_dpacked(
    dy: Tensor,
    gate: Tensor | None = None,
    up: Tensor | None = None,
    packed: Tensor | None = None,
    packing: str = "split",
    clamp: bool = False,
    limit: float = 7.0,
    alpha: float = 1.0,
    up_offset: float = 0.0,
    rounding: str = "once",
    variant: str | None = None,
) -> Tensor:
    _check("silu_mul_bwd", dy, gate, up, packed)
    if (packed) is None:
        raise _missing("silu_mul_bwd", "dpacked", ["packed"])
    dpacked = _like(packed)
    return dpacked


def _fake_silu_mul_bwd_dgate_dup(
    dy: Tensor,
    gate: Tensor | None = None,
    up: Tensor | None = None,
    packed: Tensor | None = None,
    packing: str = "split",
    clamp: bool = False,
    limit: float = 7.0,
    alpha: float = 1.0,
    up_offset: float = 0.0,
    rounding: str = "once",
    variant: str | None = None,
) -> tuple[Tensor, Tensor]:
    _check("silu_mul_bwd", dy, gate, up, packed)
    if (gate) is None:
        raise _missing("silu_mul_bwd", "dgate", ["gate"])
    dgate = _like(gate)
    if (up) is None:
        raise _missing("silu_mul_bwd", "dup", ["up"])
    dup = _like(up)
    return dgate, dup


def _fake_silu_mul_bwd_dgate_dpacked(
    dy: Tensor,
    gate: Tensor | None = None,
    up: Tensor | None = None,
    packed: Tensor | None = None,
    packing: str = "split",
    clamp: bool = False,
    limit: float = 7.0,
    alpha: float = 1.0,
    up_offset: float = 0.0,
    rounding: str = "once",
    variant: str | None = None,
) -> tuple[Tensor, Tensor]:
    _check("silu_mul_bwd", dy, gate, up, packed)
    if (gate) is None:
        raise _missing("silu_mul_bwd", "dgate", ["gate"])
    dgate = _like(gate)
    if (packed) is None:
        raise _missing("silu_mul_bwd", "dpacked", ["packed"])
    dpacked = _like(packed)
    return dgate, dpacked


def _fake_silu_mul_bwd_dup_dpacked(
    dy: Tensor,
    gate: Tensor | None = None,
    up: Tensor | None = None,
    packed: Tensor | None = None,
    packing: str = "split",
    clamp: bool = False,
    limit: float = 7.0,
    alpha: float = 1.0,
    up_offset: float = 0.0,
    rounding: str = "once",
    variant: str | None = None,
) -> tuple[Tensor, Tensor]:
    _check("silu_mul_bwd", dy, gate, up, packed)
    if (up) is None:
        raise _missing("silu_mul_bwd", "dup", ["up"])
    dup = _like(up)
    if (packed) is None:
        raise _missing("silu_mul_bwd", "dpacked", ["packed"])
    dpacked = _like(packed)
    return dup, dpacked


def _fake_silu_mul_bwd_dgate_dup_dpacked(
    dy: Tensor,
    gate: Tensor | None = None,
    up: Tensor | None = None,
    packed: Tensor | None = None,
    packing: str = "split",
    clamp: bool = False,
    limit: float = 7.0,
    alpha: float = 1.0,
    up_offset: float = 0.0,
    rounding: str = "once",
    variant: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    _check("silu_mul_bwd", dy, gate, up, packed)
    if (gate) is None:
        raise _missing("silu_mul_bwd", "dgate", ["gate"])
    dgate = _like(gate)
    if (up) is None:
        raise _missing("silu_mul_bwd", "dup", ["up"])
    dup = _like(up)
    if (packed) is None:
        raise _missing("silu_mul_bwd", "dpacked", ["packed"])
    dpacked = _like(packed)
    return dgate, dup, dpacked


def _fake_silu_mul_bwd_out(
    dy: Tensor,
    gate: Tensor | None = None,
    up: Tensor | None = None,
    packed: Tensor | None = None,
    *,
    dgate: Tensor | None = None,
    dup: Tensor | None = None,
    dpacked: Tensor | None = None,
    packing: str = "split",
    clamp: bool = False,
    limit: float = 7.0,
    alpha: float = 1.0,
    up_offset: float = 0.0,
    rounding: str = "once",
    variant: str | None = None,
) -> None:
    _check("silu_mul_bwd", dy, gate, up, packed)
    if dgate is not None:
        if (gate) is None:
            raise _missing("silu_mul_bwd", "dgate", ["gate"])
        _check_output("silu_mul_bwd", "dgate", dgate, gate, (gate).shape)
    if dup is not None:
        if (up) is None:
            raise _missing("silu_mul_bwd", "dup", ["up"])
        _check_output("silu_mul_bwd", "dup", dup, up, (up).shape)
    if dpacked is not None:
        if (packed) is None:
            raise _missing("silu_mul_bwd", "dpacked", ["packed"])
        _check_output("silu_mul_bwd", "dpacked", dpacked, packed, (packed).shape)


def _fake_gated_norm_pair(
    gate: Tensor,
    up: Tensor,
    gate_weight: Tensor,
    up_weight: Tensor,
    eps: float = 1e-06,
    variant: str | None = None,
) -> Tensor:
    _check("gated_norm_pair", gate, up, gate_weight, up_weight)
    y = _like(gate)
    return y


def _fake_gated_norm_pair_out(
    gate: Tensor,
    up: Tensor,
    gate_weight: Tensor,
    up_weight: Tensor,
    *,
    y: Tensor,
    eps: float = 1e-06,
    variant: str | None = None,
) -> None:
    _check("gated_norm_pair", gate, up, gate_weight, up_weight)
    _check_output("gated_norm_pair", "y", y, gate, (gate).shape)


def _fake_gated_rms_norm(
    x: Tensor,
    gate: Tensor,
    weight: Tensor,
    eps: float = 1e-06,
    variant: str | None = None,
) -> Tensor:
    _check("gated_rms_norm", x, gate, weight)
    y = _like(x)
    return y


def _fake_gated_rms_norm_out(
    x: Tensor,
    gate: Tensor,
    weight: Tensor,
    *,
    y: Tensor,
    eps: float = 1e-06,
    variant: str | None = None,
) -> None:
    _check("gated_rms_norm", x, gate, weight)
    _check_output("gated_rms_norm", "y", y, x, (x).shape)


def _fake_rms_norm(
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> Tensor:
    _check("rms_norm", x, weight, residual)
    y = _like(x)
    return y


def _fake_rms_norm_residual_out(
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> tuple[Tensor, Tensor]:
    _check("rms_norm", x, weight, residual)
    y = _like(x)
    if (residual) is None:
        raise _missing("rms_norm", "residual_out", ["residual"])
    residual_out = _like(residual)
    return y, residual_out


def _fake_rms_norm_rstd(
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> tuple[Tensor, Tensor]:
    _check("rms_norm", x, weight, residual)
    y = _like(x)
    rstd = (x).new_empty(x.shape[:-1], dtype=_f32_plus(x))
    return y, rstd


def _fake_rms_norm_residual_out_rstd(
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    _check("rms_norm", x, weight, residual)
    y = _like(x)
    if (residual) is None:
        raise _missing("rms_norm", "residual_out", ["residual"])
    residual_out = _like(residual)
    rstd = (x).new_empty(x.shape[:-1], dtype=_f32_plus(x))
    return y, residual_out, rstd


def _fake_rms_norm_out(
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    *,
    y: Tensor,
    residual_out: Tensor | None = None,
    rstd: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> None:
    _check("rms_norm", x, weight, residual)
    _check_output("rms_norm", "y", y, x, (x).shape)
    if residual_out is not None:
        if (residual) is None:
            raise _missing("rms_norm", "residual_out", ["residual"])
        _check_output("rms_norm", "residual_out", residual_out, residual, (residual).shape)
    if rstd is not None:
        _check_output("rms_norm", "rstd", rstd, x, x.shape[:-1])


def _fake_rms_norm_bwd(
    dy: Tensor,
    x: Tensor,
    weight: Tensor | None = None,
    rstd: Tensor | None = None,
    dresidual_out: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> Tensor:
    _check("rms_norm_bwd", dy, x, weight, rstd, dresidual_out)
    dx = _like(x)
    return dx


def _fake_rms_norm_bwd_dweight(
    dy: Tensor,
    x: Tensor,
    weight: Tensor | None = None,
    rstd: Tensor | None = None,
    dresidual_out: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> tuple[Tensor, Tensor]:
    _check("rms_norm_bwd", dy, x, weight, rstd, dresidual_out)
    dx = _like(x)
    if (weight) is None:
        raise _missing("rms_norm_bwd", "dweight", ["weight"])
    dweight = _like(weight)
    return dx, dweight


def _fake_rms_norm_bwd_out(
    dy: Tensor,
    x: Tensor,
    weight: Tensor | None = None,
    rstd: Tensor | None = None,
    dresidual_out: Tensor | None = None,
    *,
    dx: Tensor,
    dweight: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> None:
    _check("rms_norm_bwd", dy, x, weight, rstd, dresidual_out)
    _check_output("rms_norm_bwd", "dx", dx, x, (x).shape)
    if dweight is not None:
        if (weight) is None:
            raise _missing("rms_norm_bwd", "dweight", ["weight"])
        _check_output("rms_norm_bwd", "dweight", dweight, weight, (weight).shape)
