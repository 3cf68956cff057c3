"""The forms of gated_rms_norm.

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

_op = ops.TABLE["gated_rms_norm"]


def _gated_rms_norm(
    x: Tensor, gate: Tensor, weight: Tensor, eps: float = 1e-06, variant: str | None = None
) -> Tensor:
    y = empty_like(x, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(x, gate, weight, y, eps, variant)
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
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (is_grad_enabled() and (x.requires_grad or gate.requires_grad or weight.requires_grad))
    ):
        return through(
            GATED_RMS_NORM_FORM, keyset, (x, gate, weight), {"eps": eps, "variant": variant}
        )
    y = empty_like(x, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(x, gate, weight, y, eps, variant)
    return y


def _fake_gated_rms_norm(x: Tensor, gate: Tensor, weight: Tensor, **_: object) -> Tensor:
    return fake(GATED_RMS_NORM_FORM, x, gate, weight)


def _gated_rms_norm_out(
    x: Tensor,
    gate: Tensor,
    weight: Tensor,
    *,
    y: Tensor,
    eps: float = 1e-06,
    variant: str | None = None,
) -> None:
    (_op._torch_function or _op.torch_function)(x, gate, weight, y, eps, variant)


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
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (
            is_grad_enabled()
            and (x.requires_grad or gate.requires_grad or weight.requires_grad or y.requires_grad)
        )
    ):
        through_out(
            GATED_RMS_NORM_OUT_FORM,
            keyset,
            (x, gate, weight),
            {"y": y},
            {"eps": eps, "variant": variant},
        )
        return
    (_op._torch_function or _op.torch_function)(x, gate, weight, y, eps, variant)
    increment_version((y,))


def _fake_gated_rms_norm_out(
    x: Tensor, gate: Tensor, weight: Tensor, *, y: Tensor, **_: object
) -> None:
    fake_out(GATED_RMS_NORM_OUT_FORM, (x, gate, weight), (y,))


GATED_RMS_NORM_FORM = Form(
    _op,
    name="gated_rms_norm",
    returns=("y",),
    schema=(
        "(Tensor x, Tensor gate, Tensor weight, *, float eps=1e-06, str? variant=None) -> Tensor"
    ),
    kernel=_gated_rms_norm,
    autograd=_gated_rms_norm_autograd,
    fake=_fake_gated_rms_norm,
)

GATED_RMS_NORM_OUT_FORM = Form(
    _op,
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
    fake=_fake_gated_rms_norm_out,
)

FORMS: tuple[Form, ...] = (GATED_RMS_NORM_FORM, GATED_RMS_NORM_OUT_FORM)
