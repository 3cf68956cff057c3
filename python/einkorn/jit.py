"""Kernels of one's own, compiled when they are first needed and kept on disk.

    add = einkorn.jit.load("add", cuda="add_constant.cuh", entry="add_constant<int, 4>")
    add(dst, src, n, grid=(n + 255) // 256, block=256)

docs/guide/jit.md tells of compilers, of the cache, and of what a source may include.
"""

import os
import sys
import threading
from collections.abc import Sequence
from typing import Any, TypedDict, Unpack, overload

from ._jit_apart import apart
from ._jit_arguments import Parameter
from ._jit_compiled import Compiled, Entry
from ._jit_kernels import CpuKernel, CudaKernel, FfiFunction, FfiModule, meet_torch
from ._jit_request import check_settings, is_list, request, shown
from ._jit_templates import expression
from ._native import library

__all__ = [
    "Compiled",
    "CpuKernel",
    "CudaKernel",
    "Entry",
    "FfiFunction",
    "FfiModule",
    "Parameter",
    "compile",
    "compile_count",
    "forget",
    "load",
    "template",
]

Path = str | os.PathLike[str]

_apart = apart(
    "einkorn.jit: compile and load kernels, and name them, outside of the compiled function"
)


class Settings(TypedDict, total=False):
    """How a source is compiled; every one may be left out."""

    options: Sequence[str]  #: further ones for the compiler, in order
    include_dirs: Sequence[Path]  #: searched before einkorn's own device headers
    arch: str | None  #: "sm_90a"; None: that of GPU 0, or this CPU
    compiler: str | None  #: "nvrtc", "nvrtc-worker", "nvcc", "c++"; None: the first that serves
    time_limit: float  #: seconds, for compilers in a process of their own; 0: the compiler's own


@_apart
def template(name: str, *arguments: Any) -> str:
    """The expression of a template's instance: template("k", 4, "f32") is "k<4, float>".

    Arguments are bools, ints, dtypes (of PyTorch, NumPy and JAX, or einkorn's names: "bf16"), None
    for "no type", and texts, which are types or constants as C++ writes them. Dtypes become the
    types of einkorn's device headers.

    Raises:
        TypeError: Another kind of value, a name that is no text.
        ValueError: A name that no template has, a text that is no single template argument, an int
            of more than 64 bits, a dtype that device code lacks.
    """
    return expression(name, arguments)


def _compiled(name: str, asked: dict[str, Any]) -> Compiled:
    import json

    return Compiled(name, library().jit_program(json.dumps(asked)))


@_apart
def compile(
    name: str,
    *,
    cuda: Path | None = None,
    cuda_source: str | None = None,
    cpp: Path | None = None,
    cpp_source: str | None = None,
    ffi: Path | None = None,
    ffi_source: str | None = None,
    entry: str | Sequence[str] = (),
    **settings: Unpack[Settings],
) -> Compiled:
    """Compiles without loading: a GPU is needed only where `arch` is left out.

    Sources, settings and errors as load(). Several entries go into one artifact.
    """
    sources = {
        "cuda": cuda,
        "cuda_source": cuda_source,
        "cpp": cpp,
        "cpp_source": cpp_source,
        "ffi": ffi,
        "ffi_source": ffi_source,
    }
    check_settings("compile", ("entry",), settings)
    entries = tuple(entry) if is_list(entry) else (entry,)
    return _compiled(name, request(name, sources, entries, **settings))


_loaded: dict[Any, CudaKernel | CpuKernel | FfiModule] = {}
_generation = 0  # of _loaded: a load that forget() overtakes is not kept
_lock = threading.Lock()


