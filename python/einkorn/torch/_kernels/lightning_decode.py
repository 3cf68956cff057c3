"""The forms of lightning_decode.

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

_op = ops.TABLE["lightning_decode"]


def _lightning_decode(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    state: Tensor,
    state_indices: Tensor | None = None,
    accepted: Tensor | None = None,
    scale: float = 0.0,
    gate: str = "log",
    l2norm: bool = False,
    state_layout: str = "vk",
    variant: str | None = None,
) -> Tensor:
    o = empty_like(v, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
        q,
        k,
        v,
        decay,
        state,
        state_indices,
        accepted,
        o,
        scale,
        gate,
        l2norm,
        state_layout,
        variant,
    )
    return o


def _lightning_decode_autograd(
    keyset: torch.DispatchKeySet,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    state: Tensor,
    state_indices: Tensor | None = None,
    accepted: Tensor | None = None,
    scale: float = 0.0,
    gate: str = "log",
    l2norm: bool = False,
    state_layout: str = "vk",
    variant: str | None = None,
) -> Tensor:
    if (
        keyset.raw_repr() not in PLAIN
        or forward_ad._current_level >= 0
        or (
            is_grad_enabled()
            and (
                q.requires_grad
                or k.requires_grad
                or v.requires_grad
                or decay.requires_grad
                or state.requires_grad
                or (state_indices is not None and state_indices.requires_grad)
                or (accepted is not None and accepted.requires_grad)
            )
        )
    ):
        return through(
            LIGHTNING_DECODE_FORM,
            keyset,
            (q, k, v, decay, state, state_indices, accepted),
            {
                "scale": scale,
                "gate": gate,
                "l2norm": l2norm,
                "state_layout": state_layout,
                "variant": variant,
            },
        )
    o = empty_like(v, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
        q,
        k,
        v,
        decay,
        state,
        state_indices,
        accepted,
        o,
        scale,
        gate,
        l2norm,
        state_layout,
        variant,
    )
    increment_version((state,))
    return o


def _fake_lightning_decode(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    state: Tensor,
    state_indices: Tensor | None = None,
    accepted: Tensor | None = None,
    **_: object,
) -> Tensor:
    return fake(LIGHTNING_DECODE_FORM, q, k, v, decay, state, state_indices, accepted)


def _lightning_decode_out(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    state: Tensor,
    state_indices: Tensor | None = None,
    accepted: Tensor | None = None,
    *,
    o: Tensor,
    scale: float = 0.0,
    gate: str = "log",
    l2norm: bool = False,
    state_layout: str = "vk",
    variant: str | None = None,
) -> None:
    (_op._torch_function or _op.torch_function)(
        q,
        k,
        v,
        decay,
        state,
        state_indices,
        accepted,
        o,
        scale,
        gate,
        l2norm,
        state_layout,
        variant,
    )


def _lightning_decode_out_autograd(
    keyset: torch.DispatchKeySet,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    state: Tensor,
    state_indices: Tensor | None = None,
    accepted: Tensor | None = None,
    *,
    o: Tensor,
    scale: float = 0.0,
    gate: str = "log",
    l2norm: bool = False,
    state_layout: str = "vk",
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
                or v.requires_grad
                or decay.requires_grad
                or state.requires_grad
                or (state_indices is not None and state_indices.requires_grad)
                or (accepted is not None and accepted.requires_grad)
                or o.requires_grad
            )
        )
    ):
        through_out(
            LIGHTNING_DECODE_OUT_FORM,
            keyset,
            (q, k, v, decay, state, state_indices, accepted),
            {"o": o},
            {
                "scale": scale,
                "gate": gate,
                "l2norm": l2norm,
                "state_layout": state_layout,
                "variant": variant,
            },
        )
        return
    (_op._torch_function or _op.torch_function)(
        q,
        k,
        v,
        decay,
        state,
        state_indices,
        accepted,
        o,
        scale,
        gate,
        l2norm,
        state_layout,
        variant,
    )
    increment_version((o, state))


def _fake_lightning_decode_out(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    state: Tensor,
    state_indices: Tensor | None = None,
    accepted: Tensor | None = None,
    *,
    o: Tensor,
    **_: object,
) -> None:
    fake_out(LIGHTNING_DECODE_OUT_FORM, (q, k, v, decay, state, state_indices, accepted), (o,))


LIGHTNING_DECODE_FORM = Form(
    _op,
    name="lightning_decode",
    returns=("o",),
    schema=(
        "(Tensor q, "
        "Tensor k, "
        "Tensor v, "
        "Tensor decay, "
        "Tensor(a!) state, "
        "Tensor? state_indices=None, "
        "Tensor? accepted=None, "
        "*, "
        "float scale=0.0, "
        'str gate="log", '
        "bool l2norm=False, "
        'str state_layout="vk", '
        "str? variant=None) -> Tensor"
    ),
    kernel=_lightning_decode,
    autograd=_lightning_decode_autograd,
    fake=_fake_lightning_decode,
)

LIGHTNING_DECODE_OUT_FORM = Form(
    _op,
    name="lightning_decode_out",
    returns=(),
    schema=(
        "(Tensor q, "
        "Tensor k, "
        "Tensor v, "
        "Tensor decay, "
        "Tensor(a!) state, "
        "Tensor? state_indices=None, "
        "Tensor? accepted=None, "
        "*, "
        "Tensor(b!) o, "
        "float scale=0.0, "
        'str gate="log", '
        "bool l2norm=False, "
        'str state_layout="vk", '
        "str? variant=None) -> ()"
    ),
    kernel=_lightning_decode_out,
    autograd=_lightning_decode_out_autograd,
    fake=_fake_lightning_decode_out,
)

FORMS: tuple[Form, ...] = (LIGHTNING_DECODE_FORM, LIGHTNING_DECODE_OUT_FORM)
