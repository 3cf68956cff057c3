"""Programs of forms: the foreign call, below batching, below differentiation, below jit."""

import functools
from collections.abc import Callable
from typing import Any

import jax

from . import _batching, _gradients, _target
from ._form import Form


def _call(form: Form, *arrays: Any) -> tuple[Any, ...]:
    """The foreign call; traced. Raises what the op refuses."""
    if form.is_concrete(arrays):
        # A program is compiled for the CPU where nothing else is there; else its device is unknown.
        form.check(arrays, "cpu" if jax.default_backend() == "cpu" else None)
    target = jax.ffi.ffi_call(
        _target.name(), form.results(arrays), input_output_aliases=form.aliases()
    )
    return tuple(target(*arrays, **form.attributes()))


@functools.lru_cache(maxsize=4096)
def program(form: Form) -> Callable[..., tuple[Any, ...]]:
    """Takes the arrays of form.inputs in order, gives those of form.results_names."""
    call = _batching.batched(form, functools.partial(_call, form))
    return jax.jit(_gradients.differentiable(form, program, call), inline=True)
