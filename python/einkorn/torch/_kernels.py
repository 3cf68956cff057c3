"""The kernels of each form of each op, as PyTorch's dispatcher calls them.

`_<form>` runs a form on tensors with memory. `_<form>_autograd` is what a call from outside meets:
where nothing but CPU or CUDA is involved and no gradient is asked for, it runs the form at once;
the rest goes by _autograd.py.

Written by scripts/generate_python.py from the ops' declarations: do not edit.
"""

# Whether an input may be None is the checks' business, which a type checker does not follow.
# mypy: disable-error-code="union-attr"

import torch
from torch import Tensor
from torch.autograd import forward_ad as _forward

from .. import ops as _ops
from . import _fakes
from ._allocation import (
    PLAIN as _PLAIN,
)
from ._allocation import (
    f32_plus as _f32_plus,
)
from ._allocation import (
    missing as _missing,
)
from ._allocation import (
    shaped as _shaped,
)
from ._autograd import through as _through
from ._autograd import through_out as _through_out
from ._forms import Form

_CONTIGUOUS = torch.contiguous_format
_empty_like = torch.empty_like
_increment_version = torch._C._increment_version
_is_grad_enabled = torch.is_grad_enabled

_silu_mul_op = _ops.TABLE["silu_mul"]


def _silu_mul(
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
    if (gate if packed is None else packed) is None:
        raise _missing("silu_mul", "y", ["gate", "packed"])
    try:
        shape = gate.shape if packed is None else (*packed.shape[:-1], packed.shape[-1] // 2)
    except IndexError:
        shape = ()
    y = _shaped(gate if packed is None else packed, shape)
    (_silu_mul_op._function or _silu_mul_op.function)(
        gate, up, packed, y, packing, clamp, limit, alpha, up_offset, rounding, variant
    )
    return y


def _silu_mul_autograd(
    keyset: torch.DispatchKeySet,
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
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                (gate is not None and gate.requires_grad)
                or (up is not None and up.requires_grad)
                or (packed is not None and packed.requires_grad)
            )
        )
    ):
        return _through(
            SILU_MUL_FORM,
            keyset,
            (
                gate,
                up,
                packed,
            ),
            {
                "packing": packing,
                "clamp": clamp,
                "limit": limit,
                "alpha": alpha,
                "up_offset": up_offset,
                "rounding": rounding,
                "variant": variant,
            },
        )
    if (gate if packed is None else packed) is None:
        raise _missing("silu_mul", "y", ["gate", "packed"])
    try:
        shape = gate.shape if packed is None else (*packed.shape[:-1], packed.shape[-1] // 2)
    except IndexError:
        shape = ()
    y = _shaped(gate if packed is None else packed, shape)
    (_silu_mul_op._function or _silu_mul_op.function)(
        gate, up, packed, y, packing, clamp, limit, alpha, up_offset, rounding, variant
    )
    return y


def _silu_mul_out(
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
    (_silu_mul_op._function or _silu_mul_op.function)(
        gate, up, packed, y, packing, clamp, limit, alpha, up_offset, rounding, variant
    )


def _silu_mul_out_autograd(
    keyset: torch.DispatchKeySet,
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
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                (gate is not None and gate.requires_grad)
                or (up is not None and up.requires_grad)
                or (packed is not None and packed.requires_grad)
                or y.requires_grad
            )
        )
    ):
        _through_out(
            SILU_MUL_OUT_FORM,
            keyset,
            (
                gate,
                up,
                packed,
            ),
            {
                "y": y,
            },
            {
                "packing": packing,
                "clamp": clamp,
                "limit": limit,
                "alpha": alpha,
                "up_offset": up_offset,
                "rounding": rounding,
                "variant": variant,
            },
        )
        return
    (_silu_mul_op._function or _silu_mul_op.function)(
        gate, up, packed, y, packing, clamp, limit, alpha, up_offset, rounding, variant
    )
    _increment_version((y,))


SILU_MUL_FORM = Form(
    _silu_mul_op,
    name="silu_mul",
    returns=("y",),
    schema=(
        "(Tensor? gate=None, "
        "Tensor? up=None, "
        "Tensor? packed=None, "
        "*, "
        'str packing="split", '
        "bool clamp=False, "
        "float limit=7.0, "
        "float alpha=1.0, "
        "float up_offset=0.0, "
        'str rounding="once", '
        "str? variant=None) -> Tensor"
    ),
    kernel=_silu_mul,
    autograd=_silu_mul_autograd,
    fake=_fakes._fake_silu_mul,
)

SILU_MUL_OUT_FORM = Form(
    _silu_mul_op,
    name="silu_mul_out",
    returns=(),
    schema=(
        "(Tensor? gate=None, "
        "Tensor? up=None, "
        "Tensor? packed=None, "
        "*, "
        "Tensor(a!) y, "
        'str packing="split", '
        "bool clamp=False, "
        "float limit=7.0, "
        "float alpha=1.0, "
        "float up_offset=0.0, "
        'str rounding="once", '
        "str? variant=None) -> ()"
    ),
    kernel=_silu_mul_out,
    autograd=_silu_mul_out_autograd,
    fake=_fakes._fake_silu_mul_out,
)


_silu_mul_bwd_op = _ops.TABLE["silu_mul_bwd"]


def _silu_mul_bwd_dgate(
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
    if (gate) is None:
        raise _missing("silu_mul_bwd", "dgate", ["gate"])
    dgate = _empty_like(gate, memory_format=_CONTIGUOUS)
    (_silu_mul_bwd_op._function or _silu_mul_bwd_op.function)(
        dy,
        gate,
        up,
        packed,
        dgate,
        None,
        None,
        packing,
        clamp,
        limit,
        alpha,
        up_offset,
        rounding,
        variant,
    )
    return dgate


def _silu_mul_bwd_dgate_autograd(
    keyset: torch.DispatchKeySet,
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
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                dy.requires_grad
                or (gate is not None and gate.requires_grad)
                or (up is not None and up.requires_grad)
                or (packed is not None and packed.requires_grad)
            )
        )
    ):
        return _through(
            SILU_MUL_BWD_DGATE_FORM,
            keyset,
            (
                dy,
                gate,
                up,
                packed,
            ),
            {
                "packing": packing,
                "clamp": clamp,
                "limit": limit,
                "alpha": alpha,
                "up_offset": up_offset,
                "rounding": rounding,
                "variant": variant,
            },
        )
    if (gate) is None:
        raise _missing("silu_mul_bwd", "dgate", ["gate"])
    dgate = _empty_like(gate, memory_format=_CONTIGUOUS)
    (_silu_mul_bwd_op._function or _silu_mul_bwd_op.function)(
        dy,
        gate,
        up,
        packed,
        dgate,
        None,
        None,
        packing,
        clamp,
        limit,
        alpha,
        up_offset,
        rounding,
        variant,
    )
    return dgate


