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

    def holds(self, value: int) -> bool:
        """A value of more than 63 bits."""
        unsigned = self.type.startswith("unsigned ") and self.kind == "number"
        return unsigned and self.bytes == 8 and 0 <= value < 2**64


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

    def wrong(self, index: int, got: str, hint: str = "") -> TypeError:
        """The error for a value of a kind that the parameter does not take."""
        known = self.parameters is not None and index < len(self.parameters)
        kind = self.parameters[index].kind if known and self.parameters else "other"
        return TypeError(
            f"{self.argument(index)}: expected {_EXPECTED[kind]}, got {got}"
            + (f"\n  hint: {hint}" if hint else "")
        )

    def is_number(self, index: int) -> bool:
        if self.parameters is None or index >= len(self.parameters):
            return False
        return self.parameters[index].kind == "number"

    def widened(self) -> bool:
        """Whether an integer, of more bits than cross to the library, became the bytes of an
        unsigned parameter. ValueError: one that no parameter holds."""
        found = False
        for index, one in enumerate(self.values):
            if type(one) is not int or -(2**63) <= one < 2**63:
                continue
            known = self.parameters is not None and index < len(self.parameters)
            parameter = self.parameters[index] if known and self.parameters else None
            if parameter is None or not parameter.holds(one):
                raise ValueError(
                    f"{self.argument(index)} value: expected an integer that it holds, got {one}"
                )
            self.values[index] = one.to_bytes(8, "little")
            found = True
        return found

    def call(self, function: Callable[..., Any], head: tuple[int, ...] = ()) -> Any:
        """Calls on the current stream of the arrays' framework."""
        try:
            return self._call(function, head)
        except (TypeError, RuntimeError, BufferError):  # looked into only then: it takes time
            if (torch := sys.modules.get("torch")) is not None:
                self.check_memory(torch)
            if not self.widened():
                raise
        return self._call(function, head)

    def check_memory(self, torch: Any) -> None:
        """TypeError: a tensor that PyTorch hands to nobody, about which it tells in its own way."""
        for index, one in enumerate(self.values):
            if not isinstance(one, torch.Tensor):
                continue
            for what, found in (
                ("a quantized one", one.is_quantized),
                ("a nested one", one.is_nested),
                ("one of torch.func", torch._C._functorch.is_functorch_wrapped_tensor(one)),
            ):
                if found:
                    raise TypeError(
                        f"{self.argument(index)}: expected a tensor with plain memory, got {what}"
                    )

    def _call(self, function: Callable[..., Any], head: tuple[int, ...]) -> Any:
        if self.cupy_device is None:  # tvm-ffi itself asks PyTorch
            return function(*head, *self.values)
        from ._cupy_calls import current_stream

        with current_stream(self.cupy_device):
            return function(*head, *self.values)


Converter = Callable[[Passing, int, Any], Any]

_ARRAY = "an array of PyTorch, NumPy, JAX or CuPy"
# By the parameter's kind.
_EXPECTED = {
    "pointer": f"{_ARRAY}, None or ctypes.c_void_p",
    "number": "a number",
    "other": f"{_ARRAY}, a number, None, ctypes.c_void_p, or a struct as bytes or ctypes.Structure",
}


def _read_hint(passing: Passing) -> str:
    if passing.parameters is None:
        return "\n  hint: an exported function does not tell what it only reads"
    return (
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
            f"one of shape {one.shape}, {one.dtype}{_read_hint(passing)}; numpy.array(...) "
            "makes a copy"
        )
    return _dlpack.exported(one, who=passing.argument(index))


def _masked(passing: Passing, index: int, one: Any) -> Any:
    hint = "x.filled(value), or x.data"
    raise passing.wrong(index, "MaskedArray, whose mask no kernel sees", hint)


def _numpy_scalar(passing: Passing, index: int, one: Any) -> Any:
    if one.dtype.kind == "V":  # of a structured dtype
        return one.tobytes()
    value = one.item()
    if isinstance(value, bool | int | float) or passing.parameters is None:
        return value
    if one.dtype.kind == "f":  # a longdouble is its own item
        return float(one)
    raise passing.wrong(index, f"{type(one).__name__} of NumPy")


def _jax(passing: Passing, index: int, one: Any) -> Any:
    if passing.is_number(index):
        got = f"an array of JAX of shape {one.shape}"
        raise passing.wrong(index, got, "x.item() is the number of an array of one")
    if isinstance(one, sys.modules["jax"].core.Tracer):
        raise TypeError(
            f"{passing.argument(index)}: expected an array with its values, got a tracer of JAX\n"
            "  hint: kernels are called outside of jax.jit; jax.pure_callback leads out of it"
        )
    if not passing.only_read(index):
        raise TypeError(
            f"{passing.argument(index)}: expected an array that can be written, got one of JAX, "
            f"whose arrays cannot{_read_hint(passing)}; outputs are arrays of NumPy, "
            "PyTorch or CuPy"
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
    """That of an array's or a scalar's type; None for others of the frameworks, such as dtypes."""
    package = framework_of(kind)
    if package == "torch":
        torch = sys.modules["torch"]
        if not issubclass(kind, torch.Tensor):
            return None
        return _torch if kind in (torch.Tensor, torch.nn.Parameter) else _torch_subclass
    if package == "numpy":
        numpy = sys.modules["numpy"]
        if issubclass(kind, numpy.generic):
            return _numpy_scalar
        if issubclass(kind, numpy.ma.MaskedArray):
            return _masked
        return _numpy if issubclass(kind, numpy.ndarray) else None
    if package == "cupy":
        return _cupy if issubclass(kind, sys.modules["cupy"].ndarray) else None
    if package is None:
        return None
    jax = sys.modules["jax"]
    return _jax if issubclass(kind, jax.core.Tracer | jax.Array) else None


def _hint(one: Any) -> str:
    if isinstance(one, ctypes._SimpleCData):
        return "its value is x.value"
    if isinstance(one, ctypes.Array | ctypes._Pointer):
        return "ctypes.cast(x, ctypes.c_void_p) passes the address"
    if isinstance(one, bytearray | memoryview):
        return "bytes(x) for a struct, numpy.frombuffer(x, dtype) for an array"
    if isinstance(one, list | tuple):
        return "an array of PyTorch or NumPy; a struct is struct.pack(...)"
    if hasattr(one, "__int__"):
        return "int(x) or float(x) is its number"
    return ""


def _unknown(passing: Passing, index: int, one: Any) -> Any:
    """The first value of a type that the table does not have."""
    kind = type(one)
    if (convert := _find(kind)) is not None:
        _converters[kind] = convert
        return convert(passing, index, one)
    if isinstance(one, int | float) or hasattr(kind, "__dlpack__"):
        _converters[kind] = None
        return one
    if passing.parameters is None:
        return one  # texts, dtypes, objects of tvm-ffi: between it and the function
    if isinstance(one, ctypes.Structure | ctypes.Union):
        return bytes(one)
    raise passing.wrong(index, kind.__qualname__, _hint(one))


# By the exact type of a value; None: passed as it is. Filled as types are met.
_converters: dict[type, Converter | None] = dict.fromkeys(
    (bool, int, float, type(None), bytes, ctypes.c_void_p)
)
