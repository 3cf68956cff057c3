"""The forms of qk_norm.

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

_op = ops.TABLE["qk_norm"]


def _qk_norm(
    q: Tensor,
    k: Tensor,
    q_weight: Tensor | None = None,
    k_weight: Tensor | None = None,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> tuple[Tensor, Tensor]:
    q_out = empty_like(q, memory_format=CONTIGUOUS)
    k_out = empty_like(k, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
        q, k, q_weight, k_weight, q_out, k_out, eps, offset, rounding, variant
    )
    return q_out, k_out


def _qk_norm_autograd(
    keyset: torch.DispatchKeySet,
    q: Tensor,
    k: Tensor,
    q_weight: Tensor | None = None,
    k_weight: Tensor | None = None,
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
                q.requires_grad
                or k.requires_grad
                or (q_weight is not None and q_weight.requires_grad)
                or (k_weight is not None and k_weight.requires_grad)
            )
        )
    ):
        return through(
            QK_NORM_FORM,
            keyset,
            (q, k, q_weight, k_weight),
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
    q_out = empty_like(q, memory_format=CONTIGUOUS)
    k_out = empty_like(k, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
        q, k, q_weight, k_weight, q_out, k_out, eps, offset, rounding, variant
    )
    return q_out, k_out


def _fake_qk_norm(
    q: Tensor,
    k: Tensor,
    q_weight: Tensor | None = None,
    k_weight: Tensor | None = None,
    **_: object,
) -> tuple[Tensor, Tensor]:
    return fake(QK_NORM_FORM, q, k, q_weight, k_weight)


def _qk_norm_out(
    q: Tensor,
    k: Tensor,
    q_weight: Tensor | None = None,
    k_weight: Tensor | None = None,
    *,
    q_out: Tensor,
    k_out: Tensor,
    eps: float = 1e-06,
    offset: int = 0,
    rounding: str = "llama",
    variant: str | None = None,
) -> None:
    (_op._torch_function or _op.torch_function)(
        q, k, q_weight, k_weight, q_out, k_out, eps, offset, rounding, variant
    )


def _qk_norm_out_autograd(
    keyset: torch.DispatchKeySet,
    q: Tensor,
    k: Tensor,
    q_weight: Tensor | None = None,
    k_weight: Tensor | None = None,
    *,
    q_out: Tensor,
    k_out: Tensor,
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
                q.requires_grad
                or k.requires_grad
                or (q_weight is not None and q_weight.requires_grad)
                or (k_weight is not None and k_weight.requires_grad)
                or q_out.requires_grad
                or k_out.requires_grad
            )
        )
    ):
        through_out(
            QK_NORM_OUT_FORM,
            keyset,
            (q, k, q_weight, k_weight),
            {"q_out": q_out, "k_out": k_out},
            {"eps": eps, "offset": offset, "rounding": rounding, "variant": variant},
        )
        return
    (_op._torch_function or _op.torch_function)(
        q, k, q_weight, k_weight, q_out, k_out, eps, offset, rounding, variant
    )
    increment_version((q_out, k_out))


def _fake_qk_norm_out(
    q: Tensor,
    k: Tensor,
    q_weight: Tensor | None = None,
    k_weight: Tensor | None = None,
    *,
    q_out: Tensor,
    k_out: Tensor,
    **_: object,
) -> None:
    fake_out(QK_NORM_OUT_FORM, (q, k, q_weight, k_weight), (q_out, k_out))


QK_NORM_FORM = Form(
    _op,
    name="qk_norm",
    returns=("q_out", "k_out"),
    schema=(
        "(Tensor q, "
        "Tensor k, "
        "Tensor? q_weight=None, "
        "Tensor? k_weight=None, "
        "*, "
        "float eps=1e-06, "
        "int offset=0, "
        'str rounding="llama", '
        "str? variant=None) -> (Tensor, Tensor)"
    ),
    kernel=_qk_norm,
    autograd=_qk_norm_autograd,
    fake=_fake_qk_norm,
)

QK_NORM_OUT_FORM = Form(
    _op,
    name="qk_norm_out",
    returns=(),
    schema=(
        "(Tensor q, "
        "Tensor k, "
        "Tensor? q_weight=None, "
        "Tensor? k_weight=None, "
        "*, "
        "Tensor(a!) q_out, "
        "Tensor(b!) k_out, "
        "float eps=1e-06, "
        "int offset=0, "
        'str rounding="llama", '
        "str? variant=None) -> ()"
    ),
    kernel=_qk_norm_out,
    autograd=_qk_norm_out_autograd,
    fake=_fake_qk_norm_out,
)

FORMS: tuple[Form, ...] = (QK_NORM_FORM, QK_NORM_OUT_FORM)
