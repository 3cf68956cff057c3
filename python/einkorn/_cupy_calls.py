"""Calls with CuPy arrays, on CuPy's current stream."""

from contextlib import AbstractContextManager
from typing import Any

import cupy

from ._dispatch import allocated, check_frameworks
from ._numpy_dtypes import output_dtype
from ._op import Op


def _empty(like: Any, shape: tuple[int, ...], dtype: str | None) -> Any:
    return cupy.empty(shape, output_dtype(like, dtype))


def current_stream(device: int) -> AbstractContextManager[Any]:
    """CuPy's current stream of a device, as tvm-ffi's for a scope."""
    import tvm_ffi

    stream = cupy.cuda.get_current_stream(device).ptr
    return tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", device), stream)


def call(
    op: Op,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    scalars: tuple[Any, ...],
    variant: str | None,
) -> Any:
    check_frameworks(op, op.inputs + op.outputs, inputs + outputs)
    outputs = allocated(op, inputs, outputs, _empty)
    first = next(one for one in inputs if one is not None)
    with current_stream(first.device.id):
        op.function(*inputs, *outputs, *scalars, variant)
    return op.result(outputs)
