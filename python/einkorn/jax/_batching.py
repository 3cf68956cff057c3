"""vmap: a batch becomes one more leading dimension, which ops fold into their rows.

Whether an op can take a batch so is asked of its contract: what is batched gets one more leading
dimension, what is not stays as it is (a weight) or is repeated (a residual), and the contract
accepts the call and gives every output the batch's dimension. Where none of that fits (a batched
weight, the gradient of a weight) the call runs once for each element, in order.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ._form import Form


def batched(form: Form, call: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    """`call` with a rule for vmap, which may be nested."""
    function = jax.custom_batching.custom_vmap(call)

    def rule(size: int, is_batched: Sequence[bool], *arrays: Any) -> tuple[Any, Any]:
        all_batched = tuple(True for _ in form.results_names)
        folded = _folded(form, size, is_batched, arrays)
        if folded is not None:
            return function(*folded), all_batched
        return _one_by_one(function, is_batched, arrays), all_batched

    function.def_vmap(rule)
    return function


def _folded(
    form: Form, size: int, is_batched: Sequence[bool], arrays: Sequence[Any]
) -> list[Any] | None:
    """The arrays of one call over the whole batch; None: the op cannot take it so."""
    one = [
        jax.ShapeDtypeStruct(array.shape[1:] if batch else array.shape, array.dtype)
        for array, batch in zip(arrays, is_batched, strict=True)
    ]
    if not form.is_concrete([*one, *arrays]):
        return None
    wanted = [(size, *result.shape) for result in form.results(one)]
    choices = [(False,) if batch else (False, True) for batch in is_batched]
    for repeat in itertools.product(*choices):
        whole = [
            jax.ShapeDtypeStruct((size, *array.shape) if again else array.shape, array.dtype)
            for array, again in zip(arrays, repeat, strict=True)
        ]
        if _is_accepted(form, whole) and [one.shape for one in form.results(whole)] == wanted:
            return [
                jnp.broadcast_to(array, described.shape)
                for array, described in zip(arrays, whole, strict=True)
            ]
    return None


def _is_accepted(form: Form, arrays: Sequence[jax.ShapeDtypeStruct]) -> bool:
    try:
        form.check(arrays, None)
    except (TypeError, ValueError):
        return False
    return True


def _one_by_one(
    function: Callable[..., tuple[Any, ...]], is_batched: Sequence[bool], arrays: Sequence[Any]
) -> tuple[Any, ...]:
    def once(rows: list[Any]) -> tuple[Any, ...]:
        each = iter(rows)
        return function(
            *(
                next(each) if batch else array
                for array, batch in zip(arrays, is_batched, strict=True)
            )
        )

    return jax.lax.map(
        once, [array for array, batch in zip(arrays, is_batched, strict=True) if batch]
    )
