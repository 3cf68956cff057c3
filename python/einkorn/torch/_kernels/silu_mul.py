"""The forms of silu_mul.

Written by scripts/generate_python.py from the ops' declarations: do not edit.
"""

# mypy: disable-error-code="union-attr"

import torch
from torch import Tensor, is_grad_enabled
from torch.autograd import forward_ad

from ... import ops
from ..._dispatch import missing
from .._allocation import PLAIN, shaped
from .._autograd import increment_version, through, through_out
from .._fakes import fake, fake_out
from .._forms import Form

_op = ops.TABLE["silu_mul"]


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
        raise missing(_op, "y")
    try:
        shape = gate.shape if packed is None else (*packed.shape[:-1], packed.shape[-1] // 2)
    except IndexError:
        shape = ()
    y = shaped(gate if packed is None else packed, shape)
    (_op._torch_function or _op.torch_function)(
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
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (
            is_grad_enabled()
            and (
                (gate is not None and gate.requires_grad)
                or (up is not None and up.requires_grad)
                or (packed is not None and packed.requires_grad)
            )
        )
    ):
        return through(
            SILU_MUL_FORM,
            keyset,
            (gate, up, packed),
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
        raise missing(_op, "y")
    try:
        shape = gate.shape if packed is None else (*packed.shape[:-1], packed.shape[-1] // 2)
    except IndexError:
        shape = ()
    y = shaped(gate if packed is None else packed, shape)
    (_op._torch_function or _op.torch_function)(
        gate, up, packed, y, packing, clamp, limit, alpha, up_offset, rounding, variant
    )
    return y


def _fake_silu_mul(
    gate: Tensor | None = None, up: Tensor | None = None, packed: Tensor | None = None, **_: object
) -> Tensor:
    return fake(SILU_MUL_FORM, gate, up, packed)


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
    (_op._torch_function or _op.torch_function)(
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
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (
            is_grad_enabled()
            and (
                (gate is not None and gate.requires_grad)
                or (up is not None and up.requires_grad)
                or (packed is not None and packed.requires_grad)
                or y.requires_grad
            )
        )
    ):
        through_out(
            SILU_MUL_OUT_FORM,
            keyset,
            (gate, up, packed),
            {"y": y},
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
        gate, up, packed, y, packing, clamp, limit, alpha, up_offset, rounding, variant
    )
    increment_version((y,))


def _fake_silu_mul_out(
    gate: Tensor | None = None,
    up: Tensor | None = None,
    packed: Tensor | None = None,
    *,
    y: Tensor,
    **_: object,
) -> None:
    fake_out(SILU_MUL_OUT_FORM, (gate, up, packed), (y,))


SILU_MUL_FORM = Form(
    _op,
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
    fake=_fake_silu_mul,
)

SILU_MUL_OUT_FORM = Form(
    _op,
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
    fake=_fake_silu_mul_out,
)

FORMS: tuple[Form, ...] = (SILU_MUL_FORM, SILU_MUL_OUT_FORM)