def _silu_mul_bwd_dup(
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
    if (up) is None:
        raise _missing("silu_mul_bwd", "dup", ["up"])
    dup = _empty_like(up, memory_format=_CONTIGUOUS)
    (_silu_mul_bwd_op._function or _silu_mul_bwd_op.function)(
        dy,
        gate,
        up,
        packed,
        None,
        dup,
        None,
        packing,
        clamp,
        limit,
        alpha,
        up_offset,
        rounding,
        variant,
    )
    return dup


def _silu_mul_bwd_dup_autograd(
    keyset: torch.DispatchKeySet,
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
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                dy.requires_grad
                or (gate is not None and gate.requires_grad)
                or (up is not None and up.requires_grad)
                or (packed is not None and packed.requires_grad)
            )
        )
    ):
        return _through(
            SILU_MUL_BWD_DUP_FORM,
            keyset,
            (
                dy,
                gate,
                up,
                packed,
            ),
            {
                "packing": packing,
                "clamp": clamp,
                "limit": limit,
                "alpha": alpha,
                "up_offset": up_offset,
                "rounding": rounding,
                "variant": variant,
            },
        )
    if (up) is None:
        raise _missing("silu_mul_bwd", "dup", ["up"])
    dup = _empty_like(up, memory_format=_CONTIGUOUS)
    (_silu_mul_bwd_op._function or _silu_mul_bwd_op.function)(
        dy,
        gate,
        up,
        packed,
        None,
        dup,
        None,
        packing,
        clamp,
        limit,
        alpha,
        up_offset,
        rounding,
        variant,
    )
    return dup


def _silu_mul_bwd_dpacked(
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
    if (packed) is None:
        raise _missing("silu_mul_bwd", "dpacked", ["packed"])
    dpacked = _empty_like(packed, memory_format=_CONTIGUOUS)
    (_silu_mul_bwd_op._function or _silu_mul_bwd_op.function)(
        dy,
        gate,
        up,
        packed,
        None,
        None,
        dpacked,
        packing,
        clamp,
        limit,
        alpha,
        up_offset,
        rounding,
        variant,
    )
    return dpacked


def _silu_mul_bwd_dpacked_autograd(
    keyset: torch.DispatchKeySet,
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
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                dy.requires_grad
                or (gate is not None and gate.requires_grad)
                or (up is not None and up.requires_grad)
                or (packed is not None and packed.requires_grad)
            )
        )
    ):
        return _through(
            SILU_MUL_BWD_DPACKED_FORM,
            keyset,
            (
                dy,
                gate,
                up,
                packed,
            ),
            {
                "packing": packing,
                "clamp": clamp,
                "limit": limit,
                "alpha": alpha,
                "up_offset": up_offset,
                "rounding": rounding,
                "variant": variant,
            },
        )
    if (packed) is None:
        raise _missing("silu_mul_bwd", "dpacked", ["packed"])
    dpacked = _empty_like(packed, memory_format=_CONTIGUOUS)
    (_silu_mul_bwd_op._function or _silu_mul_bwd_op.function)(
        dy,
        gate,
        up,
        packed,
        None,
        None,
        dpacked,
        packing,
        clamp,
        limit,
        alpha,
        up_offset,
        rounding,
        variant,
    )
    return dpacked


def _silu_mul_bwd_dgate_dup(
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
    if (gate) is None:
        raise _missing("silu_mul_bwd", "dgate", ["gate"])
    dgate = _empty_like(gate, memory_format=_CONTIGUOUS)
    if (up) is None:
        raise _missing("silu_mul_bwd", "dup", ["up"])
    dup = _empty_like(up, memory_format=_CONTIGUOUS)
    (_silu_mul_bwd_op._function or _silu_mul_bwd_op.function)(
        dy,
        gate,
        up,
        packed,
        dgate,
        dup,
        None,
        packing,
        clamp,
        limit,
        alpha,
        up_offset,
        rounding,
        variant,
    )
    return dgate, dup


def _silu_mul_bwd_dgate_dup_autograd(
    keyset: torch.DispatchKeySet,
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
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                dy.requires_grad
                or (gate is not None and gate.requires_grad)
                or (up is not None and up.requires_grad)
                or (packed is not None and packed.requires_grad)
            )
        )
    ):
        return _through(
            SILU_MUL_BWD_DGATE_DUP_FORM,
            keyset,
            (
                dy,
                gate,
                up,
                packed,
            ),
            {
                "packing": packing,
                "clamp": clamp,
                "limit": limit,
                "alpha": alpha,
                "up_offset": up_offset,
                "rounding": rounding,
                "variant": variant,
            },
        )
    if (gate) is None:
        raise _missing("silu_mul_bwd", "dgate", ["gate"])
    dgate = _empty_like(gate, memory_format=_CONTIGUOUS)
    if (up) is None:
        raise _missing("silu_mul_bwd", "dup", ["up"])
    dup = _empty_like(up, memory_format=_CONTIGUOUS)
    (_silu_mul_bwd_op._function or _silu_mul_bwd_op.function)(
        dy,
        gate,
        up,
        packed,
        dgate,
        dup,
        None,
        packing,
        clamp,
        limit,
        alpha,
        up_offset,
        rounding,
        variant,
    )
    return dgate, dup


