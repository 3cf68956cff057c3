"""One way to call an op, without its arrays: what a compiled program is made for."""

import dataclasses
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from .. import _dlpack, _native
from .._batch_invariant import is_batch_invariant
from .._dispatch import allocated
from .._numpy_dtypes import output_dtype
from .._op import Op

Scalar = bool | int | float | str


@dataclasses.dataclass(frozen=True)
class Form:
    """Hashable: equal forms share a program."""

    op: Op
    inputs: tuple[str, ...]  # names of those that are given, in the op's order
    outputs: tuple[str, ...]  # and of those that are made
    scalars: tuple[Scalar, ...]
    variant: str | None
    batch_invariant: bool

    @classmethod
    def of_call(
        cls,
        op: Op,
        inputs: tuple[Any, ...],
        outputs: tuple[Any, ...],
        scalars: tuple[Any, ...],
        variant: str | None,
    ) -> "Form":
        """TypeError: a scalar is no Python number. ValueError: an output that is not there."""
        made = allocated(op, inputs, outputs, _description)
        return cls(
            op,
            _present(op.inputs, inputs),
            _present(op.outputs, made),
            tuple(
                _scalar(op, name, default, given)
                for (name, default), given in zip(op.scalars.items(), scalars, strict=True)
            ),
            variant,
            is_batch_invariant(),
        )

    def of(self, op: Op, inputs: Mapping[str, Any], outputs: Sequence[str]) -> "Form":
        """A call of another op that belongs to this one, such as its backward: it takes over the
        scalars that both have, and `variant` only as the reference, which every op has."""
        known = dict(zip(self.op.scalars, self.scalars, strict=True))
        return Form(
            op,
            _present(op.inputs, [inputs.get(name) for name in op.inputs]),
            tuple(name for name in op.outputs if name in outputs),
            tuple(known.get(name, default) for name, default in op.scalars.items()),
            "reference" if self.variant == "reference" else None,
            self.batch_invariant,
        )

    def with_outputs(self, *names: str) -> "Form":
        """The same call with more outputs."""
        wanted = {*self.outputs, *names}
        return dataclasses.replace(
            self, outputs=tuple(name for name in self.op.outputs if name in wanted)
        )

    @property
    def results_names(self) -> tuple[str, ...]:
        """What a program gives: the outputs, and what the op updates in place as arrays of its own,
        since those of JAX cannot be written."""
        return self.outputs + self.op.inouts

    def aliases(self) -> dict[int, int]:
        """Places of inputs to the places of results that take over their memory."""
        return {
            self.inputs.index(name): len(self.outputs) + place
            for place, name in enumerate(self.op.inouts)
        }

    def results(self, arrays: Sequence[Any]) -> tuple[jax.ShapeDtypeStruct, ...]:
        """Shapes and dtypes by `results_names`. `arrays` are those of `inputs`, or stand-ins."""
        given = dict(zip(self.inputs, arrays, strict=True))
        inputs = tuple(given.get(name) for name in self.op.inputs)
        outputs = tuple(name in self.outputs for name in self.op.outputs)
        made = allocated(self.op, inputs, outputs, _description)
        updated = [
            jax.ShapeDtypeStruct(given[name].shape, given[name].dtype) for name in self.op.inouts
        ]
        return (*(one for one in made if one is not None), *updated)

    def check(self, arrays: Sequence[Any], device: str | None) -> None:
        """What the op would refuse, by shapes and dtypes alone; raises as a call does.

        With a device ("cpu") also whether a variant serves there.
        """
        given = dict(zip(self.inputs, arrays, strict=True))
        given |= zip(self.results_names, self.results(arrays), strict=True)
        names = self.op.inputs + self.op.outputs
        tensors = _dlpack.stand_ins(
            [(f"{self.op.name}: {name}", given.get(name)) for name in names]
        )
        _native.library().check(self.op.name)(*tensors, *self.scalars, self.variant, device)

    @staticmethod
    def is_concrete(arrays: Sequence[Any]) -> bool:
        """Whether all sizes are numbers: those of an exported program may be left open."""
        return all(isinstance(size, int) for one in arrays for size in one.shape)

    def attributes(self) -> dict[str, Any]:
        """Of the foreign call: all of this form, readable in a dump of the program."""
        scalars = zip(self.op.scalars, self.scalars, strict=True)
        return {
            "op": self.op.name,
            "tensors": ",".join(self.inputs + self.results_names),
            "variant": self.variant or "",
            "batch_invariant": self.batch_invariant,
        } | {name: _attribute(value) for name, value in scalars}


def _present(names: Sequence[str], arrays: Sequence[Any]) -> tuple[str, ...]:
    return tuple(name for name, one in zip(names, arrays, strict=True) if one is not None)


def _description(like: Any, shape: tuple[int, ...], dtype: str | None) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, output_dtype(like, dtype))


def _scalar(op: Op, name: str, default: Scalar, given: Any) -> Scalar:
    """`given` as the type of the default, so that equal calls are equal."""
    if isinstance(given, jax.Array):
        raise TypeError(
            f"{op.name}: {name}: expected a Python {type(default).__name__}, got a JAX array\n"
            "  hint: scalars are part of the compiled program; name it in static_argnames of "
            "jax.jit, or call float() on it outside"
        )
    try:
        if isinstance(default, bool) and isinstance(given, bool | int | np.bool):
            return bool(given)
        if isinstance(default, int):
            return operator.index(given)
        if isinstance(default, float) and not isinstance(given, str | bytes):
            return float(given)
        if isinstance(default, str) and isinstance(given, str):
            return given
    except TypeError:
        pass
    raise TypeError(
        f"{op.name}: {name}: expected {type(default).__name__}, got {type(given).__name__}"
    )


def _attribute(value: Scalar) -> Any:
    """With the width that the handler reads."""
    if isinstance(value, bool | str):
        return value
    return np.int64(value) if isinstance(value, int) else np.float64(value)
