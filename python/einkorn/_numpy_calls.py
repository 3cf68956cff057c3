"""Calls with NumPy arrays, those of ml_dtypes' element types and read-only ones included."""

from typing import Any

import numpy as np

from . import _dlpack
from ._dispatch import allocated, check_frameworks
from ._op import Op


def _empty(like: Any, shape: tuple[int, ...], dtype: str | None) -> Any:
    if dtype is None:
        return np.empty(shape, like.dtype)
    if dtype == "f32+":
        return np.empty(shape, np.float64 if like.dtype == np.float64 else np.float32)
    return np.empty(shape, {"f32": np.float32, "f64": np.float64, "i32": np.int32}[dtype])


def _checked(op: Op, name: str, one: Any, *, output: bool) -> Any:
    if one is None:
        return None
    if not isinstance(one, np.ndarray):  # a scalar of NumPy, say
        raise TypeError(f"{op.name}: {name}: expected numpy.ndarray, got {type(one).__qualname__}")
    if output and not one.flags.writeable:
        raise ValueError(
            f"{op.name}: {name}: expected an array that can be written, got a read-only one of shape "
            f"{one.shape}, {one.dtype}\n  hint: numpy.array(...) makes a copy that can be"
        )
    return _dlpack.exported(one, who=f"{op.name}: {name}")


def call(
    op: Op,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    scalars: tuple[Any, ...],
    variant: str | None,
) -> Any:
    check_frameworks(op, op.inputs + op.outputs, inputs + outputs)
    outputs = allocated(op, inputs, outputs, _empty)
    given = [_checked(op, n, one, output=False) for n, one in zip(op.inputs, inputs, strict=True)]
    given += [_checked(op, n, one, output=True) for n, one in zip(op.outputs, outputs, strict=True)]
    op.function(*given, *scalars, variant)
    return op.result(outputs)
