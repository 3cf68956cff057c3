"""The shorter way of a call with PyTorch's tensors: by CPython's own convention in place of
tvm-ffi's, with tensors lent by PyTorch's DLPack exchange. Where one of the three lacks what that
takes, calls go by tvm-ffi as those of all frameworks do.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import torch

from .. import _native
from .._op import Op, no_direct_way

# Op's name, its function by tvm-ffi, parts of PyTorch -> the pair that torch_call.h describes.
_MAKER = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_char_p, ctypes.py_object, ctypes.py_object)


def prepare(op: Op) -> None:
    """Fills in the op's ways for PyTorch's tensors, its `direct` included."""
    plain, wrap = op.function, op._wrap
    try:
        function, direct = functions(op.name, plain)
    except (AttributeError, RuntimeError, TypeError, ValueError):
        function, direct = plain, no_direct_way
    if wrap is None:
        op._torch_function, op.direct = function, direct
    else:
        # It has to see the errors of all calls.
        op._torch_function, op.direct = wrap(function), no_direct_way


def functions(op: str, plain: Callable[..., None]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """What takes all that `plain` takes, and what `Op.direct` is to be. AttributeError,
    RuntimeError, TypeError, ValueError: there is no shorter way here, and why.
    """
    maker = _MAKER(_native.library().torch_functions())
    return maker(op.encode(), plain, _parts())


def _parts() -> tuple[Any, ...]:
    """What the library needs of PyTorch. AttributeError: a PyTorch without its C exchange."""
    return (
        torch.Tensor.__dlpack_c_exchange_api__,
        torch.Tensor,
        torch.nn.Parameter,
        torch._C.TensorBase.requires_grad,
        torch.is_grad_enabled,
        torch._C._len_torch_dispatch_stack,
        torch._C._increment_version,
    )
