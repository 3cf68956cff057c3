"""NumPy arrays for DLPack: also read-only ones, and ml_dtypes' bfloat16 and float8.

NumPy's own export refuses both. The library writes only to outputs, which are checked before.
"""

import ctypes
from typing import Any


# DLDataTypeCode of dlpack.h, by the name of an element type that NumPy does not have itself.
_CODES = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12, "float8_e8m0fnu": 14}
_KINDS = {"i": 0, "u": 1, "f": 2, "b": 6}


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("index", ctypes.c_int32))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter))

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)

# What an exported tensor needs while somebody has it, by the address of its structure.
_kept: dict[int, tuple[Any, ...]] = {}


@_Deleter
def _drop(managed: Any) -> None:
    _kept.pop(ctypes.addressof(managed.contents), None)


def _data_type(array: Any, who: str) -> _DataType:
    dtype = array.dtype
    if not dtype.isnative:
        raise TypeError(
            f"{who} dtype: expected the machine's byte order, got {dtype}\n"
            "  hint: x.astype(x.dtype.newbyteorder('='))"
        )
    code = _CODES.get(dtype.name, _KINDS.get(dtype.kind))
    if code is None:
        raise TypeError(f"{who} dtype: expected numbers, got {dtype}")
    return _DataType(code, dtype.itemsize * 8, 1)


class _Exported:
    """An array with the two methods of the array API's exchange protocol."""

    __slots__ = ("_array", "_dtype", "_who")

    def __init__(self, array: Any, who: str) -> None:
        self._array = array
        self._who = who
        self._dtype = _data_type(array, who)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **_: Any) -> Any:
        array = self._array
        rank, size = array.ndim, array.itemsize
        if any(stride % size for stride in array.strides):
            raise ValueError(
                f"{self._who} strides: expected multiples of the {size} bytes of an element, got "
                f"{array.strides}"
            )
        dims = ctypes.c_int64 * max(rank, 1)
        shape = dims(*array.shape)
        strides = dims(*(stride // size for stride in array.strides))
        managed = _Managed(
            _Tensor(array.ctypes.data, _Device(1, 0), rank, self._dtype, shape, strides, 0),
            None,
            _drop,
        )
        address = ctypes.addressof(managed)
        _kept[address] = (managed, shape, strides, array)
        return _new_capsule(address, b"dltensor", None)


def exported(array: Any, who: str) -> Any:
    """Something that tvm-ffi takes for the array. TypeError, ValueError: it cannot be exported."""
    return _Exported(array, who)
