"""The forms of rms_norm_bwd.

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

_op = ops.TABLE["rms_norm_bwd"]


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
    dx = empty_like(x, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
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
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (
            is_grad_enabled()
            and (
                dy.requires_grad
                or x.requires_grad
                or (weight is not None and weight.requires_grad)
                or (rstd is not None and rstd.requires_grad)
                or (dresidual_out is not None and dresidual_out.requires_grad)
            )
        )
    ):
        return through(
            RMS_NORM_BWD_FORM,
            keyset,
            (dy, x, weight, rstd, dresidual_out),
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
    dx = empty_like(x, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
        dy, x, weight, rstd, dresidual_out, dx, None, eps, offset, rounding, variant
    )
    return dx


def _fake_rms_norm_bwd(
    dy: Tensor,
    x: Tensor,
    weight: Tensor | None = None,
    rstd: Tensor | None = None,
    dresidual_out: Tensor | None = None,
    **_: object,
) -> Tensor:
    return fake(RMS_NORM_BWD_FORM, dy, x, weight, rstd, dresidual_out)


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
    dx = empty_like(x, memory_format=CONTIGUOUS)
    if weight is None:
        raise missing(_op, "dweight")
    dweight = empty_like(weight, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
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
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (
            is_grad_enabled()
            and (
                dy.requires_grad
                or x.requires_grad
                or (weight is not None and weight.requires_grad)
                or (rstd is not None and rstd.requires_grad)
                or (dresidual_out is not None and dresidual_out.requires_grad)
            )
        )
    ):
        return through(
            RMS_NORM_BWD_DWEIGHT_FORM,
            keyset,
            (dy, x, weight, rstd, dresidual_out),
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
    dx = empty_like(x, memory_format=CONTIGUOUS)
    if weight is None:
        raise missing(_op, "dweight")
    dweight = empty_like(weight, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
        dy, x, weight, rstd, dresidual_out, dx, dweight, eps, offset, rounding, variant
    )
    return dx, dweight


def _fake_rms_norm_bwd_dweight(
    dy: Tensor,
    x: Tensor,
    weight: Tensor | None = None,
    rstd: Tensor | None = None,
    dresidual_out: Tensor | None = None,
    **_: object,
) -> tuple[Tensor, Tensor]:
    return fake(RMS_NORM_BWD_DWEIGHT_FORM, dy, x, weight, rstd, dresidual_out)


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
    (_op._torch_function or _op.torch_function)(
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
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (
            is_grad_enabled()
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
        through_out(
            RMS_NORM_BWD_OUT_FORM,
            keyset,
            (dy, x, weight, rstd, dresidual_out),
            {"dx": dx, "dweight": dweight},
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
        return
    (_op._torch_function or _op.torch_function)(
        dy, x, weight, rstd, dresidual_out, dx, dweight, eps, offset, rounding, variant
    )
    increment_version([one for one in (dx, dweight) if one is not None])


def _fake_rms_norm_bwd_out(
    dy: Tensor,
    x: Tensor,
    weight: Tensor | None = None,
    rstd: Tensor | None = None,
    dresidual_out: Tensor | None = None,
    *,
    dx: Tensor,
    dweight: Tensor | None = None,
    **_: object,
) -> None:
    fake_out(RMS_NORM_BWD_OUT_FORM, (dy, x, weight, rstd, dresidual_out), (dx, dweight))


RMS_NORM_BWD_FORM = Form(
    _op,
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
    fake=_fake_rms_norm_bwd,
)

RMS_NORM_BWD_DWEIGHT_FORM = Form(
    _op,
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
    fake=_fake_rms_norm_bwd_dweight,
)

RMS_NORM_BWD_OUT_FORM = Form(
    _op,
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
    fake=_fake_rms_norm_bwd_out,
)

FORMS: tuple[Form, ...] = (RMS_NORM_BWD_FORM, RMS_NORM_BWD_DWEIGHT_FORM, RMS_NORM_BWD_OUT_FORM)
