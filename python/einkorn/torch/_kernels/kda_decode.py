"""The forms of kda_decode.

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

_op = ops.TABLE["kda_decode"]


def _kda_decode(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    g: Tensor,
    beta: Tensor,
    state: Tensor,
    a_log: Tensor | None = None,
    dt_bias: Tensor | None = None,
    state_indices: Tensor | None = None,
    accepted: Tensor | None = None,
    scale: float = 0.0,
    lower_bound: float = -5.0,
    gate: str = "log",
    beta_form: str = "probability",
    negative_eigenvalues: bool = False,
    l2norm: bool = False,
    state_layout: str = "vk",
    variant: str | None = None,
) -> Tensor:
    o = empty_like(v, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
        q,
        k,
        v,
        g,
        beta,
        state,
        a_log,
        dt_bias,
        state_indices,
        accepted,
        o,
        scale,
        lower_bound,
        gate,
        beta_form,
        negative_eigenvalues,
        l2norm,
        state_layout,
        variant,
    )
    return o


def _kda_decode_autograd(
    keyset: torch.DispatchKeySet,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    g: Tensor,
    beta: Tensor,
    state: Tensor,
    a_log: Tensor | None = None,
    dt_bias: Tensor | None = None,
    state_indices: Tensor | None = None,
    accepted: Tensor | None = None,
    scale: float = 0.0,
    lower_bound: float = -5.0,
    gate: str = "log",
    beta_form: str = "probability",
    negative_eigenvalues: bool = False,
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
                or g.requires_grad
                or beta.requires_grad
                or state.requires_grad
                or (a_log is not None and a_log.requires_grad)
                or (dt_bias is not None and dt_bias.requires_grad)
                or (state_indices is not None and state_indices.requires_grad)
                or (accepted is not None and accepted.requires_grad)
            )
        )
    ):
        return through(
            KDA_DECODE_FORM,
            keyset,
            (q, k, v, g, beta, state, a_log, dt_bias, state_indices, accepted),
            {
                "scale": scale,
                "lower_bound": lower_bound,
                "gate": gate,
                "beta_form": beta_form,
                "negative_eigenvalues": negative_eigenvalues,
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
        g,
        beta,
        state,
        a_log,
        dt_bias,
        state_indices,
        accepted,
        o,
        scale,
        lower_bound,
        gate,
        beta_form,
        negative_eigenvalues,
        l2norm,
        state_layout,
        variant,
    )
    increment_version((state,))
    return o


def _fake_kda_decode(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    g: Tensor,
    beta: Tensor,
    state: Tensor,
    a_log: Tensor | None = None,
    dt_bias: Tensor | None = None,
    state_indices: Tensor | None = None,
    accepted: Tensor | None = None,
    **_: object,
) -> Tensor:
    return fake(KDA_DECODE_FORM, q, k, v, g, beta, state, a_log, dt_bias, state_indices, accepted)


def _kda_decode_out(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    g: Tensor,
    beta: Tensor,
    state: Tensor,
    a_log: Tensor | None = None,
    dt_bias: Tensor | None = None,
    state_indices: Tensor | None = None,
    accepted: Tensor | None = None,
    *,
    o: Tensor,
    scale: float = 0.0,
    lower_bound: float = -5.0,
    gate: str = "log",
    beta_form: str = "probability",
    negative_eigenvalues: bool = False,
    l2norm: bool = False,
    state_layout: str = "vk",
    variant: str | None = None,
) -> None:
    (_op._torch_function or _op.torch_function)(
        q,
        k,
        v,
        g,
        beta,
        state,
        a_log,
        dt_bias,
        state_indices,
        accepted,
        o,
        scale,
        lower_bound,
        gate,
        beta_form,
        negative_eigenvalues,
        l2norm,
        state_layout,
        variant,
    )


def _kda_decode_out_autograd(
    keyset: torch.DispatchKeySet,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    g: Tensor,
    beta: Tensor,
    state: Tensor,
    a_log: Tensor | None = None,
    dt_bias: Tensor | None = None,
    state_indices: Tensor | None = None,
    accepted: Tensor | None = None,
    *,
    o: Tensor,
    scale: float = 0.0,
    lower_bound: float = -5.0,
    gate: str = "log",
    beta_form: str = "probability",
    negative_eigenvalues: bool = False,
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
                or g.requires_grad
                or beta.requires_grad
                or state.requires_grad
                or (a_log is not None and a_log.requires_grad)
                or (dt_bias is not None and dt_bias.requires_grad)
                or (state_indices is not None and state_indices.requires_grad)
                or (accepted is not None and accepted.requires_grad)
                or o.requires_grad
            )
        )
    ):
        through_out(
            KDA_DECODE_OUT_FORM,
            keyset,
            (q, k, v, g, beta, state, a_log, dt_bias, state_indices, accepted),
            {"o": o},
            {
                "scale": scale,
                "lower_bound": lower_bound,
                "gate": gate,
                "beta_form": beta_form,
                "negative_eigenvalues": negative_eigenvalues,
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
        g,
        beta,
        state,
        a_log,
        dt_bias,
        state_indices,
        accepted,
        o,
        scale,
        lower_bound,
        gate,
        beta_form,
        negative_eigenvalues,
        l2norm,
        state_layout,
        variant,
    )
    increment_version((o, state))


def _fake_kda_decode_out(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    g: Tensor,
    beta: Tensor,
    state: Tensor,
    a_log: Tensor | None = None,
    dt_bias: Tensor | None = None,
    state_indices: Tensor | None = None,
    accepted: Tensor | None = None,
    *,
    o: Tensor,
    **_: object,
) -> None:
    fake_out(
        KDA_DECODE_OUT_FORM,
        (q, k, v, g, beta, state, a_log, dt_bias, state_indices, accepted),
        (o,),
    )


KDA_DECODE_FORM = Form(
    _op,
    name="kda_decode",
    returns=("o",),
    schema=(
        "(Tensor q, "
        "Tensor k, "
        "Tensor v, "
        "Tensor g, "
        "Tensor beta, "
        "Tensor(a!) state, "
        "Tensor? a_log=None, "
        "Tensor? dt_bias=None, "
        "Tensor? state_indices=None, "
        "Tensor? accepted=None, "
        "*, "
        "float scale=0.0, "
        "float lower_bound=-5.0, "
        'str gate="log", '
        'str beta_form="probability", '
        "bool negative_eigenvalues=False, "
        "bool l2norm=False, "
        'str state_layout="vk", '
        "str? variant=None) -> Tensor"
    ),
    kernel=_kda_decode,
    autograd=_kda_decode_autograd,
    fake=_fake_kda_decode,
)

KDA_DECODE_OUT_FORM = Form(
    _op,
    name="kda_decode_out",
    returns=(),
    schema=(
        "(Tensor q, "
        "Tensor k, "
        "Tensor v, "
        "Tensor g, "
        "Tensor beta, "
        "Tensor(a!) state, "
        "Tensor? a_log=None, "
        "Tensor? dt_bias=None, "
        "Tensor? state_indices=None, "
        "Tensor? accepted=None, "
        "*, "
        "Tensor(b!) o, "
        "float scale=0.0, "
        "float lower_bound=-5.0, "
        'str gate="log", '
        'str beta_form="probability", '
        "bool negative_eigenvalues=False, "
        "bool l2norm=False, "
        'str state_layout="vk", '
        "str? variant=None) -> ()"
    ),
    kernel=_kda_decode_out,
    autograd=_kda_decode_out_autograd,
    fake=_fake_kda_decode_out,
)

FORMS: tuple[Form, ...] = (KDA_DECODE_FORM, KDA_DECODE_OUT_FORM)
