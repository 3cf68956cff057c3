"""NumPy arrays for DLPack: also read-only ones, and ml_dtypes' bfloat16 and float8.

NumPy's own export refuses both. What is made here is for one call, whose caller keeps it and the
array until the call is over: a tensor has no deleter, because one in Python would run while another
argument's error is being raised, which Python cannot. The library writes only to outputs, which are
checked before.
"""

import ctypes
import math
from collections.abc import Iterable
from typing import Any

# DLDataTypeCode of dlpack.h, by the name of an element type that NumPy does not have itself, and by
# NumPy's kinds.
_CODES = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12, "float8_e8m0fnu": 14}
_KINDS = {"i": 0, "u": 1, "f": 2, "b": 6}
#: Bytes; no framework aligns its arrays better.
_ALIGNMENT = 256

# A DLManagedTensor of 64 bits is 8 words: address, device, rank and dtype, pointers to shape and to
# strides, byte offset, the owner's context, deleter. Shape and strides follow here.
_WORDS = 8
_CPU = 1

# A function object of our own: that of ctypes.pythonapi is the whole process's, and JAX, for one,
# sets its argument types.
_new_capsule = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))

# By NumPy's dtype: finding its name takes longer than all the rest.
_data_types: dict[Any, int] = {}


def _data_type(dtype: Any, who: str) -> int:
    """DLDataType as a number of 32 bits: code, bits, one lane."""
    known = _data_types.get(dtype)
    if known is not None:
        return known
    if not getattr(dtype, "isnative", True):
        raise TypeError(
            f"{who} dtype: expected the machine's byte order, got {dtype}\n"
            "  hint: x.astype(x.dtype.newbyteorder('='))"
        )
    code = _CODES.get(dtype.name, _KINDS.get(getattr(dtype, "kind", "")))
    if code is None:
        raise TypeError(f"{who} dtype: expected real numbers, got {dtype}")
    made = _data_types[dtype] = code | dtype.itemsize * 8 << 8 | 1 << 16
    return made


class _Tensor:
    """A tensor on the CPU by the array API's exchange protocol. It has to outlive its use."""

    __slots__ = ("_words",)

    def __init__(
        self, address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: int
    ) -> None:
        """Strides in elements; `dtype` as _data_type() has it."""
        rank = len(shape)
        self._words = (ctypes.c_int64 * (_WORDS + 2 * rank))(
            address, _CPU, rank | dtype << 32, 0, 0, 0, 0, 0, *shape, *strides
        )
        at = ctypes.addressof(self._words)
        self._words[3] = at + 8 * _WORDS
        self._words[4] = at + 8 * (_WORDS + rank)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (_CPU, 0)

    def __dlpack__(self, **_: Any) -> Any:
        return _new_capsule(ctypes.addressof(self._words), b"dltensor", None)


def exported(array: Any, who: str) -> Any:
    """What tvm-ffi takes for the array in one call, for which both are kept.

    TypeError: a dtype that DLPack does not have. ValueError: strides that no element divides.
    """
    dtype, size = _data_type(array.dtype, who), array.itemsize
    if any(stride % size for stride in array.strides):
        raise ValueError(
            f"{who} strides: expected multiples of the {size} bytes of an element, got "
            f"{array.strides}\n  hint: numpy.ascontiguousarray(...)"
        )
    strides = tuple(stride // size for stride in array.strides)
    return _Tensor(array.ctypes.data, array.shape, strides, dtype)


def stand_ins(described: Iterable[tuple[str, Any]]) -> list[Any]:
    """Contiguous tensors of the given shapes and dtypes, at addresses that nothing may touch: none
    overlaps another, and none has memory.

    Each comes with who is told in errors, or is None. TypeError: a dtype that DLPack does not have.
    """
    address = _ALIGNMENT
    made: list[Any] = []
    for who, one in described:
        if one is None:
            made.append(None)
            continue
        shape = tuple(one.shape)
        strides = tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
        made.append(_Tensor(address, shape, strides, _data_type(one.dtype, who)))
        size = math.prod(shape) * one.dtype.itemsize
        address += (size // _ALIGNMENT + 1) * _ALIGNMENT
    return made
