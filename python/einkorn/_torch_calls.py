"""Calls with PyTorch tensors.

Plain tensors go straight to the library. Whatever needs PyTorch's dispatcher (gradients,
torch.compile, fake and meta tensors, modes, subclasses) goes by torch.ops.einkorn.
"""

from typing import Any

import torch
from torch.compiler import is_dynamo_compiling

from . import torch as binding
from ._dispatch import check_frameworks
from ._op import Op
from .torch._autograd import increment_version

_is_grad_enabled = torch.is_grad_enabled
_kernels = binding.kernels
_modes = torch._C._len_torch_dispatch_stack
_PLAIN = frozenset((torch.Tensor, torch.nn.Parameter))


def call(
    op: Op,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    scalars: tuple[Any, ...],
    variant: str | None,
) -> Any:
    # With plain tensors and an output given Op.direct serves from the second call on. Each line is
    # part of what the others cost on the CPU.
    if is_dynamo_compiling():
        return binding.call(op, inputs, outputs, scalars, variant)
    grad = _is_grad_enabled()
    for one in inputs:
        if one is not None and (type(one) not in _PLAIN or (grad and one.requires_grad)):
            return _by_dispatcher(op, inputs, outputs, scalars, variant)
    written = []
    for one in outputs:
        if one is not None and one is not True:
            if type(one) not in _PLAIN or (grad and one.requires_grad):
                return _by_dispatcher(op, inputs, outputs, scalars, variant)
            written.append(one)
    if _modes():
        return _by_dispatcher(op, inputs, outputs, scalars, variant)
    try:
        first = outputs[0]
        if first is None or first is True:
            kernel = _kernels.get((op.name, outputs))
            # A negated view has the values of another tensor in its memory, which the library does
            # not see. With an output given nobody looks, which would take 0.3 us: PyTorch makes
            # such views of complex tensors only, and with strides that the contracts refuse.
            if kernel is None or any(one is not None and one.is_neg() for one in inputs):
                return _by_dispatcher(op, inputs, outputs, scalars, variant)
            result = kernel(*inputs, *scalars, variant)
            if op.inouts:
                increment_version(op.updated(inputs))
            return result
        (op._torch_function or op.torch_function)(*inputs, *outputs, *scalars, variant)
    except Exception:
        if _is_for_dispatcher(inputs + outputs):
            return _by_dispatcher(op, inputs, outputs, scalars, variant)
        raise
    increment_version(written + op.updated(inputs))
    return first if len(written) == 1 else tuple(written)


def _by_dispatcher(
    op: Op,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    scalars: tuple[Any, ...],
    variant: str | None,
) -> Any:
    check_frameworks(op, op.inputs + op.outputs, inputs + outputs)
    return binding.call(op, inputs, outputs, scalars, variant)


def _is_for_dispatcher(arrays: tuple[Any, ...]) -> bool:
    """Whether an output is to be allocated, or a tensor is not what its type says: sparse,
    quantised, meta, or wrapped by torch.func. The dispatcher knows what to do, or to say.
    """
    wrapped = torch._C._functorch.is_functorch_wrapped_tensor
    for one in arrays:
        if one is None:
            continue
        if isinstance(one, bool) or (
            one.layout != torch.strided or one.is_quantized or one.is_meta or wrapped(one)
        ):
            return True
    return False
