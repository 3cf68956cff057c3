"""Calls that are more than a kernel: gradients, tracing, tensors that only stand for others.

What an op's backward pass needs and does is one Derivative in _derivatives.py. An op without one
refuses inputs that require a gradient.
"""

import contextlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import Tensor
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad

from .. import _native
from .._batch_invariant import batch_invariant, is_batch_invariant
from . import _derivatives
from ._forms import Form, returning

_below_autograd = torch._C._AutoDispatchBelowAutograd
_after_autograd = torch._C._after_autograd_keyset
# What torch.autograd.graph.increment_version calls, without its 0.2 us.
increment_version = torch._C._increment_version

Inputs = tuple[Tensor | None, ...]


def through(
    form: Form, keyset: torch._C.DispatchKeySet, inputs: Inputs, keywords: dict[str, Any]
) -> Any:
    """What the form gives, with a node in the graph of gradients where one is asked for."""
    _refuse_tangents(form, inputs)
    if torch.is_grad_enabled() and any(one is not None and one.requires_grad for one in inputs):
        derivative = _derivatives.TABLE.get(form.op.name)
        if derivative is None:
            raise _no_derivative(form, inputs)
        with _one_level():
            return _Node.apply(derivative, form, keyset, keywords, *inputs)
    given = _redispatch(form, keyset, inputs, keywords)
    if form.op.inouts:
        increment_version(form.op.updated(inputs))
    return given


def through_out(
    form: Form,
    keyset: torch._C.DispatchKeySet,
    inputs: Inputs,
    outputs: dict[str, Tensor | None],
    keywords: dict[str, Any],
) -> None:
    """As `through`, for the form that writes to given tensors, which has no gradients."""
    if torch.is_grad_enabled():
        names = (*form.op.inputs, *outputs)
        for name, one in zip(names, (*inputs, *outputs.values()), strict=True):
            if one is not None and one.requires_grad:
                raise requires_grad_error(form.op.name, name)
    _refuse_tangents(form, (*inputs, *outputs.values()))
    _redispatch(form, keyset, inputs, {**outputs, **keywords})
    written = [one for one in outputs.values() if one is not None]
    increment_version(written + form.op.updated(inputs))


def requires_grad_error(op: str, name: str) -> RuntimeError:
    return RuntimeError(
        f"{op}: {name}: expected a tensor that requires no gradient in a call with outputs given, "
        "got one that does\n  hint: leave the outputs out, so that autograd sees the call; or call "
        "under torch.no_grad()"
    )


def _redispatch(
    form: Form, keyset: torch._C.DispatchKeySet, inputs: Inputs, keywords: dict[str, Any]
) -> Any:
    with _below_autograd():
        return form.operator.redispatch(keyset & _after_autograd, *inputs, **keywords)


def _one_level() -> AbstractContextManager[None]:
    """The dispatcher calls once for each level of torch.func, with that level's tensors. So the
    node is one of a single level, which torch.func refuses unless told that it is meant.
    """
    if torch._C._are_functorch_transforms_active():
        return enable_single_level_autograd_function()
    return contextlib.nullcontext()


def _no_derivative(form: Form, inputs: Inputs) -> RuntimeError:
    name = next(
        name
        for name, one in zip(form.op.inputs, inputs, strict=True)
        if one is not None and one.requires_grad
    )
    return RuntimeError(
        f"{form.op.name}: {name}: expected a tensor that requires no gradient, got one that does: "
        f"{form.op.name} has no backward\n  hint: {name}.detach(), or call under torch.no_grad()"
    )


def _refuse_tangents(form: Form, tensors: Sequence[Tensor | None]) -> None:
    if forward_ad._current_level < 0:
        return
    for one in tensors:
        if one is not None and forward_ad.unpack_dual(one).tangent is not None:
            raise RuntimeError(
                f"{form.op.name}: expected no dual tensor, got one: no op of einkorn has a "
                "derivative in forward mode\n  hint: torch.func.vjp, torch.autograd.grad"
            )


class _Node(torch.autograd.function._SingleLevelFunction):
    """One call of a differentiable op."""

    @staticmethod
    def forward(
        ctx: Any,
        derivative: _derivatives.Derivative,
        form: Form,
        keyset: torch._C.DispatchKeySet,
        keywords: dict[str, Any],
        *inputs: Tensor | None,
    ) -> Any:
        def run(returns: tuple[str, ...]) -> dict[str, Tensor]:
            wanted = returning[form.op.name, returns]
            # For the levels below one of torch.func.grad, which have graphs of their own.
            with torch.enable_grad():
                got = _redispatch(wanted, keyset, inputs, keywords)
            return dict(zip(returns, (got,) if len(returns) == 1 else got, strict=True))

        ctx.set_materialize_grads(False)
        outputs, saved = derivative.forward(run, form, inputs)
        ctx.save_for_backward(*saved)
        ctx.call = (derivative, form, keywords, [_dtype(one) for one in inputs])
        # The mode is a thread's, and the engine runs the backward pass of a GPU on one of its own.
        ctx.invariant = _native._module is not None and is_batch_invariant()
        ctx.mark_non_differentiable(
            *(outputs[name] for name in form.returns if name in derivative.constant)
        )
        given = tuple(outputs[name] for name in form.returns)
        return given[0] if len(given) == 1 else given

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Any, ...]:
        derivative, form, keywords, dtypes = ctx.call
        needs = ctx.needs_input_grad[4:]
        if all(one is None for one in grads):
            return (None,) * (4 + len(needs))
        of_outputs = dict(zip(form.returns, grads, strict=True))
        with batch_invariant() if ctx.invariant else contextlib.nullcontext():
            got = derivative.backward(ctx.saved_tensors, of_outputs, needs, keywords)
        cast = [
            one.to(dtype) if need and one is not None else None
            for one, need, dtype in zip(got, needs, dtypes, strict=True)
        ]
        return (None, None, None, None, *cast)


def _dtype(one: Tensor | None) -> torch.dtype | None:
    return None if one is None else one.dtype
