"""Calls with PyTorch tensors.

A plain tensor with its outputs given goes straight to the library. Whatever needs PyTorch's
dispatcher (gradients, torch.compile, fake and meta tensors, modes) goes by torch.ops.einkorn.
"""

from typing import Any

import torch
from torch.compiler import is_compiling

from ._dispatch import allocated, check_frameworks
from ._op import Op

_is_grad_enabled = torch.is_grad_enabled
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_DTYPES = {"f32": torch.float32, "f64": torch.float64, "i32": torch.int32}


def _empty(like: Any, shape: tuple[int, ...], dtype: str | None) -> Any:
    kind = _DTYPES[dtype.rstrip("+")] if dtype else like.dtype
    if dtype == "f32+" and like.dtype == torch.float64:
        kind = torch.float64
    return torch.empty(shape, dtype=kind, device=like.device)


def _needs_grad(inputs: tuple[Any, ...]) -> bool:
    return any(one is not None and one.requires_grad for one in inputs)


def _is_plain(arrays: tuple[Any, ...]) -> bool:
    return all(type(one) in _PLAIN for one in arrays if one is not None and one is not True)


def call(
    op: Op,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    scalars: tuple[Any, ...],
    variant: str | None,
) -> Any:
    if outputs[0] is None or is_compiling():
        return _by_dispatcher_or_allocated(op, inputs, outputs, scalars, variant)
    if _is_grad_enabled():
        for one in inputs:
            if one is not None and one.requires_grad:
                raise _grad_error(op, inputs)
    try:
        op.function(*inputs, *outputs, *scalars, variant)
    except Exception:
        if not _is_plain(inputs + outputs) or True in map(lambda one: one is True, outputs):
            return _by_dispatcher_or_allocated(op, inputs, outputs, scalars, variant)
        _explain(op, inputs, outputs)
        raise
    return op.result(outputs)


def _by_dispatcher_or_allocated(
    op: Op,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    scalars: tuple[Any, ...],
    variant: str | None,
) -> Any:
    check_frameworks(op, op.inputs + op.outputs, inputs + outputs)
    given = any(one is not None and one is not True and one is not False for one in outputs)
    with_grad = _is_grad_enabled() and _needs_grad(inputs)
    if is_compiling() or with_grad or not _is_plain(inputs + outputs):
        from . import torch as binding

        if given and with_grad:
            raise _grad_error(op, inputs)
        return binding.call(op, inputs, outputs, scalars, variant)
    _explain(op, inputs, outputs)
    outputs = allocated(op, inputs, outputs, _empty)
    op.function(*inputs, *outputs, *scalars, variant)
    return op.result(outputs)


def _grad_error(op: Op, inputs: tuple[Any, ...]) -> Exception:
    name = next(
        n for n, one in zip(op.inputs, inputs, strict=True) if one is not None and one.requires_grad
    )
    return RuntimeError(
        f"{op.name}: {name}: expected a tensor that requires no gradient with outputs given, got one "
        "that does\n  hint: leave the outputs out, so that autograd sees the call; or call under "
        "torch.no_grad()"
    )


def _explain(op: Op, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """TypeError, ValueError for a tensor that has no plain memory to hand over."""
    for name, one in zip(op.inputs + op.outputs, inputs + outputs, strict=True):
        if one is None or one is True or one is False:
            continue
        if not isinstance(one, torch.Tensor):
            raise TypeError(
                f"{op.name}: {name}: expected torch.Tensor, got {type(one).__qualname__}"
            )
        if one.layout != torch.strided:
            raise TypeError(
                f"{op.name}: {name} layout: expected torch.strided, got {one.layout}\n"
                "  hint: x.to_dense()"
            )
        if one.is_quantized:
            raise TypeError(
                f"{op.name}: {name} dtype: expected a plain one, got the quantised {one.dtype}\n"
                "  hint: x.dequantize()"
            )
        if one.is_neg() or one.is_conj():
            raise ValueError(
                f"{op.name}: {name}: expected a tensor with its values in memory, got a lazily "
                "negated or conjugated view\n  hint: x.resolve_neg(), x.resolve_conj()"
            )
