"""What the generated functions of ops.py share: one op as data, and the way of a call."""

from collections.abc import Callable
from typing import Any

from . import _native

#: How an output that was not given is made: (tensor it is like, shape, dtype). The dtype is None
#: for the tensor's own, "f32", or "f32+": f64 beside a tensor of f64, else f32.
Rule = Callable[..., tuple[Any, tuple[int, ...], str | None]]


def no_direct_way(*_: Any) -> None:
    """`Op.direct` until a framework that has such a way is met."""


class Op:
    """An op: the names of its arguments in order, and how its outputs are allocated."""

    __slots__ = (
        "_function",
        "_torch_function",
        "_wrap",
        "direct",
        "given_outputs",
        "inouts",
        "inputs",
        "models",
        "name",
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
        inouts: tuple[str, ...] = (),
        outputs: tuple[str, ...],
        optional_outputs: tuple[str, ...],
        models: dict[str, tuple[str, ...]],
        rules: tuple[Rule, ...],
        scalars: dict[str, bool | int | float | str],
        given_outputs: dict[str, str] | None = None,
    ) -> None:
        self.name = name
        self.inputs = inputs
        #: Those of the inputs that a call writes as well, in place; none of them may be left out.
        self.inouts = inouts
        self.outputs = outputs
        self.optional_outputs = optional_outputs
        #: Of the optional outputs those that only the caller can make, since their sizes follow
        #: from values, each with what it has to be.
        self.given_outputs = given_outputs or {}
        #: By output, the inputs that it may be like; none for one that only the caller can make.
        self.models = models
        self.rules = rules
        self.scalars = scalars
        self._function: Any = None
        self._torch_function: Any = None
        self._wrap: Callable[[Any], Any] | None = None
        #: A call by the shortest way, of inputs, outputs, scalars, and variant or None. It gives
        #: what the call gives, or does nothing and gives None: the call is for the handlers then.
        self.direct: Callable[..., Any] = no_direct_way

    def __repr__(self) -> str:
        return f"<einkorn op {self.name}>"

    @property
    def function(self) -> Any:
        """The library's function: inputs, outputs, scalars, variant or None, in this order."""
        if self._function is None:
            from ._registry import load_entry_points

            function = _native.library().op(self.name)
            # A variant of another package may be asked for. Kept only then: one that fails does so
            # at every call, until it is repaired.
            load_entry_points()
            self._function = function if self._wrap is None else self._wrap(function)
        return self._function

    @property
    def torch_function(self) -> Any:
        """As `function`, for PyTorch's tensors: by a shorter way where there is one."""
        if self._torch_function is None:
            from .torch import _direct

            _direct.prepare(self)
        return self._torch_function

    def wrap(self, wrap: Callable[[Any], Any]) -> None:
        """Calls go through `wrap(function)` from here on."""
        if self._wrap is not wrap:
            self._wrap = wrap
            self._function = self._torch_function = None
            self.direct = no_direct_way

    def required(self, output: str) -> bool:
        return output not in self.optional_outputs

    def shown(self, output: str) -> str:
        """What its parameter of the op's function is called."""
        required = [name for name in self.outputs if self.required(name)]
        return "out" if required == [output] else output

    def updated(self, inputs: tuple[Any, ...]) -> list[Any]:
        """Of a call's inputs those that it writes."""
        return [one for name, one in zip(self.inputs, inputs, strict=True) if name in self.inouts]

    def result(self, outputs: tuple[Any, ...]) -> Any:
        """What a call gives back: its only output, or a tuple of those that were written."""
        written = [one for one in outputs if one is not None]
        return written[0] if len(written) == 1 else tuple(written)
