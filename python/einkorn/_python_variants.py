"""Python callables as variants of an op: checked, measured, tuned and chosen as all others are."""

import contextlib
import hashlib
import importlib.util
import inspect
import json
import re
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ._native import library
from ._op import Op

Supports = Callable[[dict[str, str], str, int], str | None]
Requirement = str | Callable[[], str | None]


def variant(
    op: str,
    name: str,
    *,
    requires: Iterable[Requirement] = (),
    supports: Supports | None = None,
    arrays: str = "torch",
    tilings: Sequence[Mapping[str, int]] = (),
    batch_invariant: bool = False,
    summary: str | None = None,
    lazy: bool = False,
    prefer: bool = False,
    force: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a Python callable as a variant of an op: `<op>/python/<name>_v1`.

        @einkorn.variant("rms_norm", "liger", requires=("liger_kernel", "cuda"))
        def liger(x, weight, residual, *, eps, offset, rounding): ...

    The callable is given the op's inputs by position (None for one left out) and its scalars by
    name. With parameters named as the op's outputs it is given those as well, None for one left
    out, and writes to them; without, it returns the outputs, which are then copied. It must not
    keep an array, and queues its work on the framework's current stream.

    Args:
        op: the op's name.
        name: of the design; "liger_v2" says the version, too.
        requires: what has to be here: a module's name; "cuda", or "cuda>=90" for a compute
            capability; or a callable that gives None, or why not. Looked at whenever
            a variant is chosen, so that what was missing may come later.
        supports: f(problem, device, cc) -> None, or the reason of a refusal; `problem` as the keys
            and values that `einkorn explain` takes, `device` "cpu" or "cuda".
        arrays: what the callable takes: "torch", "numpy", or "dlpack" for tvm_ffi.Tensor.
        tilings: candidates for the tuner, the first for use without tuning; the callable is given
            the chosen one as `tiling`.
        batch_invariant: a row's result has the same bits whatever other rows there are.
        summary: a line about it; None: the first line of the docstring.
        lazy: the decorated function makes the callable, and runs when that is first needed.
        prefer: chosen before all others wherever it serves. Otherwise behind those of the library.
        force: replaces a variant of the same name.

    Raises ValueError for a name that is taken, an unknown op or a bad name; TypeError for a
    callable whose parameters are not those of the op.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        from .ops import TABLE

        if op not in TABLE:
            library().variants(op)  # ValueError: names the nearest
            raise ValueError(f"{op}: expected an op of einkorn.ops, got one from outside")
        made = _Variant(TABLE[op], name, function, tuple(requires), supports, arrays, lazy)
        made.tilings = [" ".join(f"{k}={v}" for k, v in one.items()) for one in tilings] or [""]
        doc = (inspect.getdoc(function) or "").partition("\n")[0]
        description = {
            "op": op,
            "design": made.design,
            "version": made.version,
            "summary": summary or doc or f"{function.__module__}.{function.__qualname__}",
            "source": made.digest(),
            "batch_invariant": batch_invariant,
            "tilings": made.tilings,
            "replace": force,
            "first": prefer,
        }
        library().register_variant(json.dumps(description), made.refusal, made.call)
        TABLE[op].wrap(_chained)
        return function

    return register


def remove_variant(id: str) -> None:
    """Takes a registered variant, "rms_norm/python/liger_v1", out again: its name is free, and no
    later call selects it. ValueError: no such, or one of the library's own."""
    library().remove_variant(id)


class _Variant:
    """One registered callable, and how the library calls it."""

    tilings: list[str]

    def __init__(
        self,
        op: Op,
        name: str,
        function: Callable[..., Any],
        requires: tuple[Requirement, ...],
        supports: Supports | None,
        arrays: str,
        lazy: bool,
    ) -> None:
        parts = re.fullmatch(r"([a-z][a-z0-9_]*?)(?:_v([1-9][0-9]*))?", name)
        if parts is None:
            raise ValueError(
                f"{op.name}: variant name: expected letters, digits and _ as in 'liger' or "
                f"'liger_v2', got '{name}'"
            )
        if arrays not in _IMPORTS:
            raise ValueError(
                f"{op.name}: arrays: expected one of {', '.join(_IMPORTS)}, got '{arrays}'"
            )
        self.op = op
        self.design = parts[1]
        self.version = int(parts[2] or 1)
        self.id = f"{op.name}/python/{self.design}_v{self.version}"
        self.requires = requires
        self.supports = supports
        self.arrays = arrays
        self._given = function
        self._ready: Callable[..., Any] | None = None
        self._outputs: tuple[str, ...] = ()
        self._lock = threading.Lock()
        if not lazy:
            self._take(function)

    def digest(self) -> str:
        """Trials of another source are not used."""
        try:
            text = inspect.getsource(inspect.getmodule(self._given) or self._given)
        except (OSError, TypeError):
            text = self._given.__qualname__
        return hashlib.sha256(f"{self.id}\n{text}".encode()).hexdigest()

    def _take(self, function: Callable[..., Any]) -> None:
        parameters = inspect.signature(function).parameters
        named = {n for n, p in parameters.items() if p.kind is not p.VAR_KEYWORD}
        takes_all = len(named) < len(parameters)
        known = {*self.op.inputs, *self.op.outputs, *self.op.scalars, "tiling"}
        positional = [
            n
            for n, p in parameters.items()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        missing = [n for n in self.op.scalars if n not in named and not takes_all]
        if (
            tuple(positional[: len(self.op.inputs)]) != self.op.inputs
            or not named <= known
            or missing
        ):
            wanted = ", ".join([*self.op.inputs, "*", *self.op.scalars])
            raise TypeError(
                f"{self.id}: parameters: expected ({wanted}), got {inspect.signature(function)}\n"
                f"  hint: with {', '.join(self.op.outputs)} as well it writes its results itself; "
                "**rest takes what it does not use"
            )
        self._outputs = tuple(n for n in self.op.outputs if n in named)
        self._takes_tiling = "tiling" in named
        self._ready = function

    def _callable(self) -> Callable[..., Any]:
        with self._lock:
            if self._ready is None:
                self._take(self._given())
            assert self._ready is not None
            return self._ready

    def refusal(self, problem: str, device: str, cc: int) -> str | None:
        """Why not, for the library."""
        with _kept_failure():
            for one in self.requires:
                if reason := _missing(one, device, cc):
                    return reason
            if self.supports is not None:
                keys = dict(word.split("=", 1) for word in problem.split())
                return self.supports(keys, device, cc)
            return None

    def call(self, stream: int, tiling: str, *values: Any) -> None:
        """One call from the library: values in the order of the op's arguments."""
        with _kept_failure():
            try:
                function = self._callable()
            except Exception as error:
                raise RuntimeError(
                    f"{self.id}: could not be made:\n{traceback.format_exc()}"
                ) from error
            of_inputs, of_outputs = len(self.op.inputs), len(self.op.outputs)
            framework = _IMPORTS[self.arrays]
            taken = [
                None if one is None else framework(one) for one in values[: of_inputs + of_outputs]
            ]
            inputs = taken[:of_inputs]
            outputs = dict(zip(self.op.outputs, taken[of_inputs:], strict=True))
            named = dict(zip(self.op.scalars, values[of_inputs + of_outputs :], strict=True))
            if self._takes_tiling:
                named["tiling"] = {
                    k: int(v) for k, _, v in (w.partition("=") for w in tiling.split())
                }
            named |= {name: outputs[name] for name in self._outputs}
            with _on_stream(self.arrays, stream, next(one for one in taken if one is not None)):
                result = function(*inputs, **named)
                if not self._outputs:
                    self._copy(result, outputs)

    def _copy(self, result: Any, outputs: dict[str, Any]) -> None:
        wanted = {name: one for name, one in outputs.items() if one is not None}
        results = result if isinstance(result, tuple) else (result,)
        if len(results) != len(wanted):
            raise TypeError(
                f"{self.id}: results: expected {len(wanted)} ({', '.join(wanted)}), got "
                f"{len(results)}"
            )
        for (name, out), one in zip(wanted.items(), results, strict=True):
            if tuple(one.shape) != tuple(out.shape):
                raise ValueError(
                    f"{self.id}: {name} shape: expected {tuple(out.shape)}, got {tuple(one.shape)}"
                )
            out[...] = one


def _torch_array(tensor: Any) -> Any:
    import torch

    return torch.from_dlpack(tensor)


def _numpy_array(tensor: Any) -> Any:
    import numpy

    return numpy.from_dlpack(tensor)


_IMPORTS: dict[str, Callable[[Any], Any]] = {
    "torch": _torch_array,
    "numpy": _numpy_array,
    "dlpack": lambda tensor: tensor,
}


@contextlib.contextmanager
def _on_stream(arrays: str, stream: int, array: Any) -> Any:
    """The framework's current stream is the caller's, and no gradients are recorded."""
    if arrays != "torch":
        yield
        return
    import torch

    with torch.no_grad():
        if (
            array.device.type == "cpu"
            or torch.cuda.current_stream(array.device).cuda_stream == stream
        ):
            yield
            return
        with torch.cuda.stream(torch.cuda.ExternalStream(stream, device=array.device)):
            yield


def _missing(one: Requirement, device: str, cc: int) -> str | None:
    """Why a requirement is not met."""
    if callable(one):
        return one()
    name, _, least = one.partition(">=")
    if name == "cuda":
        if device != "cuda":
            return f"tensors are on {device}, needs cuda"
        return (
            f"device is sm_{cc}, needs sm_{least} or newer" if least and cc < int(least) else None
        )
    if name == "cpu":
        return None if device == "cpu" else f"tensors are on {device}, needs cpu"
    if importlib.util.find_spec(name) is None:
        return f"the module {name} is not installed"
    return None


# The library passes errors on as texts. What was raised is kept here, to be chained to that.
_failure = threading.local()


@contextlib.contextmanager
def _kept_failure() -> Any:
    try:
        yield
    except Exception as error:
        _failure.value = error
        raise


def _chained(plain: Callable[..., None]) -> Callable[..., None]:
    """The function of an op with variants in Python: its errors are chained to what raised them."""

    def function(*arguments: Any) -> None:
        _failure.value = None
        try:
            plain(*arguments)
        except Exception as error:
            if _failure.value is not None:
                raise error from _failure.value
            raise

    return function
