"""Kernels of one's own, compiled: what einkorn.jit.load gives."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Never, NoReturn

from ._jit_apart import apart, is_compiling
from ._jit_arguments import Passing
from ._jit_compiled import Compiled, Handle, outside
from ._jit_launch import PREPARE, SETTINGS, WAIT, Dims, head


@apart(
    "einkorn.jit: a plain call of a kernel breaks the graph; as_custom_op() makes an operator for "
    "fullgraph=True"
)
def _run_apart(one: Any, arguments: tuple[Any, ...], settings: tuple[Any, ...]) -> Any:
    return one._run(arguments, settings)


# PyTorch's own function once it is there, which is faster.
_is_compiling: Callable[[], bool] = is_compiling


def meet_torch(torch: Any) -> None:
    """Calls ask PyTorch itself from now on whether they are traced."""
    global _is_compiling  # noqa: PLW0603  (filled once PyTorch is there)
    _is_compiling = torch.compiler.is_compiling


class Kernel(Handle):
    """What kernels of the GPU and of the CPU have in common."""

    def __init__(self, compiled: Compiled, expression: str) -> None:
        self.compiled = compiled
        self.name = compiled.name
        self.entry = next(one for one in compiled.entries if one.expression == expression)
        self.parameters = compiled.parameters(expression)
        self._function: Any = compiled._program("kernel", expression)

    def __repr__(self) -> str:
        types = ", ".join(one.type or f"{one.bytes} bytes" for one in self.parameters)
        return f"<einkorn {self.compiled.target} kernel {self.entry.expression}({types})>"


def _order(kernel: Kernel) -> str:
    types = ", ".join(one.type or f"{one.bytes} bytes" for one in kernel.parameters)
    return f"the kernel's order: ({types})"


@outside
def _no_keywords(who: str, given: Mapping[str, Any], known: Sequence[str], order: str) -> NoReturn:
    wrong = next(iter(given))
    hint = f"arguments stand in {order}"
    if wrong == "stream":
        hint = "the current stream of the arrays' framework is used"
    elif close := difflib.get_close_matches(wrong, known, 1):
        hint = f"did you mean {close[0]}=?"
    raise TypeError(f"{who}: expected no argument by the name '{wrong}'\n  hint: {hint}")


class CudaKernel(Kernel):
    """A kernel of the GPU. Its module is loaded at the first launch, or by prepare()."""

    def __call__(
        self,
        *arguments: Any,
        grid: Dims,
        block: Dims,
        smem: int = 0,
        cluster: Dims | None = None,
        pdl: bool = False,
        cooperative: bool = False,
        device: int | None = None,
        **wrong: Never,
    ) -> None:
        """Queues one launch on the current stream of the arguments' framework.

        Arrays become pointers to their first element: shapes and strides are the kernel's business.
        Numbers become what the parameter is, when they fit exactly; a float may be rounded. None is
        a null pointer, bytes are a struct by value, ctypes.c_void_p is an address.

        Args:
            grid: Blocks. With a size of 0 nothing is launched.
            block: Threads of a block.
            smem: Bytes of dynamic shared memory; the opt-in above 48 KiB is made for you.
            cluster: Blocks of a cluster.
            pdl: May start before the stream's previous kernel ends; the kernel has to execute
                griddepcontrol.wait before it touches what others write.
            cooperative: All blocks run at once.
            device: For a kernel without arrays; they tell it otherwise.

        Raises:
            TypeError: Number, kind, size or dtype of an argument; an array of JAX for a parameter
                that is no pointer to const.
            ValueError: A number that the parameter cannot hold, an array of another device, a
                read-only one of NumPy to be written, a geometry that breaks a limit.
            RuntimeError: A tensor that requires a gradient; no GPU; the driver refuses.
        """
        if wrong:
            _no_keywords(self.entry.expression, wrong, SETTINGS, _order(self))
        settings = (grid, block, smem, cluster, pdl, cooperative, device)
        if _is_compiling():
            _run_apart(self, arguments, settings)
        else:
            self._run(arguments, settings)

    launch = __call__

    def _run(self, arguments: tuple[Any, ...], settings: tuple[Any, ...]) -> None:
        passing = Passing(self.entry.expression, arguments, self.parameters)
        passing.call(
            self._function, head(self.entry.expression, WAIT if passing.wait else 0, *settings)
        )

    @outside
    def prepare(
        self, *, block: Dims, smem: int = 0, cluster: Dims | None = None, device: int = 0
    ) -> None:
        """Loads the kernel on a device and makes the opt-ins, which a capturing stream may forbid.

        Launching does both when they are due. RuntimeError: no GPU.
        """
        who = self.entry.expression
        self._function(*head(who, PREPARE, 1, block, smem, cluster, False, False, device))

    @outside
    def as_custom_op(
        self,
        name: str,
        *,
        arguments: Sequence[str],
        mutates: Sequence[str] | None = None,
        grid: Dims | Callable[..., Dims],
        block: Dims | Callable[..., Dims],
        smem: int | Callable[..., int] = 0,
        cluster: Dims | None = None,
        pdl: bool = False,
        cooperative: bool = False,
    ) -> Any:
        """Registers the kernel as an operator of PyTorch, for torch.compile(fullgraph=True).

        Args:
            name: "namespace::name"; once in a process.
            arguments: A name for each parameter; one that ends with "?" may be None.
            mutates: Those that are written; None: all whose parameter is no pointer to const.
            grid: Blocks, or a function of the operator's arguments that gives them; block and smem
                likewise.

        Returns the operator, a torch.library.CustomOpDef that is called as f(*arguments).
        ValueError: a name that is none, names that do not agree with the parameters. TypeError: no
        text, no list of them, a parameter that PyTorch's schemas have no type for.
        """
        from ._jit_torch import custom_op

        def value(one: Any, values: tuple[Any, ...]) -> Any:
            return one(*values) if callable(one) else one

        def run(*values: Any) -> None:
            sizes = (value(one, values) for one in (grid, block, smem))
            self._run(values, (*sizes, cluster, pdl, cooperative))

        return custom_op(self, name, arguments, mutates, run, "cuda")


class CpuKernel(Kernel):
    """A C++ function that writes through its pointers; done when the call returns."""

    def __call__(self, *arguments: Any, **wrong: Never) -> None:
        """Calls it, the interpreter's lock released. Arguments and errors as a CudaKernel's;
        RuntimeError also for an exception that the function throws."""
        if wrong:
            _no_keywords(self.entry.expression, wrong, (), _order(self))
        if _is_compiling():
            _run_apart(self, arguments, ())
        else:
            self._run(arguments, ())

    launch = __call__

    def _run(self, arguments: tuple[Any, ...], _: tuple[Any, ...]) -> None:
        Passing(self.entry.expression, arguments, self.parameters).call(self._function)

    @outside
    def as_custom_op(
        self, name: str, *, arguments: Sequence[str], mutates: Sequence[str] | None = None
    ) -> Any:
        """As CudaKernel.as_custom_op, for tensors of the CPU."""
        from ._jit_torch import custom_op

        def run(*values: Any) -> None:
            self._run(values, ())

        return custom_op(self, name, arguments, mutates, run, "cpu")


class FfiFunction(Handle):
    """A function that a module exports by TVM_FFI_DLL_EXPORT_TYPED_FUNC."""

    def __init__(self, module: str, name: str, function: Any) -> None:
        self.name = name
        self._who = f"{module}: {name}"
        self._function = function

    def __repr__(self) -> str:
        return f"<einkorn function {self._who}>"

    def __call__(self, *arguments: Any, **wrong: Never) -> Any:
        """Calls it with the current stream of the arguments' framework as tvm-ffi's.

        It tells nothing of what it writes: arrays of JAX and read-only ones of NumPy are refused.
        Errors are those that it raises.
        """
        if wrong:
            _no_keywords(self._who, wrong, (), "the function's order")
        return _run_apart(self, arguments, ()) if _is_compiling() else self._run(arguments, ())

    def _run(self, arguments: tuple[Any, ...], _: tuple[Any, ...]) -> Any:
        return Passing(self._who, arguments, None).call(self._function)


class FfiModule(Handle):
    """Host and device code in one source; its functions are attributes."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self.name = compiled.name
        self.functions = {
            name: FfiFunction(compiled.name, name, compiled._program("function", name))
            for name in compiled.functions
        }

    def __repr__(self) -> str:
        return f"<einkorn module {self.name}: {', '.join(self.functions)}>"

    def __getattr__(self, name: str) -> FfiFunction:
        functions = self.__dict__.get("functions", {})
        if name in functions:
            return functions[name]
        raise AttributeError(
            f"jit: {self.__dict__.get('name')}: expected a function that the module exports, got "
            f"'{name}'\n  exported: {', '.join(functions)}"
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.functions]