@overload
def load(
    name: str,
    *,
    cuda: Path,
    entry: str,
    template: Sequence[Any] | None = None,
    **settings: Unpack[Settings],
) -> CudaKernel: ...
@overload
def load(
    name: str,
    *,
    cuda_source: str,
    entry: str,
    template: Sequence[Any] | None = None,
    **settings: Unpack[Settings],
) -> CudaKernel: ...
@overload
def load(
    name: str,
    *,
    cpp: Path,
    entry: str,
    template: Sequence[Any] | None = None,
    **settings: Unpack[Settings],
) -> CpuKernel: ...
@overload
def load(
    name: str,
    *,
    cpp_source: str,
    entry: str,
    template: Sequence[Any] | None = None,
    **settings: Unpack[Settings],
) -> CpuKernel: ...
@overload
def load(name: str, *, ffi: Path, **settings: Unpack[Settings]) -> FfiModule: ...
@overload
def load(name: str, *, ffi_source: str, **settings: Unpack[Settings]) -> FfiModule: ...
@_apart
def load(
    name: str,
    *,
    cuda: Path | None = None,
    cuda_source: str | None = None,
    cpp: Path | None = None,
    cpp_source: str | None = None,
    ffi: Path | None = None,
    ffi_source: str | None = None,
    entry: str | None = None,
    template: Sequence[Any] | None = None,
    **settings: Unpack[Settings],
) -> CudaKernel | CpuKernel | FfiModule:
    """A kernel or module out of a source, from memory, a pack, the cache or a compiler.

    The same arguments give the same object. A file is read once in a process: after an edit,
    forget() has it read again. The interpreter's lock is released while a compiler runs, and
    threads that ask for one kernel compile it once.

    Args:
        name: For messages and profilers; part of the cache's key where the source is a text.
        cuda: A file of CUDA C++, or the name of an embedded one; `cuda_source` is the text itself.
        cpp: A file of C++ for the CPU; `cpp_source` likewise. Its folder is searched for all
            includes, before the system's.
        ffi: A file of CUDA C++ with host code that exports functions by
            TVM_FFI_DLL_EXPORT_TYPED_FUNC, for nvcc; `ffi_source` likewise.
        entry: The expression that names a kernel: "k<int, 4>", "ns::k". For the CPU any function
            that returns void.
        template: Arguments for `entry` from values, see template().
        settings: See Settings.

    Raises:
        TypeError: No source or several, no entry, an argument of another kind or name.
        ValueError: An unknown file or folder, a text that is no source, an arch that the compiler
            does not know, no arch and no GPU for code of the GPU, a module without functions,
            arguments for the template in `entry` as well, a time limit below 0.
        RuntimeError: No compiler serves; the source does not compile: first error with file and
            line, a hint, the path of the whole log.
    """
    sources = {
        "cuda": cuda,
        "cuda_source": cuda_source,
        "cpp": cpp,
        "cpp_source": cpp_source,
        "ffi": ffi,
        "ffi_source": ffi_source,
    }
    check_settings("load", ("entry", "template"), settings)
    if template is not None:
        entry = _expression(name, entry, template)
    asked = request(name, sources, () if entry is None else (entry,), **settings)
    key = tuple(tuple(one) if isinstance(one, list) else one for one in asked.values())
    generation = _generation
    known = _loaded.get(key)
    return known if known is not None else _load(name, asked, key, generation)


def _expression(name: str, entry: str | None, arguments: Any) -> str:
    if not is_list(arguments):
        raise TypeError(
            f"jit: {name}: template: expected a list of arguments, got {shown(arguments)}\n"
            f"  hint: template=({arguments!r},)"
        )
    if not isinstance(entry, str):
        got = "none" if entry is None else shown(entry)
        raise TypeError(f"jit: {name}: entry: expected the name of a template, got {got}")
    return template(entry, *arguments)


def _load(
    name: str, asked: dict[str, Any], key: Any, generation: int
) -> CudaKernel | CpuKernel | FfiModule:
    compiled = _compiled(name, asked)
    if (torch := sys.modules.get("torch")) is not None:  # tvm-ffi imports it where it is installed
        meet_torch(torch)
    made: CudaKernel | CpuKernel | FfiModule
    if compiled.target == "ffi":
        if not compiled.functions:
            raise ValueError(
                f"jit: {name}: expected a module that exports functions, got one without\n"
                "  hint: TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, function); exports one; a kernel "
                "alone is loaded by cuda= and entry="
            )
        made = FfiModule(compiled)
    elif compiled.target == "cpu":
        made = CpuKernel(compiled, asked["entries"][0])
    else:
        made = CudaKernel(compiled, asked["entries"][0])
    with _lock:  # the first of several threads is everybody's
        return _loaded.setdefault(key, made) if generation == _generation else made


@_apart
def forget() -> None:
    """Sources are read again, and those that failed compiled again. Objects in use stay good."""
    global _generation  # noqa: PLW0603  (a counter)
    with _lock:
        _generation += 1
        _loaded.clear()
    library().jit_forget()


@_apart
def compile_count() -> int:
    """Compilations that this process ran or had run."""
    return int(library().jit_compile_count())