def _silu_mul_bwd_dgate_dpacked(
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
    if (gate) is None:
        raise _missing("silu_mul_bwd", "dgate", ["gate"])
    dgate = _empty_like(gate, memory_format=_CONTIGUOUS)
    if (packed) is None:
        raise _missing("silu_mul_bwd", "dpacked", ["packed"])
    dpacked = _empty_like(packed, memory_format=_CONTIGUOUS)
    (_silu_mul_bwd_op._function or _silu_mul_bwd_op.function)(
        dy,
        gate,
        up,
        packed,
        dgate,
        None,
        dpacked,
        packing,
        clamp,
        limit,
        alpha,
        up_offset,
        rounding,
        variant,
    )
    return dgate, dpacked


def _silu_mul_bwd_dgate_dpacked_autograd(
    keyset: torch.DispatchKeySet,
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
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                dy.requires_grad
                or (gate is not None and gate.requires_grad)
                or (up is not None and up.requires_grad)
                or (packed is not None and packed.requires_grad)
            )
        )
    ):
        return _through(
            SILU_MUL_BWD_DGATE_DPACKED_FORM,
            keyset,
            (
                dy,
                gate,
                up,
                packed,
            ),
            {
                "packing": packing,
                "clamp": clamp,
                "limit": limit,
                "alpha": alpha,
                "up_offset": up_offset,
                "rounding": rounding,
                "variant": variant,
            },
        )
    if (gate) is None:
        raise _missing("silu_mul_bwd", "dgate", ["gate"])
    dgate = _empty_like(gate, memory_format=_CONTIGUOUS)
    if (packed) is None:
        raise _missing("silu_mul_bwd", "dpacked", ["packed"])
    dpacked = _empty_like(packed, memory_format=_CONTIGUOUS)
    (_silu_mul_bwd_op._function or _silu_mul_bwd_op.function)(
        dy,
        gate,
        up,
        packed,
        dgate,
        None,
        dpacked,
        packing,
        clamp,
        limit,
        alpha,
        up_offset,
        rounding,
        variant,
    )
    return dgate, dpacked


