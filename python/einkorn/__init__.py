"""einkorn: compute kernels for large models, on NVIDIA GPUs and CPUs.

    import einkorn
    y = einkorn.ops.rms_norm(x, weight)

Arrays of PyTorch, NumPy, JAX and CuPy are taken as they are. Nothing heavy is imported before it is
used: neither a framework, nor CUDA, nor the library itself.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import jax, jit, ops, torch
    from ._batch_invariant import batch_invariant, is_batch_invariant
    from ._config import OpConfig
    from ._python_variants import remove_variant, variant
    from ._registry import dump, explain, variants
    from ._slot import OpSlot
    from ._slots import bind, unbind
    from ._version import __version__

# Where each name is, found when it is first asked for (PEP 562).
_MODULES = ("jax", "jit", "ops", "torch")
_NAMES = {
    "OpConfig": "._config",
    "OpSlot": "._slot",
    "__version__": "._version",
    "batch_invariant": "._batch_invariant",
    "bind": "._slots",
    "dump": "._registry",
    "explain": "._registry",
    "is_batch_invariant": "._batch_invariant",
    "remove_variant": "._python_variants",
    "unbind": "._slots",
    "variant": "._python_variants",
    "variants": "._registry",
}

# Written out, as type checkers take no other for what the package exports.
__all__ = [
    "OpConfig",
    "OpSlot",
    "__version__",
    "batch_invariant",
    "bind",
    "dump",
    "explain",
    "is_batch_invariant",
    "jax",
    "jit",
    "ops",
    "remove_variant",
    "torch",
    "unbind",
    "variant",
    "variants",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name in _NAMES:
        value = getattr(importlib.import_module(_NAMES[name], __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'einkorn' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
