"""Calls with JAX arrays: by einkorn.jax, because their memory is XLA's to allocate and to write."""

from typing import Any

from ._dispatch import check_frameworks
from ._op import Op


def call(
    op: Op,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    scalars: tuple[Any, ...],
    variant: str | None,
) -> Any:
    for name, one in zip(op.outputs, outputs, strict=True):
        if one is not None and one is not True and one is not False:
            shown = "out" if name == "y" else name
            raise TypeError(
                f"{op.name}: {shown}: expected no array with inputs of JAX, whose arrays cannot be "
                "written, got one\n"
                "  hint: leave it out; donate an argument of jax.jit to save memory"
            )
    try:
        check_frameworks(op, op.inputs, inputs)
    except TypeError as error:
        raise TypeError(
            f"{error}\n  hint: einkorn.jax.{op.name} takes whatever jax.numpy.asarray does"
        ) from None
    from . import jax as binding

    return binding.call(op, inputs, outputs, scalars, variant)
