"""The forms of silu_mul_bwd.

Written by scripts/generate_python.py from the ops' declarations: do not edit.
"""

# mypy: disable-error-code="union-attr"

import torch
from torch import Tensor, is_grad_enabled
from torch.autograd import forward_ad

from ... import ops
from ..._dispatch import missing
from .._allocation import CONTIGUOUS, PLAIN, empty_like
from .._autograd import increment_version, through, through_out
from .._fakes import fake, fake_out
from .._forms import Form

_op = ops.TABLE["silu_mul_bwd"]


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
    if gate is None:
        raise missing(_op, "dgate")
    dgate = empty_like(gate, memory_format=CONTIGUOUS)
    if up is None:
        raise missing(_op, "dup")
    dup = empty_like(up, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
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
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (
            is_grad_enabled()
            and (
                dy.requires_grad
                or (gate is not None and gate.requires_grad)
                or (up is not None and up.requires_grad)
                or (packed is not None and packed.requires_grad)
            )
        )
    ):
        return through(
            SILU_MUL_BWD_DGATE_DUP_FORM,
            keyset,
            (dy, gate, up, packed),
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
    if gate is None:
        raise missing(_op, "dgate")
    dgate = empty_like(gate, memory_format=CONTIGUOUS)
    if up is None:
        raise missing(_op, "dup")
    dup = empty_like(up, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
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


def _fake_silu_mul_bwd_dgate_dup(
    dy: Tensor,
    gate: Tensor | None = None,
    up: Tensor | None = None,
    packed: Tensor | None = None,
    **_: object,
) -> tuple[Tensor, Tensor]:
    return fake(SILU_MUL_BWD_DGATE_DUP_FORM, dy, gate, up, packed)


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
    if packed is None:
        raise missing(_op, "dpacked")
    dpacked = empty_like(packed, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
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
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (
            is_grad_enabled()
            and (
                dy.requires_grad
                or (gate is not None and gate.requires_grad)
                or (up is not None and up.requires_grad)
                or (packed is not None and packed.requires_grad)
            )
        )
    ):
        return through(
            SILU_MUL_BWD_DPACKED_FORM,
            keyset,
            (dy, gate, up, packed),
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
    if packed is None:
        raise missing(_op, "dpacked")
    dpacked = empty_like(packed, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
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


def _fake_silu_mul_bwd_dpacked(
    dy: Tensor,
    gate: Tensor | None = None,
    up: Tensor | None = None,
    packed: Tensor | None = None,
    **_: object,
) -> Tensor:
    return fake(SILU_MUL_BWD_DPACKED_FORM, dy, gate, up, packed)


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
    (_op._torch_function or _op.torch_function)(
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
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (
            is_grad_enabled()
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
        through_out(
            SILU_MUL_BWD_OUT_FORM,
            keyset,
            (dy, gate, up, packed),
            {"dgate": dgate, "dup": dup, "dpacked": dpacked},
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
    (_op._torch_function or _op.torch_function)(
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
    increment_version([one for one in (dgate, dup, dpacked) if one is not None])


def _fake_silu_mul_bwd_out(
    dy: Tensor,
    gate: Tensor | None = None,
    up: Tensor | None = None,
    packed: Tensor | None = None,
    *,
    dgate: Tensor | None = None,
    dup: Tensor | None = None,
    dpacked: Tensor | None = None,
    **_: object,
) -> None:
    fake_out(SILU_MUL_BWD_OUT_FORM, (dy, gate, up, packed), (dgate, dup, dpacked))


SILU_MUL_BWD_DGATE_DUP_FORM = Form(
    _op,
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
    fake=_fake_silu_mul_bwd_dgate_dup,
)

SILU_MUL_BWD_DPACKED_FORM = Form(
    _op,
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
    fake=_fake_silu_mul_bwd_dpacked,
)

SILU_MUL_BWD_OUT_FORM = Form(
    _op,
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
    fake=_fake_silu_mul_bwd_out,
)

FORMS: tuple[Form, ...] = (
    SILU_MUL_BWD_DGATE_DUP_FORM,
    SILU_MUL_BWD_DPACKED_FORM,
    SILU_MUL_BWD_OUT_FORM,
)