def _silu_mul_bwd_dup_dpacked(
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
    if (up) is None:
        raise _missing("silu_mul_bwd", "dup", ["up"])
    dup = _empty_like(up, memory_format=_CONTIGUOUS)
    if (packed) is None:
        raise _missing("silu_mul_bwd", "dpacked", ["packed"])
    dpacked = _empty_like(packed, memory_format=_CONTIGUOUS)
    (_silu_mul_bwd_op._function or _silu_mul_bwd_op.function)(
        dy,
        gate,
        up,
        packed,
        None,
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
    return dup, dpacked


def _silu_mul_bwd_dup_dpacked_autograd(
    keyset: torch.DispatchKeySet,
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
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                dy.requires_grad
                or (gate is not None and gate.requires_grad)
                or (up is not None and up.requires_grad)
                or (packed is not None and packed.requires_grad)
            )
        )
    ):
        return _through(
            SILU_MUL_BWD_DUP_DPACKED_FORM,
            keyset,
            (
                dy,
                gate,
                up,
                packed,
            ),
            {
                "packing": packing,
                "clamp": clamp,
                "limit": limit,
                "alpha": alpha,
                "up_offset": up_offset,
                "rounding": rounding,
                "variant": variant,
            },
        )
    if (up) is None:
        raise _missing("silu_mul_bwd", "dup", ["up"])
    dup = _empty_like(up, memory_format=_CONTIGUOUS)
    if (packed) is None:
        raise _missing("silu_mul_bwd", "dpacked", ["packed"])
    dpacked = _empty_like(packed, memory_format=_CONTIGUOUS)
    (_silu_mul_bwd_op._function or _silu_mul_bwd_op.function)(
        dy,
        gate,
        up,
        packed,
        None,
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
    return dup, dpacked


def _silu_mul_bwd_dgate_dup_dpacked(
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
    if (gate) is None:
        raise _missing("silu_mul_bwd", "dgate", ["gate"])
    dgate = _empty_like(gate, memory_format=_CONTIGUOUS)
    if (up) is None:
        raise _missing("silu_mul_bwd", "dup", ["up"])
    dup = _empty_like(up, memory_format=_CONTIGUOUS)
    if (packed) is None:
        raise _missing("silu_mul_bwd", "dpacked", ["packed"])
    dpacked = _empty_like(packed, memory_format=_CONTIGUOUS)
    (_silu_mul_bwd_op._function or _silu_mul_bwd_op.function)(
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
    return dgate, dup, dpacked


def _silu_mul_bwd_dgate_dup_dpacked_autograd(
    keyset: torch.DispatchKeySet,
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
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                dy.requires_grad
                or (gate is not None and gate.requires_grad)
                or (up is not None and up.requires_grad)
                or (packed is not None and packed.requires_grad)
            )
        )
    ):
        return _through(
            SILU_MUL_BWD_DGATE_DUP_DPACKED_FORM,
            keyset,
            (
                dy,
                gate,
                up,
                packed,
            ),
            {
                "packing": packing,
                "clamp": clamp,
                "limit": limit,
                "alpha": alpha,
                "up_offset": up_offset,
                "rounding": rounding,
                "variant": variant,
            },
        )
    if (gate) is None:
        raise _missing("silu_mul_bwd", "dgate", ["gate"])
    dgate = _empty_like(gate, memory_format=_CONTIGUOUS)
    if (up) is None:
        raise _missing("silu_mul_bwd", "dup", ["up"])
    dup = _empty_like(up, memory_format=_CONTIGUOUS)
    if (packed) is None:
        raise _missing("silu_mul_bwd", "dpacked", ["packed"])
    dpacked = _empty_like(packed, memory_format=_CONTIGUOUS)
    (_silu_mul_bwd_op._function or _silu_mul_bwd_op.function)(
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
    return dgate, dup, dpacked


def _silu_mul_bwd_out(
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
    (_silu_mul_bwd_op._function or _silu_mul_bwd_op.function)(
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


def _silu_mul_bwd_out_autograd(
    keyset: torch.DispatchKeySet,
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
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                dy.requires_grad
                or (gate is not None and gate.requires_grad)
                or (up is not None and up.requires_grad)
                or (packed is not None and packed.requires_grad)
                or (dgate is not None and dgate.requires_grad)
                or (dup is not None and dup.requires_grad)
                or (dpacked is not None and dpacked.requires_grad)
            )
        )
    ):
        _through_out(
            SILU_MUL_BWD_OUT_FORM,
            keyset,
            (
                dy,
                gate,
                up,
                packed,
            ),
            {
                "dgate": dgate,
                "dup": dup,
                "dpacked": dpacked,
            },
            {
                "packing": packing,
                "clamp": clamp,
                "limit": limit,
                "alpha": alpha,
                "up_offset": up_offset,
                "rounding": rounding,
                "variant": variant,
            },
        )
        return
    (_silu_mul_bwd_op._function or _silu_mul_bwd_op.function)(
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
    _increment_version(
        [
            one
            for one in (
                dgate,
                dup,
                dpacked,
            )
            if one is not None
        ]
    )


SILU_MUL_BWD_DGATE_FORM = Form(
    _silu_mul_bwd_op,
    name="silu_mul_bwd_dgate",
    returns=("dgate",),
    schema=(
        "(Tensor dy, "
        "Tensor? gate=None, "
        "Tensor? up=None, "
        "Tensor? packed=None, "
        "*, "
        'str packing="split", '
        "bool clamp=False, "
        "float limit=7.0, "
        "float alpha=1.0, "
        "float up_offset=0.0, "
        'str rounding="once", '
        "str? variant=None) -> Tensor"
    ),
    kernel=_silu_mul_bwd_dgate,
    autograd=_silu_mul_bwd_dgate_autograd,
    fake=_fakes._fake_silu_mul_bwd_dgate,
)

SILU_MUL_BWD_DUP_FORM = Form(
    _silu_mul_bwd_op,
    name="silu_mul_bwd_dup",
    returns=("dup",),
    schema=(
        "(Tensor dy, "
        "Tensor? gate=None, "
        "Tensor? up=None, "
        "Tensor? packed=None, "
        "*, "
        'str packing="split", '
        "bool clamp=False, "
        "float limit=7.0, "
        "float alpha=1.0, "
        "float up_offset=0.0, "
        'str rounding="once", '
        "str? variant=None) -> Tensor"
    ),
    kernel=_silu_mul_bwd_dup,
    autograd=_silu_mul_bwd_dup_autograd,
    fake=_fakes._fake_silu_mul_bwd_dup,
)

SILU_MUL_BWD_DPACKED_FORM = Form(
    _silu_mul_bwd_op,
    name="silu_mul_bwd_dpacked",
    returns=("dpacked",),
    schema=(
        "(Tensor dy, "
        "Tensor? gate=None, "
        "Tensor? up=None, "
        "Tensor? packed=None, "
        "*, "
        'str packing="split", '
        "bool clamp=False, "
        "float limit=7.0, "
        "float alpha=1.0, "
        "float up_offset=0.0, "
        'str rounding="once", '
        "str? variant=None) -> Tensor"
    ),
    kernel=_silu_mul_bwd_dpacked,
    autograd=_silu_mul_bwd_dpacked_autograd,
    fake=_fakes._fake_silu_mul_bwd_dpacked,
)

SILU_MUL_BWD_DGATE_DUP_FORM = Form(
    _silu_mul_bwd_op,
    name="silu_mul_bwd_dgate_dup",
    returns=("dgate", "dup"),
    schema=(
        "(Tensor dy, "
        "Tensor? gate=None, "
        "Tensor? up=None, "
        "Tensor? packed=None, "
        "*, "
        'str packing="split", '
        "bool clamp=False, "
        "float limit=7.0, "
        "float alpha=1.0, "
        "float up_offset=0.0, "
        'str rounding="once", '
        "str? variant=None) -> (Tensor, Tensor)"
    ),
    kernel=_silu_mul_bwd_dgate_dup,
    autograd=_silu_mul_bwd_dgate_dup_autograd,
    fake=_fakes._fake_silu_mul_bwd_dgate_dup,
)

SILU_MUL_BWD_DGATE_DPACKED_FORM = Form(
    _silu_mul_bwd_op,
    name="silu_mul_bwd_dgate_dpacked",
    returns=("dgate", "dpacked"),
    schema=(
        "(Tensor dy, "
        "Tensor? gate=None, "
        "Tensor? up=None, "
        "Tensor? packed=None, "
        "*, "
        'str packing="split", '
        "bool clamp=False, "
        "float limit=7.0, "
        "float alpha=1.0, "
        "float up_offset=0.0, "
        'str rounding="once", '
        "str? variant=None) -> (Tensor, Tensor)"
    ),
    kernel=_silu_mul_bwd_dgate_dpacked,
    autograd=_silu_mul_bwd_dgate_dpacked_autograd,
    fake=_fakes._fake_silu_mul_bwd_dgate_dpacked,
)

SILU_MUL_BWD_DUP_DPACKED_FORM = Form(
    _silu_mul_bwd_op,
    name="silu_mul_bwd_dup_dpacked",
    returns=("dup", "dpacked"),
    schema=(
        "(Tensor dy, "
        "Tensor? gate=None, "
        "Tensor? up=None, "
        "Tensor? packed=None, "
        "*, "
        'str packing="split", '
        "bool clamp=False, "
        "float limit=7.0, "
        "float alpha=1.0, "
        "float up_offset=0.0, "
        'str rounding="once", '
        "str? variant=None) -> (Tensor, Tensor)"
    ),
    kernel=_silu_mul_bwd_dup_dpacked,
    autograd=_silu_mul_bwd_dup_dpacked_autograd,
    fake=_fakes._fake_silu_mul_bwd_dup_dpacked,
)

SILU_MUL_BWD_DGATE_DUP_DPACKED_FORM = Form(
    _silu_mul_bwd_op,
    name="silu_mul_bwd_dgate_dup_dpacked",
    returns=("dgate", "dup", "dpacked"),
    schema=(
        "(Tensor dy, "
        "Tensor? gate=None, "
        "Tensor? up=None, "
        "Tensor? packed=None, "
        "*, "
        'str packing="split", '
        "bool clamp=False, "
        "float limit=7.0, "
        "float alpha=1.0, "
        "float up_offset=0.0, "
        'str rounding="once", '
        "str? variant=None) -> (Tensor, Tensor, Tensor)"
    ),
    kernel=_silu_mul_bwd_dgate_dup_dpacked,
    autograd=_silu_mul_bwd_dgate_dup_dpacked_autograd,
    fake=_fakes._fake_silu_mul_bwd_dgate_dup_dpacked,
)

SILU_MUL_BWD_OUT_FORM = Form(
    _silu_mul_bwd_op,
    name="silu_mul_bwd_out",
    returns=(),
    schema=(
        "(Tensor dy, "
        "Tensor? gate=None, "
        "Tensor? up=None, "
        "Tensor? packed=None, "
        "*, "
        "Tensor(a!)? dgate=None, "
        "Tensor(b!)? dup=None, "
        "Tensor(c!)? dpacked=None, "
        'str packing="split", '
        "bool clamp=False, "
        "float limit=7.0, "
        "float alpha=1.0, "
        "float up_offset=0.0, "
        'str rounding="once", '
        "str? variant=None) -> ()"
    ),
    kernel=_silu_mul_bwd_out,
    autograd=_silu_mul_bwd_out_autograd,
    fake=_fakes._fake_silu_mul_bwd_out,
)


_gated_norm_pair_op = _ops.TABLE["gated_norm_pair"]


def _gated_norm_pair(
    gate: Tensor,
    up: Tensor,
    gate_weight: Tensor,
    up_weight: Tensor,
    eps: float = 1e-06,
    variant: str | None = None,
) -> Tensor:
    y = _empty_like(gate, memory_format=_CONTIGUOUS)
    (_gated_norm_pair_op._function or _gated_norm_pair_op.function)(
        gate, up, gate_weight, up_weight, y, eps, variant
    )
    return y


def _gated_norm_pair_autograd(
    keyset: torch.DispatchKeySet,
    gate: Tensor,
    up: Tensor,
    gate_weight: Tensor,
    up_weight: Tensor,
    eps: float = 1e-06,
    variant: str | None = None,
) -> Tensor:
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                gate.requires_grad
                or up.requires_grad
                or gate_weight.requires_grad
                or up_weight.requires_grad
            )
        )
    ):
        return _through(
            GATED_NORM_PAIR_FORM,
            keyset,
            (
                gate,
                up,
                gate_weight,
                up_weight,
            ),
            {"eps": eps, "variant": variant},
        )
    y = _empty_like(gate, memory_format=_CONTIGUOUS)
    (_gated_norm_pair_op._function or _gated_norm_pair_op.function)(
        gate, up, gate_weight, up_weight, y, eps, variant
    )
    return y


