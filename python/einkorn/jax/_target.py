"""The foreign function target: one for all ops, a call's attributes say which."""

import ctypes
import threading

import jax

from .. import _native

_NAME = "einkorn"
_lock = threading.Lock()
_is_registered = False


def name() -> str:
    """The target's name, registered with XLA. ImportError: the library is missing."""
    global _is_registered  # noqa: PLW0603  (the one place that sets it)
    with _lock:
        if not _is_registered:
            library = _native.library()
            for platform in ("cpu", "cuda"):
                address = ctypes.c_void_p(library.jax_handler(platform))
                # XLA keeps the name of a platform that JAX does not have for when it does.
                jax.ffi.register_ffi_target(
                    _NAME,
                    jax.ffi.pycapsule(address),
                    platform="cpu" if platform == "cpu" else "CUDA",
                )
            _is_registered = True
    return _NAME
