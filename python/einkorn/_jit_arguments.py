"""Arguments of kernels of one's own: what each framework's arrays become on their way to a call.

A framework is known by the type of a value, so that none is imported here.
"""

import ctypes
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ._dispatch import framework_of


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel, as far as its name tells."""

    type: str  #: "float const*"; "" where the name tells none, as with extern "C" on a GPU
    kind: str  #: "pointer", "number" or "other"
    const: bool  #: of what a pointer points to
    floating: bool  #: numbers
    boolean: bool  #: numbers
    bytes: int

    @property
    def only_read(self) -> bool:
        return self.kind == "pointer" and self.const


class Passing:
    """The values of one call, and what the call has to see to because of them."""

    __slots__ = ("cupy_device", "parameters", "values", "wait", "who")

    def __init__(
        self, who: str, arguments: tuple[Any, ...], parameters: tuple[Parameter, ...] | None
    ) -> None:
        self.who = who
        self.parameters = parameters  #: None: of a function that tells nothing of its own
        self.wait = False  #: memory may be reused before the stream's work is done
        self.cupy_device: int | None = None
        self.values: list[Any] = list(arguments)
        for index, one in enumerate(arguments):
            convert = _converters.get(type(one), _unknown)
            if convert is not None:
                self.values[index] = convert(self, index, one)

    def argument(self, index: int) -> str:
        known = self.parameters is not None and index < len(self.parameters)
        text = self.parameters[index].type if known and self.parameters else ""
        return f"{self.who}: argument {index + 1}" + (f" ({text})" if text else "")

    def only_read(self, index: int) -> bool:
        if self.parameters is None or index >= len(self.parameters):
            return False
        return self.parameters[index].only_read

    def call(self, function: Callable[..., Any], head: tuple[int, ...] = ()) -> Any:
        """Calls on the current stream of the arrays' framework."""
        if self.cupy_device is None:  # tvm-ffi itself asks PyTorch
            return function(*head, *self.values)
        from ._cupy_calls import current_stream

        with current_stream(self.cupy_device):
            return function(*head, *self.values)


Converter = Callable[[Passing, int, Any], Any]

_READ_HINT = (
    "\n  hint: a parameter that is only read is a pointer to const, of a kernel that is not "
    'extern "C"'
)


def _torch(passing: Passing, index: int, one: Any) -> Any:
    if one.requires_grad and sys.modules["torch"].is_grad_enabled():
        raise RuntimeError(
            f"{passing.argument(index)}: expected a tensor that requires no gradient, got one that "
            "does, and autograd does not see kernels\n  hint: call under torch.no_grad(), or in a "
            "torch.autograd.Function"
        )
    if one.is_neg():
        raise ValueError(
            f"{passing.argument(index)}: expected a tensor with its values in memory, got a lazily "
            "negated view\n  hint: x.resolve_neg()"
        )
    if one.layout is not sys.modules["torch"].strided or one.device.type == "meta":
        raise TypeError(
            f"{passing.argument(index)}: expected a tensor with plain memory, got one of layout "
            f"{one.layout} on {one.device}"
        )
    return one


def _torch_subclass(passing: Passing, index: int, one: Any) -> Any:
    """Fake tensors and the like have no memory, or other memory than they seem to."""
    torch = sys.modules["torch"]
    if type(one).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        raise TypeError(
            f"{passing.argument(index)}: expected torch.Tensor, got {type(one).__qualname__}\n"
            "  hint: as_custom_op() makes an operator that fake tensors and torch.compile take"
        )
    return _torch(passing, index, one)


def _numpy(passing: Passing, index: int, one: Any) -> Any:
    from . import _dlpack

    if not one.flags.writeable and not passing.only_read(index):
        raise ValueError(
            f"{passing.argument(index)}: expected an array that can be written, got a read-only "
            f"one of shape {one.shape}, {one.dtype}{_READ_HINT}; numpy.array(...) makes a copy"
        )
    return _dlpack.exported(one, who=passing.argument(index))


def _numpy_scalar(_: Passing, __: int, one: Any) -> Any:
    return one.item()


def _jax(passing: Passing, index: int, one: Any) -> Any:
    if isinstance(one, sys.modules["jax"].core.Tracer):
        raise TypeError(
            f"{passing.argument(index)}: expected an array with its values, got a tracer of JAX\n"
            "  hint: kernels are called outside of jax.jit; jax.pure_callback leads out of it"
        )
    if not passing.only_read(index):
        raise TypeError(
            f"{passing.argument(index)}: expected an array that can be written, got one of JAX, "
            f"whose arrays cannot{_READ_HINT}; outputs are arrays of NumPy, PyTorch or CuPy"
        )
    one.block_until_ready()
    # XLA may use the memory for something else as soon as the caller lets go of the array.
    passing.wait |= any(device.platform != "cpu" for device in one.devices())
    return one


def _cupy(passing: Passing, _: int, one: Any) -> Any:
    if passing.cupy_device is None:
        passing.cupy_device = one.device.id
    return one


def _find(kind: type) -> Converter | None:
    package = framework_of(kind)
    if package == "torch":
        torch = sys.modules["torch"]
        return _torch if kind in (torch.Tensor, torch.nn.Parameter) else _torch_subclass
    if package == "numpy":
        return _numpy_scalar if issubclass(kind, sys.modules["numpy"].generic) else _numpy
    if package == "cupy":
        return _cupy
    return _jax


def _unknown(passing: Passing, index: int, one: Any) -> Any:
    """The first value of a type that the table does not have."""
    kind = type(one)
    if framework_of(kind) is not None:
        convert = _find(kind)
    elif isinstance(one, int | float) or hasattr(kind, "__dlpack__"):
        convert = None
    elif passing.parameters is None:
        return one  # texts, dtypes, objects of tvm-ffi: between it and the function
    else:
        raise TypeError(
            f"{passing.argument(index)}: expected an array of PyTorch, NumPy, JAX or CuPy, a "
            f"number, None, bytes of a struct or ctypes.c_void_p, got {kind.__qualname__}"
        )
    _converters[kind] = convert
    return one if convert is None else convert(passing, index, one)


# By the exact type of a value; None: passed as it is. Filled as types are met.
_converters: dict[type, Converter | None] = dict.fromkeys(
    (bool, int, float, type(None), bytes, ctypes.c_void_p)
)
