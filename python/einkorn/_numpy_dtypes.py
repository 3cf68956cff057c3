"""Dtypes of outputs, for the frameworks whose dtypes are NumPy's: NumPy, CuPy and JAX."""

from typing import Any

import numpy as np

_DTYPES = {"f32": np.dtype("f4"), "f64": np.dtype("f8"), "i32": np.dtype("i4")}


def output_dtype(like: Any, dtype: str | None) -> Any:
    """That of an output by its rule, see Rule: "f32+" is f64 beside an array of f64, else f32."""
    if dtype is None:
        return like.dtype
    if dtype == "f32+":
        dtype = "f64" if like.dtype == _DTYPES["f64"] else "f32"
    return _DTYPES[dtype]
