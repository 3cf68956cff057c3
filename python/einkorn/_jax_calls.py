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
        if one is None or one is False:
            continue
        refusal = (
            f"{op.name}: {op.shown(name)}: expected no array with inputs of JAX, whose arrays "
            f"cannot be written, got {'True' if one is True else 'one'}\n"
        )
        if name in op.given_outputs:
            raise TypeError(
                f"{refusal}  hint: only the caller can make it, as its size follows from values: "
                "call with arrays of NumPy or PyTorch"
            )
        if one is not True:
            raise TypeError(
                f"{refusal}  hint: leave it out; donate an argument of jax.jit to save memory"
            )
    try:
        check_frameworks(op, op.inputs, inputs)
    except TypeError as error:
        raise TypeError(
            f"{error}\n  hint: einkorn.jax.{op.name} takes whatever jax.numpy.asarray does"
        ) from None
    from . import jax as binding

    return binding.call(op, inputs, outputs, scalars, variant)
