"""A slot: a named place of one model that calls an op, by the variant that it is bound to.

It belongs to a model instance; nothing here belongs to the process.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from . import ops


@dataclasses.dataclass(frozen=True)
class SlotBinding:
    """What a slot uses, and why."""

    path: str
    op: str
    #: The rule that decided, as in the configuration, with its line.
    rule: str
    #: Full name of a variant; or, where the slot's problem was not known, "auto" or a pattern:
    #: decided for each problem when it is first called.
    variant: str
    reason: str
    #: (full name of a variant, why not this one)
    losers: tuple[tuple[str, str], ...]


class OpSlot:
    """A place of a model that calls one op.

        self.norm = einkorn.OpSlot("rms_norm")      # in a model's constructor
        y = self.norm(x, self.weight, eps=1e-6)     # after einkorn.bind(model, config)

    Args:
        op: the op's name.
        problem: what is known of the calls when the model is built, as `einkorn.explain` takes it:
            {"cols": 4096, "dtype": "bf16"}. Binding then refuses what cannot serve it. None: any
            problem may come.
        scalars: arguments of the op that are the place's own mathematics, given to each call:
            offset=1, rounding="gemma".

    A copy of a slot, as copy.deepcopy(model) makes it, has the binding of its original, and goes
    its own way from there. Calls from several threads are safe as long as none binds.
    """

    def __init__(
        self, op: str, problem: Mapping[str, Any] | None = None, **scalars: bool | int | float | str
    ) -> None:
        self.op = op
        self.problem = problem
        self.scalars = scalars
        self._function: Callable[..., Any] | None = None
        self._binding: SlotBinding | None = None
        self._choice: str | None = None

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        """The op's function in einkorn.ops, with this slot's scalars and variant.

        RuntimeError: the slot is not bound. TypeError: an argument that is the slot's to say.
        """
        function = self._function
        if function is None:
            raise RuntimeError(self._unbound())
        return function(*inputs, **self.scalars, **keywords, variant=self._choice)

    @property
    def is_bound(self) -> bool:
        return self._binding is not None

    @property
    def binding(self) -> SlotBinding:
        """RuntimeError: the slot is not bound."""
        if self._binding is None:
            raise RuntimeError(self._unbound())
        return self._binding

    def unbind(self) -> None:
        """Calls raise from here on."""
        self._function = self._binding = self._choice = None

    def _unbound(self) -> str:
        return (
            f"slot of {self.op}: expected a bound slot, got one that is not\n"
            "  hint: einkorn.bind(model, config) binds all slots of a model"
        )

    def _bind(self, binding: SlotBinding) -> None:
        self._function = getattr(ops, self.op)
        self._binding = binding
        # What an op's functions take for "auto" is None, so that EINKORN_<OP> counts.
        self._choice = None if binding.variant == "auto" else binding.variant

    def __repr__(self) -> str:
        said = "".join(f", {name}={value!r}" for name, value in self.scalars.items())
        state = "not bound" if self._binding is None else self._binding.variant
        return f"<OpSlot {self.op}{said}: {state}>"


@dataclasses.dataclass(frozen=True)
class Place:
    """A slot where it was found."""

    path: str
    slot: OpSlot
    #: In place of the slot's own, where the model knows more.
    problem: Mapping[str, Any] | None = None
    #: Puts a new slot into the model. Must not fail.
    install: Callable[[], None] | None = None
