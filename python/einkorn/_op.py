"""What the generated functions of ops.py share: one op as data, and the way of a call."""

from collections.abc import Callable
from typing import Any

from . import _native

#: How an output that was not given is made: (tensor it is like, shape, dtype or None for its own).
Rule = Callable[..., tuple[Any, tuple[int, ...], str | None]]


class Op:
    """An op: the names of its arguments in order, and how its outputs are allocated."""

    __slots__ = (
        "_function",
        "inputs",
        "name",
        "optional_inputs",
        "optional_outputs",
        "outputs",
        "rules",
        "scalars",
    )

    def __init__(
        self,
        name: str,
        *,
        inputs: tuple[str, ...],
        optional_inputs: tuple[str, ...],
        outputs: tuple[str, ...],
        optional_outputs: tuple[str, ...],
        rules: tuple[Rule, ...],
        scalars: dict[str, bool | int | float | str],
    ) -> None:
        self.name = name
        self.inputs = inputs
        self.optional_inputs = optional_inputs
        self.outputs = outputs
        self.optional_outputs = optional_outputs
        self.rules = rules
        self.scalars = scalars
        self._function: Any = None

    def __repr__(self) -> str:
        return f"<einkorn op {self.name}>"

    @property
    def function(self) -> Any:
        """The library's function: inputs, outputs, scalars, variant or None, in this order."""
        if self._function is None:
            from ._registry import load_entry_points

            self._function = _native.library().op(self.name)
            load_entry_points()  # a variant of another package may be asked for
        return self._function

    def set_function(self, function: Any) -> None:
        self._function = function

    def required(self, output: str) -> bool:
        return output not in self.optional_outputs

    def result(self, outputs: tuple[Any, ...]) -> Any:
        """What a call gives back: its only output, or a tuple of those that were written."""
        written = [one for one in outputs if one is not None]
        return written[0] if len(written) == 1 else tuple(written)
