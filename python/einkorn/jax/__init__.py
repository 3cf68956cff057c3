"""einkorn in JAX: every op as a function that jit, vmap and grad take.

    from einkorn import jax as ek
    y = ek.rms_norm(x, weight)

The functions are those of `einkorn.ops`, which takes JAX arrays as well; here whatever
`jax.numpy.asarray` takes is an array. Ops run by XLA's foreign function calls, on the CPU and on
CUDA where JAX has it; no Python runs during a call. Arrays of JAX cannot be written, so outputs
cannot be given, only asked for (`rstd=True`); one that only the caller can make, such as
`checkpoints` of kda_prefill, is not to be had. Scalars are part of the compiled program: Python
numbers, not traced ones.
"""

import functools
from collections.abc import Callable
from typing import Any

try:
    import jax.numpy as jnp
except ImportError as error:
    raise ImportError(
        f"einkorn: JAX cannot be imported: {error}\n  hint: pip install 'jax>=0.7.2'"
    ) from error

from .. import ops
from .._op import Op
from ._form import Form
from ._program import program

__all__ = ["call", *ops.__all__]  # noqa: PLE0604  (strings, both)


def call(
    op: Op,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    scalars: tuple[Any, ...],
    variant: str | None,
) -> Any:
    """Runs one call. `outputs` holds True, False or None: whether one is asked for.

    TypeError: a scalar is no Python number; else as the function of `einkorn.ops` says, when the
    call is traced. What only shows when it runs (no variant serves on the device XLA compiled for)
    is JAX's JaxRuntimeError, with the same message.
    """
    form = Form.of_call(op, inputs, outputs, scalars, variant)
    return op.result(program(form)(*(one for one in inputs if one is not None)))


def _arrays_of(op: Op, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def converted(*arguments: Any, **named: Any) -> Any:
        arguments = tuple(None if one is None else jnp.asarray(one) for one in arguments)
        for name in op.inputs:
            if named.get(name) is not None:
                named[name] = jnp.asarray(named[name])
        return function(*arguments, **named)

    return converted


def __getattr__(name: str) -> Any:
    if name not in ops.TABLE:
        raise AttributeError(f"module 'einkorn.jax' has no attribute '{name}'")
    made = _arrays_of(ops.TABLE[name], getattr(ops, name))
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    return sorted(__all__)
