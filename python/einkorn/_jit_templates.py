"""Expressions of template instances from values of Python."""

import sys
from typing import Any

from ._jit_request import shown
from ._native import library

# einkorn's names of dtypes. Other spellings in a text are C++: "float", "int", "long".
_DTYPES = frozenset(
    ("f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "u8", "i32", "i64", "bool")
)


def _integer(who: str, value: int) -> int | str:
    if -(2**63) <= value < 2**63:
        return int(value)
    if 0 <= value < 2**64:
        return f"c++:{int(value)}u"
    raise ValueError(f"jit: {who}: expected an int from -2**63 to 2**64 - 1, got {value}")


def _argument(who: str, one: Any) -> Any:
    """As the library takes it: texts are marked."""
    if one is None or isinstance(one, bool):
        return one
    if isinstance(one, int):
        return _integer(who, one)
    if isinstance(one, str):
        return f"dtype:{one}" if one in _DTYPES else f"c++:{one}"
    if type(one).__module__ == "torch" and type(one).__name__ == "dtype":
        return f"dtype:{str(one).removeprefix('torch.')}"
    if (numpy := sys.modules.get("numpy")) is not None:
        if isinstance(one, numpy.bool_):
            return bool(one)
        if isinstance(one, numpy.integer):
            return _integer(who, int(one))
        if isinstance(one, type) and issubclass(one, numpy.generic):
            return f"dtype:{numpy.dtype(one).name}"
        kind = one if hasattr(one, "shape") else getattr(one, "dtype", one)  # of jax.numpy.float32
        if isinstance(kind, numpy.dtype):
            return f"dtype:{kind.name}"
    raise TypeError(
        f"jit: {who}: expected a bool, an int, a dtype, None or C++ as text, got {shown(one)}\n"
        "  hint: a floating constant is written as text: '0.5f'"
    )


def expression(name: str, arguments: tuple[Any, ...] | list[Any]) -> str:
    """See einkorn.jit.template."""
    if not isinstance(name, str):
        raise TypeError(f"jit: template: expected the name of one as text, got {shown(name)}")
    marked = [
        _argument(f"template argument {at} of {name}", one) for at, one in enumerate(arguments, 1)
    ]
    return str(library().jit_expression(name, *marked))
