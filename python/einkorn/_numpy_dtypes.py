"""Dtypes of outputs, for the frameworks whose dtypes are NumPy's: NumPy, CuPy and JAX."""

from typing import Any

import numpy as np

_F32, _F64 = np.dtype("f4"), np.dtype("f8")


def output_dtype(like: Any, dtype: str | None) -> Any:
    """That of an output by its rule, see Rule."""
    if dtype is None:
        return like.dtype
    return _F64 if dtype == "f32+" and like.dtype == _F64 else _F32
