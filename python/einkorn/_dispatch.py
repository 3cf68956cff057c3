"""The way of a call from a function of ops.py to the library, by the arrays' framework.

A framework is known by the type of an argument, so that none is imported here: its module is in
`sys.modules` when one of its arrays comes.
"""

import sys
from collections.abc import Callable
from typing import Any

from ._op import Op, Rule

Handler = Callable[[Op, tuple[Any, ...], tuple[Any, ...], tuple[Any, ...], str | None], Any]

#: By the exact type of a call's first input; filled as types are met. A handler takes op, inputs,
#: outputs, scalars and variant; `outputs` holds arrays, None, or True for one to be allocated.
handlers: dict[type, Handler] = {}


def _never() -> bool:
    return False


#: Whether torch.compile is tracing the call, which has to see handlers then and no code in C.
#: PyTorch's own function, which torch.compile knows, once PyTorch is met.
is_tracing: Callable[[], bool] = _never

_FRAMEWORKS = ("torch", "numpy", "jax", "jaxlib", "cupy")


def framework_of(kind: type) -> str | None:
    """Also for subclasses from elsewhere, such as torch.nn.Parameter's."""
    for base in kind.__mro__:
        package = base.__module__.partition(".")[0]
        if package in _FRAMEWORKS:
            return package
    return None


def _handler_in(package: str) -> Handler:
    # By statements, which torch.compile follows where it stops at importlib.
    if package == "torch":
        from . import torch  # noqa: F401  (first: the two modules need each other)
        from ._torch_calls import call
    elif package == "numpy":
        from ._numpy_calls import call
    elif package == "cupy":
        from ._cupy_calls import call
    else:
        from ._jax_calls import call
    return call


def first_call(
    op: Op,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    scalars: tuple[Any, ...],
    variant: str | None,
) -> Any:
    """The handler for a call with inputs of a type not met before, or whose first was left out."""
    first = next((one for one in inputs if one is not None), None)
    handler = None if first is None else handlers.get(type(first))
    if handler is None:
        handler = _handler_of(op, inputs)
    return handler(op, inputs, outputs, scalars, variant)


def add_handler(kinds: tuple[type, ...], handler: Handler) -> None:
    for kind in kinds:
        handlers[kind] = handler


def meet_frameworks() -> None:
    """Knows the types of PyTorch before the first call where it is there: that call may be one that
    torch.compile traces, which would be compiled again for a type more.
    """
    # None: somebody forbids importing it.
    if sys.modules.get("torch") is not None and f"{__package__}.torch" not in sys.modules:
        from . import torch  # noqa: F401  (adds its handler)


# Present from the start: torch.compile compiles again when what a look-up missed changes.
add_handler((type(None),), first_call)


def _handler_of(op: Op, inputs: tuple[Any, ...]) -> Handler:
    given = ((name, one) for name, one in zip(op.inputs, inputs, strict=True) if one is not None)
    name, first = next(given, (op.inputs[0], None))
    package = framework_of(type(first))
    if package is None:
        got = "None" if first is None else type(first).__qualname__
        raise TypeError(
            f"{op.name}: {name}: expected an array of PyTorch, NumPy, JAX or CuPy, got {got}\n"
            "  hint: numpy.asarray(...) makes one of a list"
        )
    handler = _handler_in(package)
    handlers[type(first)] = handler
    return handler


def check_frameworks(op: Op, names: tuple[str, ...], arrays: tuple[Any, ...]) -> None:
    """TypeError where an argument is of another framework than the rest."""
    known: tuple[str, str] | None = None
    for name, one in zip(names, arrays, strict=True):
        if one is None or one is True:
            continue
        package = (framework_of(type(one)) or type(one).__qualname__).replace("jaxlib", "jax")
        if known is None:
            known = (name, package)
        elif package != known[1]:
            raise TypeError(
                f"{op.name}: {name}: expected an array of {known[1]} as {known[0]} is, got one of "
                f"{package} ({type(one).__qualname__})"
            )


def described(rule: Rule, inputs: tuple[Any, ...]) -> tuple[Any, tuple[int, ...], str | None]:
    """What the rule gives for these inputs."""
    try:
        return rule(*inputs)
    except IndexError:
        # An input lacks a dimension. Whatever is said of the output, the contract refuses the call,
        # and in words.
        return next(one for one in inputs if one is not None), (), None


def missing(op: Op, output: str) -> Exception:
    """What to raise where the tensor that an output is like was left out, or where it has none."""
    models = op.models[output]
    if output in op.given_outputs:
        return ValueError(
            f"{op.name}: {output}: expected an array, got True\n"
            "  hint: its size follows from values, so the caller has to make it: "
            f"{op.given_outputs[output]}"
        )
    if len(models) == 1:
        return ValueError(
            f"{op.name}: {output}: expected not to be asked for without {models[0]}, "
            f"got no {models[0]}"
        )
    # With more than one to choose from, something required was left out.
    return TypeError(f"{op.name}: {output}: expected one of {', '.join(models)}, got None for each")


def allocated(
    op: Op,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    empty: Callable[[Any, tuple[int, ...], str | None], Any],
) -> tuple[Any, ...]:
    """`outputs` with what the caller left to us: the required ones, and those asked for by True.

    A required output whose model is None is not there in this form of the call.
    """
    made: list[Any] = []
    for name, rule, given in zip(op.outputs, op.rules, outputs, strict=True):
        if given is None and not op.required(name):
            made.append(None)
        elif given is None or given is True:
            like, shape, dtype = described(rule, inputs)
            if like is None:
                if given is True:
                    raise missing(op, name)
                made.append(None)
            else:
                made.append(empty(like, shape, dtype))
        elif given is False:
            made.append(None)
        else:
            made.append(given)
    return tuple(made)