def _gated_norm_pair_out(
    gate: Tensor,
    up: Tensor,
    gate_weight: Tensor,
    up_weight: Tensor,
    *,
    y: Tensor,
    eps: float = 1e-06,
    variant: str | None = None,
) -> None:
    (_gated_norm_pair_op._function or _gated_norm_pair_op.function)(
        gate, up, gate_weight, up_weight, y, eps, variant
    )


def _gated_norm_pair_out_autograd(
    keyset: torch.DispatchKeySet,
    gate: Tensor,
    up: Tensor,
    gate_weight: Tensor,
    up_weight: Tensor,
    *,
    y: Tensor,
    eps: float = 1e-06,
    variant: str | None = None,
) -> None:
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                gate.requires_grad
                or up.requires_grad
                or gate_weight.requires_grad
                or up_weight.requires_grad
                or y.requires_grad
            )
        )
    ):
        _through_out(
            GATED_NORM_PAIR_OUT_FORM,
            keyset,
            (
                gate,
                up,
                gate_weight,
                up_weight,
            ),
            {
                "y": y,
            },
            {"eps": eps, "variant": variant},
        )
        return
    (_gated_norm_pair_op._function or _gated_norm_pair_op.function)(
        gate, up, gate_weight, up_weight, y, eps, variant
    )
    _increment_version((y,))


GATED_NORM_PAIR_FORM = Form(
    _gated_norm_pair_op,
    name="gated_norm_pair",
    returns=("y",),
    schema=(
        "(Tensor gate, "
        "Tensor up, "
        "Tensor gate_weight, "
        "Tensor up_weight, "
        "*, "
        "float eps=1e-06, "
        "str? variant=None) -> Tensor"
    ),
    kernel=_gated_norm_pair,
    autograd=_gated_norm_pair_autograd,
    fake=_fakes._fake_gated_norm_pair,
)

GATED_NORM_PAIR_OUT_FORM = Form(
    _gated_norm_pair_op,
    name="gated_norm_pair_out",
    returns=(),
    schema=(
        "(Tensor gate, "
        "Tensor up, "
        "Tensor gate_weight, "
        "Tensor up_weight, "
        "*, "
        "Tensor(a!) y, "
        "float eps=1e-06, "
        "str? variant=None) -> ()"
    ),
    kernel=_gated_norm_pair_out,
    autograd=_gated_norm_pair_out_autograd,
    fake=_fakes._fake_gated_norm_pair_out,
)


_gated_rms_norm_op = _ops.TABLE["gated_rms_norm"]


def _gated_rms_norm(
    x: Tensor,
    gate: Tensor,
    weight: Tensor,
    eps: float = 1e-06,
    variant: str | None = None,
) -> Tensor:
    y = _empty_like(x, memory_format=_CONTIGUOUS)
    (_gated_rms_norm_op._function or _gated_rms_norm_op.function)(x, gate, weight, y, eps, variant)
    return y


def _gated_rms_norm_autograd(
    keyset: torch.DispatchKeySet,
    x: Tensor,
    gate: Tensor,
    weight: Tensor,
    eps: float = 1e-06,
    variant: str | None = None,
) -> Tensor:
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (_is_grad_enabled() and (x.requires_grad or gate.requires_grad or weight.requires_grad))
    ):
        return _through(
            GATED_RMS_NORM_FORM,
            keyset,
            (
                x,
                gate,
                weight,
            ),
            {"eps": eps, "variant": variant},
        )
    y = _empty_like(x, memory_format=_CONTIGUOUS)
    (_gated_rms_norm_op._function or _gated_rms_norm_op.function)(x, gate, weight, y, eps, variant)
    return y


