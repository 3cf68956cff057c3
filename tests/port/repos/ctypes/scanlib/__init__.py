"""Sums of all that came before, along the last dimension."""

import ctypes
import pathlib

_library = ctypes.CDLL(str(pathlib.Path(__file__).parent / "libscan.so"))
_library.scan_rows.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_int] * 2 + [ctypes.c_void_p]
_library.scan_rows.restype = ctypes.c_int


def scan(x, out, stream=None):
    rows, columns = x.shape
    if columns > 1024:
        raise ValueError("at most 1024 columns")
    status = _library.scan_rows(x.data_ptr(), out.data_ptr(), rows, columns, stream)
    if status != 0:
        raise RuntimeError(f"scan_rows: status {status}")
    return out


def reset(x, count, stream=None):
    return _library.scan_reset(x.data_ptr(), count, stream)
