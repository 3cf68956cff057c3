"""Batch-invariant mode: a row's result has the same bits whatever other rows there are."""

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from ._native import library


def batch_invariant() -> "BatchInvariant":
    """Within it only variants serve that declare it, each with its heuristic's tiling.

        with einkorn.batch_invariant():
            y = einkorn.ops.rms_norm(x, weight)

        @einkorn.batch_invariant()
        def evaluate(model, batch): ...

    It counts for this thread only, scopes nest, and an exception leaves the scope as any other. A
    scope ends on the thread that it began on: RuntimeError otherwise.
    """
    return BatchInvariant()


def is_batch_invariant() -> bool:
    """Whether this thread is in the mode."""
    return bool(library().is_batch_invariant())


class BatchInvariant(contextlib.AbstractContextManager[None]):
    """The scope of batch_invariant(): may be entered again, within itself and by other threads."""

    def __init__(self) -> None:
        # How often each thread is in it. Each touches its own entry alone.
        self._depths: dict[int, int] = {}

    def __enter__(self) -> None:
        library().batch_invariant(True)
        thread = threading.get_ident()
        self._depths[thread] = self._depths.get(thread, 0) + 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        thread = threading.get_ident()
        depth = self._depths.get(thread, 0)
        if depth == 0:
            # A generator that is closed by another thread than it ran on, for one.
            raise RuntimeError(
                "batch_invariant: thread: expected the end on the thread of the begin, got it on "
                f"{threading.current_thread().name}\n"
                "  hint: keep the scope within one function that does not yield"
            )
        if depth == 1:
            del self._depths[thread]
        else:
            self._depths[thread] = depth - 1
        library().batch_invariant(False)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, each call in a scope of its own.

        TypeError for one whose body does not run while it is called: generators and coroutines.
        """
        if not callable(function):
            raise TypeError(
                f"batch_invariant: expected a function, got {type(function).__qualname__}"
            )
        for waits in (
            inspect.isgeneratorfunction,
            inspect.iscoroutinefunction,
            inspect.isasyncgenfunction,
        ):
            if waits(function):
                raise TypeError(
                    "batch_invariant: expected a function that runs while it is called, got "
                    f"{function.__qualname__}, a generator or coroutine\n"
                    "  hint: `with einkorn.batch_invariant():` around the calls in its body, "
                    "without a yield or await in between"
                )

        @functools.wraps(function)
        def within(*arguments: Any, **keywords: Any) -> Any:
            with BatchInvariant():
                return function(*arguments, **keywords)

        return within
