"""Functions that torch.compile does not look into, whichever of PyTorch and einkorn comes first.

They are marked as torch.compiler.disable marks its own, which itself would import PyTorch's
compiler, and that takes seconds. A marked function breaks the graph; under fullgraph=True PyTorch's
error tells the reason.
"""

import functools
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


def apart(reason: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """A decorator: the function runs as it is, and so does what it calls."""

    def mark(function: Callable[_P, _R]) -> Callable[_P, _R]:
        disabled: Callable[_P, _R] | None = None

        @functools.wraps(function)
        def run(*arguments: _P.args, **settings: _P.kwargs) -> _R:
            nonlocal disabled
            if "torch._dynamo" not in sys.modules:  # nothing can be traced yet
                return function(*arguments, **settings)
            if disabled is None:
                disabled = sys.modules["torch"].compiler.disable(function)
            return disabled(*arguments, **settings)

        run._torchdynamo_disable = True  # type: ignore[attr-defined]
        run._torchdynamo_disable_msg = reason  # type: ignore[attr-defined]
        return run

    return mark


def is_compiling() -> bool:
    """Whether torch.compile traces now."""
    compiler = getattr(sys.modules.get("torch"), "compiler", None)  # None: not imported, or not yet
    return compiler is not None and compiler.is_compiling()
