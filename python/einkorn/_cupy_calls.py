"""Calls with CuPy arrays, on CuPy's current stream."""

from typing import Any

import cupy

from ._dispatch import allocated, check_frameworks
from ._op import Op


def _empty(like: Any, shape: tuple[int, ...], dtype: str | None) -> Any:
    if dtype is None:
        return cupy.empty(shape, like.dtype)
    if dtype == "f32+":
        return cupy.empty(shape, cupy.float64 if like.dtype == cupy.float64 else cupy.float32)
    return cupy.empty(shape, {"f32": cupy.float32, "f64": cupy.float64, "i32": cupy.int32}[dtype])


def call(
    op: Op,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    scalars: tuple[Any, ...],
    variant: str | None,
) -> Any:
    import tvm_ffi

    check_frameworks(op, op.inputs + op.outputs, inputs + outputs)
    outputs = allocated(op, inputs, outputs, _empty)
    first = next(one for one in inputs if one is not None)
    device = tvm_ffi.device("cuda", first.device.id)
    with tvm_ffi.use_raw_stream(device, cupy.cuda.get_current_stream(first.device.id).ptr):
        op.function(*inputs, *outputs, *scalars, variant)
    return op.result(outputs)
