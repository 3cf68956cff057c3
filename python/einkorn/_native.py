"""The shared library, found and loaded when it is first needed.

A failure is not kept: once what was missing is there, the next use finds it.
"""

import os
import pathlib
import sys
import threading
from typing import Any

_FILE = "libeinkorn_python.so"
_lock = threading.Lock()
_module: Any = None


def library() -> Any:
    """The loaded module. ImportError: apache-tvm-ffi or the shared library is missing."""
    return _module if _module is not None else _load()


def _places() -> list[pathlib.Path]:
    """Where the shared library may be: said by EINKORN_LIBRARY, in the wheel, in a build folder."""
    if said := os.environ.get("EINKORN_LIBRARY"):
        return [pathlib.Path(said)]
    here = pathlib.Path(__file__).resolve().parent
    places = [here / "lib" / _FILE]
    if build := os.environ.get("EINKORN_BUILD_DIR"):
        places.append(pathlib.Path(build) / "lib" / _FILE)
    places.append(here.parents[1] / "build" / "lib" / _FILE)  # of a checkout
    return places


def _import_tvm_ffi() -> Any:
    # Where PyTorch is installed this imports it, too: tvm-ffi does so itself, to have its library
    # loaded first.
    try:
        import tvm_ffi
    except ImportError as error:
        raise ImportError(
            f"einkorn: apache-tvm-ffi cannot be imported: {error}\n"
            "  hint: pip install 'apache-tvm-ffi>=0.1.15,<0.2'"
        ) from error
    return tvm_ffi


def _load() -> Any:
    global _module  # noqa: PLW0603  (the one place that fills it)
    with _lock:
        if _module is not None:
            return _module
        tvm_ffi = _import_tvm_ffi()
        places = _places()
        found = next((place for place in places if place.is_file()), None)
        if found is None:
            tried = "".join(f"\n  tried: {place}" for place in places)
            raise ImportError(
                f"einkorn: {_FILE} is in none of {len(places)} places{tried}\n"
                "  hint: in a checkout `make build`; elsewhere install einkorn anew, or set "
                "EINKORN_LIBRARY to the file's full path"
            )
        # Known to it by name are some of Python's errors, not this one.
        tvm_ffi.register_error("NotImplementedError", NotImplementedError)
        loaded = tvm_ffi.load_module(str(found), keep_module_alive=True)
        # What the tuner starts for its candidates is this interpreter with the same variants.
        loaded.set_self_command(sys.executable, "-m", "einkorn")
        _module = loaded
    return _module
