"""The forms of rms_norm.

Written by scripts/generate_python.py from the ops' declarations: do not edit.
"""

# mypy: disable-error-code="union-attr"

import torch
from torch import Tensor, is_grad_enabled
from torch.autograd import forward_ad

from ... import ops
from ..._dispatch import missing
from .._allocation import CONTIGUOUS, PLAIN, empty_like, f32_plus
from .._autograd import increment_version, through, through_out
from .._fakes import fake, fake_out
from .._forms import Form

_op = ops.TABLE["rms_norm"]


def _rms_norm(
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> Tensor:
    y = empty_like(x, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
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
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (
            is_grad_enabled()
            and (
                x.requires_grad
                or (weight is not None and weight.requires_grad)
                or (residual is not None and residual.requires_grad)
            )
        )
    ):
        return through(
            RMS_NORM_FORM,
            keyset,
            (x, weight, residual),
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
    y = empty_like(x, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
        x, weight, residual, y, None, None, eps, offset, rounding, variant
    )
    return y


def _fake_rms_norm(
    x: Tensor, weight: Tensor | None = None, residual: Tensor | None = None, **_: object
) -> Tensor:
    return fake(RMS_NORM_FORM, x, weight, residual)


def _rms_norm_residual_out(
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> tuple[Tensor, Tensor]:
    y = empty_like(x, memory_format=CONTIGUOUS)
    if residual is None:
        raise missing(_op, "residual_out")
    residual_out = empty_like(residual, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
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
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (
            is_grad_enabled()
            and (
                x.requires_grad
                or (weight is not None and weight.requires_grad)
                or (residual is not None and residual.requires_grad)
            )
        )
    ):
        return through(
            RMS_NORM_RESIDUAL_OUT_FORM,
            keyset,
            (x, weight, residual),
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
    y = empty_like(x, memory_format=CONTIGUOUS)
    if residual is None:
        raise missing(_op, "residual_out")
    residual_out = empty_like(residual, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
        x, weight, residual, y, residual_out, None, eps, offset, rounding, variant
    )
    return y, residual_out


def _fake_rms_norm_residual_out(
    x: Tensor, weight: Tensor | None = None, residual: Tensor | None = None, **_: object
) -> tuple[Tensor, Tensor]:
    return fake(RMS_NORM_RESIDUAL_OUT_FORM, x, weight, residual)


def _rms_norm_rstd(
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> tuple[Tensor, Tensor]:
    y = empty_like(x, memory_format=CONTIGUOUS)
    rstd = x.new_empty(x.shape[:-1], dtype=f32_plus(x))
    (_op._torch_function or _op.torch_function)(
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
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (
            is_grad_enabled()
            and (
                x.requires_grad
                or (weight is not None and weight.requires_grad)
                or (residual is not None and residual.requires_grad)
            )
        )
    ):
        return through(
            RMS_NORM_RSTD_FORM,
            keyset,
            (x, weight, residual),
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
    y = empty_like(x, memory_format=CONTIGUOUS)
    rstd = x.new_empty(x.shape[:-1], dtype=f32_plus(x))
    (_op._torch_function or _op.torch_function)(
        x, weight, residual, y, None, rstd, eps, offset, rounding, variant
    )
    return y, rstd


def _fake_rms_norm_rstd(
    x: Tensor, weight: Tensor | None = None, residual: Tensor | None = None, **_: object
) -> tuple[Tensor, Tensor]:
    return fake(RMS_NORM_RSTD_FORM, x, weight, residual)


def _rms_norm_residual_out_rstd(
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    y = empty_like(x, memory_format=CONTIGUOUS)
    if residual is None:
        raise missing(_op, "residual_out")
    residual_out = empty_like(residual, memory_format=CONTIGUOUS)
    rstd = x.new_empty(x.shape[:-1], dtype=f32_plus(x))
    (_op._torch_function or _op.torch_function)(
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
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (
            is_grad_enabled()
            and (
                x.requires_grad
                or (weight is not None and weight.requires_grad)
                or (residual is not None and residual.requires_grad)
            )
        )
    ):
        return through(
            RMS_NORM_RESIDUAL_OUT_RSTD_FORM,
            keyset,
            (x, weight, residual),
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
    y = empty_like(x, memory_format=CONTIGUOUS)
    if residual is None:
        raise missing(_op, "residual_out")
    residual_out = empty_like(residual, memory_format=CONTIGUOUS)
    rstd = x.new_empty(x.shape[:-1], dtype=f32_plus(x))
    (_op._torch_function or _op.torch_function)(
        x, weight, residual, y, residual_out, rstd, eps, offset, rounding, variant
    )
    return y, residual_out, rstd


def _fake_rms_norm_residual_out_rstd(
    x: Tensor, weight: Tensor | None = None, residual: Tensor | None = None, **_: object
) -> tuple[Tensor, Tensor, Tensor]:
    return fake(RMS_NORM_RESIDUAL_OUT_RSTD_FORM, x, weight, residual)


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
    (_op._torch_function or _op.torch_function)(
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
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (
            is_grad_enabled()
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
        through_out(
            RMS_NORM_OUT_FORM,
            keyset,
            (x, weight, residual),
            {"y": y, "residual_out": residual_out, "rstd": rstd},
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
        return
    (_op._torch_function or _op.torch_function)(
        x, weight, residual, y, residual_out, rstd, eps, offset, rounding, variant
    )
    increment_version([one for one in (y, residual_out, rstd) if one is not None])


def _fake_rms_norm_out(
    x: Tensor,
    weight: Tensor | None = None,
    residual: Tensor | None = None,
    *,
    y: Tensor,
    residual_out: Tensor | None = None,
    rstd: Tensor | None = None,
    **_: object,
) -> None:
    fake_out(RMS_NORM_OUT_FORM, (x, weight, residual), (y, residual_out, rstd))


RMS_NORM_FORM = Form(
    _op,
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
    fake=_fake_rms_norm,
)

RMS_NORM_RESIDUAL_OUT_FORM = Form(
    _op,
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
    fake=_fake_rms_norm_residual_out,
)

RMS_NORM_RSTD_FORM = Form(
    _op,
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
    fake=_fake_rms_norm_rstd,
)

RMS_NORM_RESIDUAL_OUT_RSTD_FORM = Form(
    _op,
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
    fake=_fake_rms_norm_residual_out_rstd,
)

RMS_NORM_OUT_FORM = Form(
    _op,
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
    fake=_fake_rms_norm_out,
)

FORMS: tuple[Form, ...] = (
    RMS_NORM_FORM,
    RMS_NORM_RESIDUAL_OUT_FORM,
    RMS_NORM_RSTD_FORM,
    RMS_NORM_RESIDUAL_OUT_RSTD_FORM,
    RMS_NORM_OUT_FORM,
)
