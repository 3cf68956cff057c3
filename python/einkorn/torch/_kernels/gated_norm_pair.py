"""The forms of gated_norm_pair.

Written by scripts/generate_python.py from the ops' declarations: do not edit.
"""

# mypy: disable-error-code="union-attr"

import torch
from torch import Tensor, is_grad_enabled
from torch.autograd import forward_ad

from ... import ops
from .._allocation import CONTIGUOUS, PLAIN, empty_like
from .._autograd import increment_version, through, through_out
from .._fakes import fake, fake_out
from .._forms import Form

_op = ops.TABLE["gated_norm_pair"]


def _gated_norm_pair(
    gate: Tensor,
    up: Tensor,
    gate_weight: Tensor,
    up_weight: Tensor,
    eps: float = 1e-06,
    variant: str | None = None,
) -> Tensor:
    y = empty_like(gate, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(gate, up, gate_weight, up_weight, y, eps, variant)
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
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (
            is_grad_enabled()
            and (
                gate.requires_grad
                or up.requires_grad
                or gate_weight.requires_grad
                or up_weight.requires_grad
            )
        )
    ):
        return through(
            GATED_NORM_PAIR_FORM,
            keyset,
            (gate, up, gate_weight, up_weight),
            {"eps": eps, "variant": variant},
        )
    y = empty_like(gate, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(gate, up, gate_weight, up_weight, y, eps, variant)
    return y


def _fake_gated_norm_pair(
    gate: Tensor, up: Tensor, gate_weight: Tensor, up_weight: Tensor, **_: object
) -> Tensor:
    return fake(GATED_NORM_PAIR_FORM, gate, up, gate_weight, up_weight)


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
    (_op._torch_function or _op.torch_function)(gate, up, gate_weight, up_weight, y, eps, variant)


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
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (
            is_grad_enabled()
            and (
                gate.requires_grad
                or up.requires_grad
                or gate_weight.requires_grad
                or up_weight.requires_grad
                or y.requires_grad
            )
        )
    ):
        through_out(
            GATED_NORM_PAIR_OUT_FORM,
            keyset,
            (gate, up, gate_weight, up_weight),
            {"y": y},
            {"eps": eps, "variant": variant},
        )
        return
    (_op._torch_function or _op.torch_function)(gate, up, gate_weight, up_weight, y, eps, variant)
    increment_version((y,))


def _fake_gated_norm_pair_out(
    gate: Tensor, up: Tensor, gate_weight: Tensor, up_weight: Tensor, *, y: Tensor, **_: object
) -> None:
    fake_out(GATED_NORM_PAIR_OUT_FORM, (gate, up, gate_weight, up_weight), (y,))


GATED_NORM_PAIR_FORM = Form(
    _op,
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
    fake=_fake_gated_norm_pair,
)

GATED_NORM_PAIR_OUT_FORM = Form(
    _op,
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
    fake=_fake_gated_norm_pair_out,
)

FORMS: tuple[Form, ...] = (GATED_NORM_PAIR_FORM, GATED_NORM_PAIR_OUT_FORM)
