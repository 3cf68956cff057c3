"""The registry from Python: what there is, what would be chosen and why."""

import importlib.metadata
import json
import os
import traceback
from typing import Any

from ._native import library

GROUP = "einkorn.variants"


def variants(op: str) -> list[dict[str, Any]]:
    """The variants of an op in order of preference.

    Each as {id, name, language, summary, batch_invariant, available, reason}: `reason` says why a
    variant cannot run on any device here. ValueError: no such op.
    """
    load_entry_points()
    return json.loads(library().variants(op))


def explain(
    op: str, *, device: str | None = None, variant: str | None = None, **problem: Any
) -> dict[str, Any]:
    """Which variant a problem would get, and why each other one lost: as `einkorn explain --json`.

        einkorn.explain("rms_norm", device="h100", rows=16384, cols=4096, dtype="bf16")

    `device` is "cpu", "cuda:0" or a known device's name; None: the best one here. The keys of a
    problem are those of `einkorn list ops`. ValueError: unknown op, device, variant, key or value.
    """
    load_entry_points()
    words = " ".join(f"{key}={word(value)}" for key, value in problem.items())
    return json.loads(library().explain(op, words, device or "", variant))


def dump(model: Any = None) -> str:
    """Every op and variant with its state, as a table for people.

    With a model, as einkorn.bind takes it: each of its slots with its choice, the rule and reason
    for it, and why each other variant lost.
    """
    load_entry_points()
    if model is not None:
        from ._slots import dump as dump_slots

        return dump_slots(model)
    return str(library().dump())


def word(value: Any) -> str:
    """A value of a problem as the command takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


_entry_points_loaded = False
# Not to be called again once another has been repaired: their names are taken.
_loaded: set[importlib.metadata.EntryPoint] = set()


def load_entry_points() -> None:
    """Lets installed packages add their variants: the entry points of the group einkorn.variants.

    Each is a module, or a callable, which is called. One that raises is an ImportError that names
    the package, with what it raised chained. EINKORN_ENTRY_POINTS=off leaves all of them out.
    """
    global _entry_points_loaded  # noqa: PLW0603  (once a process, but again after a failure)
    if _entry_points_loaded or os.environ.get("EINKORN_ENTRY_POINTS") == "off":
        return
    _entry_points_loaded = True
    for point in importlib.metadata.entry_points(group=GROUP):
        if point in _loaded:
            continue
        try:
            loaded = point.load()
            if callable(loaded):
                loaded()
            _loaded.add(point)
        except Exception as error:
            _entry_points_loaded = False
            package = point.dist.name if point.dist is not None else "?"
            raise ImportError(
                f"einkorn: the variants '{point.name}' of the package {package} cannot be loaded "
                f"({point.value}):\n{traceback.format_exc()}"
                "  hint: repair or remove the package, or set EINKORN_ENTRY_POINTS=off"
            ) from error
