"""The forms of lightning_prefill.

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

_op = ops.TABLE["lightning_prefill"]


def _lightning_prefill(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    initial_state: Tensor | None = None,
    cu_seqlens: Tensor | None = None,
    cu_seqlens_cpu: Tensor | None = None,
    scale: float = 0.0,
    gate: str = "log",
    l2norm: bool = False,
    state_layout: str = "kv",
    checkpoint_every: int = 0,
    split: str = "auto",
    segment: int = 0,
    variant: str | None = None,
) -> Tensor:
    o = empty_like(v, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
        q,
        k,
        v,
        decay,
        initial_state,
        cu_seqlens,
        cu_seqlens_cpu,
        o,
        None,
        None,
        scale,
        gate,
        l2norm,
        state_layout,
        checkpoint_every,
        split,
        segment,
        variant,
    )
    return o


def _lightning_prefill_autograd(
    keyset: torch.DispatchKeySet,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    initial_state: Tensor | None = None,
    cu_seqlens: Tensor | None = None,
    cu_seqlens_cpu: Tensor | None = None,
    scale: float = 0.0,
    gate: str = "log",
    l2norm: bool = False,
    state_layout: str = "kv",
    checkpoint_every: int = 0,
    split: str = "auto",
    segment: int = 0,
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
                or (initial_state is not None and initial_state.requires_grad)
                or (cu_seqlens is not None and cu_seqlens.requires_grad)
                or (cu_seqlens_cpu is not None and cu_seqlens_cpu.requires_grad)
            )
        )
    ):
        return through(
            LIGHTNING_PREFILL_FORM,
            keyset,
            (q, k, v, decay, initial_state, cu_seqlens, cu_seqlens_cpu),
            {
                "scale": scale,
                "gate": gate,
                "l2norm": l2norm,
                "state_layout": state_layout,
                "checkpoint_every": checkpoint_every,
                "split": split,
                "segment": segment,
                "variant": variant,
            },
        )
    o = empty_like(v, memory_format=CONTIGUOUS)
    (_op._torch_function or _op.torch_function)(
        q,
        k,
        v,
        decay,
        initial_state,
        cu_seqlens,
        cu_seqlens_cpu,
        o,
        None,
        None,
        scale,
        gate,
        l2norm,
        state_layout,
        checkpoint_every,
        split,
        segment,
        variant,
    )
    return o


def _fake_lightning_prefill(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    initial_state: Tensor | None = None,
    cu_seqlens: Tensor | None = None,
    cu_seqlens_cpu: Tensor | None = None,
    **_: object,
) -> Tensor:
    return fake(LIGHTNING_PREFILL_FORM, q, k, v, decay, initial_state, cu_seqlens, cu_seqlens_cpu)


def _lightning_prefill_final_state(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    initial_state: Tensor | None = None,
    cu_seqlens: Tensor | None = None,
    cu_seqlens_cpu: Tensor | None = None,
    scale: float = 0.0,
    gate: str = "log",
    l2norm: bool = False,
    state_layout: str = "kv",
    checkpoint_every: int = 0,
    split: str = "auto",
    segment: int = 0,
    variant: str | None = None,
) -> tuple[Tensor, Tensor]:
    o = empty_like(v, memory_format=CONTIGUOUS)
    final_state = q.new_empty(
        (
            (q.shape[0] if cu_seqlens is None else cu_seqlens.shape[0] - 1),
            v.shape[2],
            q.shape[3],
            v.shape[3],
        )
        if initial_state is None
        else initial_state.shape,
        dtype=torch.float32,
    )
    (_op._torch_function or _op.torch_function)(
        q,
        k,
        v,
        decay,
        initial_state,
        cu_seqlens,
        cu_seqlens_cpu,
        o,
        final_state,
        None,
        scale,
        gate,
        l2norm,
        state_layout,
        checkpoint_every,
        split,
        segment,
        variant,
    )
    return o, final_state


def _lightning_prefill_final_state_autograd(
    keyset: torch.DispatchKeySet,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    initial_state: Tensor | None = None,
    cu_seqlens: Tensor | None = None,
    cu_seqlens_cpu: Tensor | None = None,
    scale: float = 0.0,
    gate: str = "log",
    l2norm: bool = False,
    state_layout: str = "kv",
    checkpoint_every: int = 0,
    split: str = "auto",
    segment: int = 0,
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
                or v.requires_grad
                or decay.requires_grad
                or (initial_state is not None and initial_state.requires_grad)
                or (cu_seqlens is not None and cu_seqlens.requires_grad)
                or (cu_seqlens_cpu is not None and cu_seqlens_cpu.requires_grad)
            )
        )
    ):
        return through(
            LIGHTNING_PREFILL_FINAL_STATE_FORM,
            keyset,
            (q, k, v, decay, initial_state, cu_seqlens, cu_seqlens_cpu),
            {
                "scale": scale,
                "gate": gate,
                "l2norm": l2norm,
                "state_layout": state_layout,
                "checkpoint_every": checkpoint_every,
                "split": split,
                "segment": segment,
                "variant": variant,
            },
        )
    o = empty_like(v, memory_format=CONTIGUOUS)
    final_state = q.new_empty(
        (
            (q.shape[0] if cu_seqlens is None else cu_seqlens.shape[0] - 1),
            v.shape[2],
            q.shape[3],
            v.shape[3],
        )
        if initial_state is None
        else initial_state.shape,
        dtype=torch.float32,
    )
    (_op._torch_function or _op.torch_function)(
        q,
        k,
        v,
        decay,
        initial_state,
        cu_seqlens,
        cu_seqlens_cpu,
        o,
        final_state,
        None,
        scale,
        gate,
        l2norm,
        state_layout,
        checkpoint_every,
        split,
        segment,
        variant,
    )
    return o, final_state


def _fake_lightning_prefill_final_state(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    initial_state: Tensor | None = None,
    cu_seqlens: Tensor | None = None,
    cu_seqlens_cpu: Tensor | None = None,
    **_: object,
) -> tuple[Tensor, Tensor]:
    return fake(
        LIGHTNING_PREFILL_FINAL_STATE_FORM,
        q,
        k,
        v,
        decay,
        initial_state,
        cu_seqlens,
        cu_seqlens_cpu,
    )


def _lightning_prefill_out(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    initial_state: Tensor | None = None,
    cu_seqlens: Tensor | None = None,
    cu_seqlens_cpu: Tensor | None = None,
    *,
    o: Tensor,
    final_state: Tensor | None = None,
    checkpoints: Tensor | None = None,
    scale: float = 0.0,
    gate: str = "log",
    l2norm: bool = False,
    state_layout: str = "kv",
    checkpoint_every: int = 0,
    split: str = "auto",
    segment: int = 0,
    variant: str | None = None,
) -> None:
    (_op._torch_function or _op.torch_function)(
        q,
        k,
        v,
        decay,
        initial_state,
        cu_seqlens,
        cu_seqlens_cpu,
        o,
        final_state,
        checkpoints,
        scale,
        gate,
        l2norm,
        state_layout,
        checkpoint_every,
        split,
        segment,
        variant,
    )


def _lightning_prefill_out_autograd(
    keyset: torch.DispatchKeySet,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    initial_state: Tensor | None = None,
    cu_seqlens: Tensor | None = None,
    cu_seqlens_cpu: Tensor | None = None,
    *,
    o: Tensor,
    final_state: Tensor | None = None,
    checkpoints: Tensor | None = None,
    scale: float = 0.0,
    gate: str = "log",
    l2norm: bool = False,
    state_layout: str = "kv",
    checkpoint_every: int = 0,
    split: str = "auto",
    segment: int = 0,
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
                or (initial_state is not None and initial_state.requires_grad)
                or (cu_seqlens is not None and cu_seqlens.requires_grad)
                or (cu_seqlens_cpu is not None and cu_seqlens_cpu.requires_grad)
                or o.requires_grad
                or (final_state is not None and final_state.requires_grad)
                or (checkpoints is not None and checkpoints.requires_grad)
            )
        )
    ):
        through_out(
            LIGHTNING_PREFILL_OUT_FORM,
            keyset,
            (q, k, v, decay, initial_state, cu_seqlens, cu_seqlens_cpu),
            {"o": o, "final_state": final_state, "checkpoints": checkpoints},
            {
                "scale": scale,
                "gate": gate,
                "l2norm": l2norm,
                "state_layout": state_layout,
                "checkpoint_every": checkpoint_every,
                "split": split,
                "segment": segment,
                "variant": variant,
            },
        )
        return
    (_op._torch_function or _op.torch_function)(
        q,
        k,
        v,
        decay,
        initial_state,
        cu_seqlens,
        cu_seqlens_cpu,
        o,
        final_state,
        checkpoints,
        scale,
        gate,
        l2norm,
        state_layout,
        checkpoint_every,
        split,
        segment,
        variant,
    )
    increment_version([one for one in (o, final_state, checkpoints) if one is not None])


def _fake_lightning_prefill_out(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    decay: Tensor,
    initial_state: Tensor | None = None,
    cu_seqlens: Tensor | None = None,
    cu_seqlens_cpu: Tensor | None = None,
    *,
    o: Tensor,
    final_state: Tensor | None = None,
    checkpoints: Tensor | None = None,
    **_: object,
) -> None:
    fake_out(
        LIGHTNING_PREFILL_OUT_FORM,
        (q, k, v, decay, initial_state, cu_seqlens, cu_seqlens_cpu),
        (o, final_state, checkpoints),
    )


LIGHTNING_PREFILL_FORM = Form(
    _op,
    name="lightning_prefill",
    returns=("o",),
    schema=(
        "(Tensor q, "
        "Tensor k, "
        "Tensor v, "
        "Tensor decay, "
        "Tensor? initial_state=None, "
        "Tensor? cu_seqlens=None, "
        "Tensor? cu_seqlens_cpu=None, "
        "*, "
        "float scale=0.0, "
        'str gate="log", '
        "bool l2norm=False, "
        'str state_layout="kv", '
        "int checkpoint_every=0, "
        'str split="auto", '
        "int segment=0, "
        "str? variant=None) -> Tensor"
    ),
    kernel=_lightning_prefill,
    autograd=_lightning_prefill_autograd,
    fake=_fake_lightning_prefill,
)

LIGHTNING_PREFILL_FINAL_STATE_FORM = Form(
    _op,
    name="lightning_prefill_final_state",
    returns=("o", "final_state"),
    schema=(
        "(Tensor q, "
        "Tensor k, "
        "Tensor v, "
        "Tensor decay, "
        "Tensor? initial_state=None, "
        "Tensor? cu_seqlens=None, "
        "Tensor? cu_seqlens_cpu=None, "
        "*, "
        "float scale=0.0, "
        'str gate="log", '
        "bool l2norm=False, "
        'str state_layout="kv", '
        "int checkpoint_every=0, "
        'str split="auto", '
        "int segment=0, "
        "str? variant=None) -> (Tensor, Tensor)"
    ),
    kernel=_lightning_prefill_final_state,
    autograd=_lightning_prefill_final_state_autograd,
    fake=_fake_lightning_prefill_final_state,
)

LIGHTNING_PREFILL_OUT_FORM = Form(
    _op,
    name="lightning_prefill_out",
    returns=(),
    schema=(
        "(Tensor q, "
        "Tensor k, "
        "Tensor v, "
        "Tensor decay, "
        "Tensor? initial_state=None, "
        "Tensor? cu_seqlens=None, "
        "Tensor? cu_seqlens_cpu=None, "
        "*, "
        "Tensor(a!) o, "
        "Tensor(b!)? final_state=None, "
        "Tensor(c!)? checkpoints=None, "
        "float scale=0.0, "
        'str gate="log", '
        "bool l2norm=False, "
        'str state_layout="kv", '
        "int checkpoint_every=0, "
        'str split="auto", '
        "int segment=0, "
        "str? variant=None) -> ()"
    ),
    kernel=_lightning_prefill_out,
    autograd=_lightning_prefill_out_autograd,
    fake=_fake_lightning_prefill_out,
)

FORMS: tuple[Form, ...] = (
    LIGHTNING_PREFILL_FORM,
    LIGHTNING_PREFILL_FINAL_STATE_FORM,
    LIGHTNING_PREFILL_OUT_FORM,
)