def _gated_rms_norm_out(
    x: Tensor,
    gate: Tensor,
    weight: Tensor,
    *,
    y: Tensor,
    eps: float = 1e-06,
    variant: str | None = None,
) -> None:
    (_gated_rms_norm_op._function or _gated_rms_norm_op.function)(x, gate, weight, y, eps, variant)


def _gated_rms_norm_out_autograd(
    keyset: torch.DispatchKeySet,
    x: Tensor,
    gate: Tensor,
    weight: Tensor,
    *,
    y: Tensor,
    eps: float = 1e-06,
    variant: str | None = None,
) -> None:
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (x.requires_grad or gate.requires_grad or weight.requires_grad or y.requires_grad)
        )
    ):
        _through_out(
            GATED_RMS_NORM_OUT_FORM,
            keyset,
            (
                x,
                gate,
                weight,
            ),
            {
                "y": y,
            },
            {"eps": eps, "variant": variant},
        )
        return
    (_gated_rms_norm_op._function or _gated_rms_norm_op.function)(x, gate, weight, y, eps, variant)
    _increment_version((y,))


GATED_RMS_NORM_FORM = Form(
    _gated_rms_norm_op,
    name="gated_rms_norm",
    returns=("y",),
    schema=(
        "(Tensor x, Tensor gate, Tensor weight, *, float eps=1e-06, str? variant=None) -> Tensor"
    ),
    kernel=_gated_rms_norm,
    autograd=_gated_rms_norm_autograd,
    fake=_fakes._fake_gated_rms_norm,
)

GATED_RMS_NORM_OUT_FORM = Form(
    _gated_rms_norm_op,
    name="gated_rms_norm_out",
    returns=(),
    schema=(
        "(Tensor x, "
        "Tensor gate, "
        "Tensor weight, "
        "*, "
        "Tensor(a!) y, "
        "float eps=1e-06, "
        "str? variant=None) -> ()"
    ),
    kernel=_gated_rms_norm_out,
    autograd=_gated_rms_norm_out_autograd,
    fake=_fakes._fake_gated_rms_norm_out,
)


_rms_norm_op = _ops.TABLE["rms_norm"]


