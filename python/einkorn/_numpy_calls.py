"""Calls with NumPy arrays, those of ml_dtypes' element types and read-only ones included."""

from typing import Any

import numpy as np

from . import _dlpack
from ._dispatch import allocated, check_frameworks
from ._numpy_dtypes import output_dtype
from ._op import Op

# Those that NumPy hands over itself, which is faster.
_OWN = frozenset(np.dtype(name) for name in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "?"))


def _empty(like: Any, shape: tuple[int, ...], dtype: str | None) -> Any:
    return np.empty(shape, output_dtype(like, dtype))


def _checked(op: Op, name: str, one: Any, *, output: bool) -> Any:
    """The array as tvm-ffi takes it."""
    if one is None:
        return None
    if type(one) is not np.ndarray:
        _check_type(op, name, one)
    if one.flags.writeable:
        if one.dtype in _OWN:
            return one
    elif output:
        raise ValueError(
            f"{op.name}: {name}: expected an array that can be written, got a read-only one of "
            f"shape {one.shape}, {one.dtype}\n  hint: numpy.array(...) makes a copy that can be"
        )
    return _dlpack.exported(one, who=f"{op.name}: {name}")


def _check_type(op: Op, name: str, one: Any) -> None:
    if not isinstance(one, np.ndarray):  # a scalar of NumPy, say
        raise TypeError(f"{op.name}: {name}: expected numpy.ndarray, got {type(one).__qualname__}")
    if isinstance(one, np.ma.MaskedArray):
        raise TypeError(
            f"{op.name}: {name}: expected an array without a mask, got MaskedArray\n"
            "  hint: x.filled(value), or x.data"
        )


def call(
    op: Op,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    scalars: tuple[Any, ...],
    variant: str | None,
) -> Any:
    check_frameworks(op, op.inputs + op.outputs, inputs + outputs)
    outputs = allocated(op, inputs, outputs, _empty)
    given = [
        _checked(op, n, one, output=n in op.inouts)
        for n, one in zip(op.inputs, inputs, strict=True)
    ]
    given += [_checked(op, n, one, output=True) for n, one in zip(op.outputs, outputs, strict=True)]
    try:
        op.function(*given, *scalars, variant)
    except BufferError:
        # NumPy hands over no array whose strides are not multiples of an element.
        names = op.inputs + op.outputs
        arrays = inputs + outputs
        given = [
            None if one is None else _dlpack.exported(one, who=f"{op.name}: {name}")
            for name, one in zip(names, arrays, strict=True)
        ]
        op.function(*given, *scalars, variant)
    return op.result(outputs)