def _rms_norm(
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> Tensor:
    y = _empty_like(x, memory_format=_CONTIGUOUS)
    (_rms_norm_op._function or _rms_norm_op.function)(
        x, weight, residual, y, None, None, eps, offset, rounding, variant
    )
    return y


def _rms_norm_autograd(
    keyset: torch.DispatchKeySet,
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> Tensor:
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                x.requires_grad
                or (weight is not None and weight.requires_grad)
                or (residual is not None and residual.requires_grad)
            )
        )
    ):
        return _through(
            RMS_NORM_FORM,
            keyset,
            (
                x,
                weight,
                residual,
            ),
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
    y = _empty_like(x, memory_format=_CONTIGUOUS)
    (_rms_norm_op._function or _rms_norm_op.function)(
        x, weight, residual, y, None, None, eps, offset, rounding, variant
    )
    return y


def _rms_norm_residual_out(
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> tuple[Tensor, Tensor]:
    y = _empty_like(x, memory_format=_CONTIGUOUS)
    if (residual) is None:
        raise _missing("rms_norm", "residual_out", ["residual"])
    residual_out = _empty_like(residual, memory_format=_CONTIGUOUS)
    (_rms_norm_op._function or _rms_norm_op.function)(
        x, weight, residual, y, residual_out, None, eps, offset, rounding, variant
    )
    return y, residual_out


def _rms_norm_residual_out_autograd(
    keyset: torch.DispatchKeySet,
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> tuple[Tensor, Tensor]:
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                x.requires_grad
                or (weight is not None and weight.requires_grad)
                or (residual is not None and residual.requires_grad)
            )
        )
    ):
        return _through(
            RMS_NORM_RESIDUAL_OUT_FORM,
            keyset,
            (
                x,
                weight,
                residual,
            ),
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
    y = _empty_like(x, memory_format=_CONTIGUOUS)
    if (residual) is None:
        raise _missing("rms_norm", "residual_out", ["residual"])
    residual_out = _empty_like(residual, memory_format=_CONTIGUOUS)
    (_rms_norm_op._function or _rms_norm_op.function)(
        x, weight, residual, y, residual_out, None, eps, offset, rounding, variant
    )
    return y, residual_out


def _rms_norm_rstd(
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> tuple[Tensor, Tensor]:
    y = _empty_like(x, memory_format=_CONTIGUOUS)
    rstd = (x).new_empty(x.shape[:-1], dtype=_f32_plus(x))
    (_rms_norm_op._function or _rms_norm_op.function)(
        x, weight, residual, y, None, rstd, eps, offset, rounding, variant
    )
    return y, rstd


def _rms_norm_rstd_autograd(
    keyset: torch.DispatchKeySet,
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> tuple[Tensor, Tensor]:
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                x.requires_grad
                or (weight is not None and weight.requires_grad)
                or (residual is not None and residual.requires_grad)
            )
        )
    ):
        return _through(
            RMS_NORM_RSTD_FORM,
            keyset,
            (
                x,
                weight,
                residual,
            ),
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
    y = _empty_like(x, memory_format=_CONTIGUOUS)
    rstd = (x).new_empty(x.shape[:-1], dtype=_f32_plus(x))
    (_rms_norm_op._function or _rms_norm_op.function)(
        x, weight, residual, y, None, rstd, eps, offset, rounding, variant
    )
    return y, rstd


def _rms_norm_residual_out_rstd(
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    y = _empty_like(x, memory_format=_CONTIGUOUS)
    if (residual) is None:
        raise _missing("rms_norm", "residual_out", ["residual"])
    residual_out = _empty_like(residual, memory_format=_CONTIGUOUS)
    rstd = (x).new_empty(x.shape[:-1], dtype=_f32_plus(x))
    (_rms_norm_op._function or _rms_norm_op.function)(
        x, weight, residual, y, residual_out, rstd, eps, offset, rounding, variant
    )
    return y, residual_out, rstd


def _rms_norm_residual_out_rstd_autograd(
    keyset: torch.DispatchKeySet,
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                x.requires_grad
                or (weight is not None and weight.requires_grad)
                or (residual is not None and residual.requires_grad)
            )
        )
    ):
        return _through(
            RMS_NORM_RESIDUAL_OUT_RSTD_FORM,
            keyset,
            (
                x,
                weight,
                residual,
            ),
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
    y = _empty_like(x, memory_format=_CONTIGUOUS)
    if (residual) is None:
        raise _missing("rms_norm", "residual_out", ["residual"])
    residual_out = _empty_like(residual, memory_format=_CONTIGUOUS)
    rstd = (x).new_empty(x.shape[:-1], dtype=_f32_plus(x))
    (_rms_norm_op._function or _rms_norm_op.function)(
        x, weight, residual, y, residual_out, rstd, eps, offset, rounding, variant
    )
    return y, residual_out, rstd


def _rms_norm_out(
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
    (_rms_norm_op._function or _rms_norm_op.function)(
        x, weight, residual, y, residual_out, rstd, eps, offset, rounding, variant
    )


def _rms_norm_out_autograd(
    keyset: torch.DispatchKeySet,
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
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                x.requires_grad
                or (weight is not None and weight.requires_grad)
                or (residual is not None and residual.requires_grad)
                or y.requires_grad
                or (residual_out is not None and residual_out.requires_grad)
                or (rstd is not None and rstd.requires_grad)
            )
        )
    ):
        _through_out(
            RMS_NORM_OUT_FORM,
            keyset,
            (
                x,
                weight,
                residual,
            ),
            {
                "y": y,
                "residual_out": residual_out,
                "rstd": rstd,
            },
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
        return
    (_rms_norm_op._function or _rms_norm_op.function)(
        x, weight, residual, y, residual_out, rstd, eps, offset, rounding, variant
    )
    _increment_version(
        [
            one
            for one in (
                y,
                residual_out,
                rstd,
            )
            if one is not None
        ]
    )


RMS_NORM_FORM = Form(
    _rms_norm_op,
    name="rms_norm",
    returns=("y",),
    schema=(
        "(Tensor x, "
        "Tensor? weight=None, "
        "Tensor? residual=None, "
        "*, "
        "float eps=1e-06, "
        "int offset=0, "
        'str rounding="llama", '
        "str? variant=None) -> Tensor"
    ),
    kernel=_rms_norm,
    autograd=_rms_norm_autograd,
    fake=_fakes._fake_rms_norm,
)

RMS_NORM_RESIDUAL_OUT_FORM = Form(
    _rms_norm_op,
    name="rms_norm_residual_out",
    returns=("y", "residual_out"),
    schema=(
        "(Tensor x, "
        "Tensor? weight=None, "
        "Tensor? residual=None, "
        "*, "
        "float eps=1e-06, "
        "int offset=0, "
        'str rounding="llama", '
        "str? variant=None) -> (Tensor, Tensor)"
    ),
    kernel=_rms_norm_residual_out,
    autograd=_rms_norm_residual_out_autograd,
    fake=_fakes._fake_rms_norm_residual_out,
)

RMS_NORM_RSTD_FORM = Form(
    _rms_norm_op,
    name="rms_norm_rstd",
    returns=("y", "rstd"),
    schema=(
        "(Tensor x, "
        "Tensor? weight=None, "
        "Tensor? residual=None, "
        "*, "
        "float eps=1e-06, "
        "int offset=0, "
        'str rounding="llama", '
        "str? variant=None) -> (Tensor, Tensor)"
    ),
    kernel=_rms_norm_rstd,
    autograd=_rms_norm_rstd_autograd,
    fake=_fakes._fake_rms_norm_rstd,
)

RMS_NORM_RESIDUAL_OUT_RSTD_FORM = Form(
    _rms_norm_op,
    name="rms_norm_residual_out_rstd",
    returns=("y", "residual_out", "rstd"),
    schema=(
        "(Tensor x, "
        "Tensor? weight=None, "
        "Tensor? residual=None, "
        "*, "
        "float eps=1e-06, "
        "int offset=0, "
        'str rounding="llama", '
        "str? variant=None) -> (Tensor, Tensor, Tensor)"
    ),
    kernel=_rms_norm_residual_out_rstd,
    autograd=_rms_norm_residual_out_rstd_autograd,
    fake=_fakes._fake_rms_norm_residual_out_rstd,
)

RMS_NORM_OUT_FORM = Form(
    _rms_norm_op,
    name="rms_norm_out",
    returns=(),
    schema=(
        "(Tensor x, "
        "Tensor? weight=None, "
        "Tensor? residual=None, "
        "*, "
        "Tensor(a!) y, "
        "Tensor(b!)? residual_out=None, "
        "Tensor(c!)? rstd=None, "
        "float eps=1e-06, "
        "int offset=0, "
        'str rounding="llama", '
        "str? variant=None) -> ()"
    ),
    kernel=_rms_norm_out,
    autograd=_rms_norm_out_autograd,
    fake=_fakes._fake_rms_norm_out,
)


_rms_norm_bwd_op = _ops.TABLE["rms_norm_bwd"]


def _rms_norm_bwd(
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
    dx = _empty_like(x, memory_format=_CONTIGUOUS)
    (_rms_norm_bwd_op._function or _rms_norm_bwd_op.function)(
        dy, x, weight, rstd, dresidual_out, dx, None, eps, offset, rounding, variant
    )
    return dx


def _rms_norm_bwd_autograd(
    keyset: torch.DispatchKeySet,
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
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                dy.requires_grad
                or x.requires_grad
                or (weight is not None and weight.requires_grad)
                or (rstd is not None and rstd.requires_grad)
                or (dresidual_out is not None and dresidual_out.requires_grad)
            )
        )
    ):
        return _through(
            RMS_NORM_BWD_FORM,
            keyset,
            (
                dy,
                x,
                weight,
                rstd,
                dresidual_out,
            ),
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
    dx = _empty_like(x, memory_format=_CONTIGUOUS)
    (_rms_norm_bwd_op._function or _rms_norm_bwd_op.function)(
        dy, x, weight, rstd, dresidual_out, dx, None, eps, offset, rounding, variant
    )
    return dx


def _rms_norm_bwd_dweight(
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
    dx = _empty_like(x, memory_format=_CONTIGUOUS)
    if (weight) is None:
        raise _missing("rms_norm_bwd", "dweight", ["weight"])
    dweight = _empty_like(weight, memory_format=_CONTIGUOUS)
    (_rms_norm_bwd_op._function or _rms_norm_bwd_op.function)(
        dy, x, weight, rstd, dresidual_out, dx, dweight, eps, offset, rounding, variant
    )
    return dx, dweight


def _rms_norm_bwd_dweight_autograd(
    keyset: torch.DispatchKeySet,
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
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                dy.requires_grad
                or x.requires_grad
                or (weight is not None and weight.requires_grad)
                or (rstd is not None and rstd.requires_grad)
                or (dresidual_out is not None and dresidual_out.requires_grad)
            )
        )
    ):
        return _through(
            RMS_NORM_BWD_DWEIGHT_FORM,
            keyset,
            (
                dy,
                x,
                weight,
                rstd,
                dresidual_out,
            ),
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
    dx = _empty_like(x, memory_format=_CONTIGUOUS)
    if (weight) is None:
        raise _missing("rms_norm_bwd", "dweight", ["weight"])
    dweight = _empty_like(weight, memory_format=_CONTIGUOUS)
    (_rms_norm_bwd_op._function or _rms_norm_bwd_op.function)(
        dy, x, weight, rstd, dresidual_out, dx, dweight, eps, offset, rounding, variant
    )
    return dx, dweight


def _rms_norm_bwd_out(
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
    (_rms_norm_bwd_op._function or _rms_norm_bwd_op.function)(
        dy, x, weight, rstd, dresidual_out, dx, dweight, eps, offset, rounding, variant
    )


def _rms_norm_bwd_out_autograd(
    keyset: torch.DispatchKeySet,
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
    if (
        keyset.raw_repr() not in _PLAIN
        or _forward._current_level >= 0
        or (
            _is_grad_enabled()
            and (
                dy.requires_grad
                or x.requires_grad
                or (weight is not None and weight.requires_grad)
                or (rstd is not None and rstd.requires_grad)
                or (dresidual_out is not None and dresidual_out.requires_grad)
                or dx.requires_grad
                or (dweight is not None and dweight.requires_grad)
            )
        )
    ):
        _through_out(
            RMS_NORM_BWD_OUT_FORM,
            keyset,
            (
                dy,
                x,
                weight,
                rstd,
                dresidual_out,
            ),
            {
                "dx": dx,
                "dweight": dweight,
            },
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
        return
    (_rms_norm_bwd_op._function or _rms_norm_bwd_op.function)(
        dy, x, weight, rstd, dresidual_out, dx, dweight, eps, offset, rounding, variant
    )
    _increment_version(
        [
            one
            for one in (
                dx,
                dweight,
            )
            if one is not None
        ]
    )


RMS_NORM_BWD_FORM = Form(
    _rms_norm_bwd_op,
    name="rms_norm_bwd",
    returns=("dx",),
    schema=(
        "(Tensor dy, "
        "Tensor x, "
        "Tensor? weight=None, "
        "Tensor? rstd=None, "
        "Tensor? dresidual_out=None, "
        "*, "
        "float eps=1e-06, "
        "int offset=0, "
        'str rounding="llama", '
        "str? variant=None) -> Tensor"
    ),
    kernel=_rms_norm_bwd,
    autograd=_rms_norm_bwd_autograd,
    fake=_fakes._fake_rms_norm_bwd,
)

RMS_NORM_BWD_DWEIGHT_FORM = Form(
    _rms_norm_bwd_op,
    name="rms_norm_bwd_dweight",
    returns=("dx", "dweight"),
    schema=(
        "(Tensor dy, "
        "Tensor x, "
        "Tensor? weight=None, "
        "Tensor? rstd=None, "
        "Tensor? dresidual_out=None, "
        "*, "
        "float eps=1e-06, "
        "int offset=0, "
        'str rounding="llama", '
        "str? variant=None) -> (Tensor, Tensor)"
    ),
    kernel=_rms_norm_bwd_dweight,
    autograd=_rms_norm_bwd_dweight_autograd,
    fake=_fakes._fake_rms_norm_bwd_dweight,
)

RMS_NORM_BWD_OUT_FORM = Form(
    _rms_norm_bwd_op,
    name="rms_norm_bwd_out",
    returns=(),
    schema=(
        "(Tensor dy, "
        "Tensor x, "
        "Tensor? weight=None, "
        "Tensor? rstd=None, "
        "Tensor? dresidual_out=None, "
        "*, "
        "Tensor(a!) dx, "
        "Tensor(b!)? dweight=None, "
        "float eps=1e-06, "
        "int offset=0, "
        'str rounding="llama", '
        "str? variant=None) -> ()"
    ),
    kernel=_rms_norm_bwd_out,
    autograd=_rms_norm_bwd_out_autograd,
    fake=_fakes._fake_rms_norm_bwd_out,
)


#: Every form of every op.
FORMS: tuple[Form, ...] = (
    SILU_MUL_FORM,
    SILU_MUL_OUT_FORM,
    SILU_MUL_BWD_DGATE_FORM,
    SILU_MUL_BWD_DUP_FORM,
    SILU_MUL_BWD_DPACKED_FORM,
    SILU_MUL_BWD_DGATE_DUP_FORM,
    SILU_MUL_BWD_DGATE_DPACKED_FORM,
    SILU_MUL_BWD_DUP_DPACKED_FORM,
    SILU_MUL_BWD_DGATE_DUP_DPACKED_FORM,
    SILU_MUL_BWD_OUT_FORM,
    GATED_NORM_PAIR_FORM,
    GATED_NORM_PAIR_OUT_FORM,
    GATED_RMS_NORM_FORM,
    GATED_RMS_NORM_OUT_FORM,
    RMS_NORM_FORM,
    RMS_NORM_RESIDUAL_OUT_FORM,
    RMS_NORM_RSTD_FORM,
    RMS_NORM_RESIDUAL_OUT_RSTD_FORM,
    RMS_NORM_OUT_FORM,
    RMS_NORM_BWD_FORM,
    RMS_NORM_BWD_DWEIGHT_FORM,
    RMS_NORM_BWD_OUT_FORM,
)
