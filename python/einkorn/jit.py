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

from ._jit_apart import apart, constant
from ._jit_arguments import Parameter
from ._jit_kernels import (
    Compiled,
    CpuKernel,
    CudaKernel,
    Entry,
    FfiFunction,
    FfiModule,
    meet_torch,
)
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

_apart = apart("einkorn.jit: compile and load kernels outside of the compiled function")


class Settings(TypedDict, total=False):
    """How a source is compiled; every one may be left out."""

    options: Sequence[str]  #: further ones for the compiler, in order
    include_dirs: Sequence[Path]  #: searched before einkorn's own device headers
    arch: str | None  #: "sm_90a"; None: that of GPU 0, or this CPU
    compiler: str | None  #: "nvrtc", "nvrtc-worker", "nvcc", "c++"; None: the first that serves
    time_limit: float  #: seconds, for compilers in a process of their own; 0: the compiler's own


# einkorn's names of dtypes. Other spellings in a text are C++: "float", "int", "long".
_DTYPES = frozenset(
    ("f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "u8", "i32", "i64", "bool")
)


def _template_argument(one: Any) -> Any:
    if one is None or isinstance(one, bool | int):
        return one
    if isinstance(one, str):
        return f"dtype:{one}" if one in _DTYPES else f"c++:{one}"
    if type(one).__module__ == "torch" and type(one).__name__ == "dtype":
        return f"dtype:{str(one).removeprefix('torch.')}"
    if (numpy := sys.modules.get("numpy")) is not None:
        if isinstance(one, numpy.bool_ | numpy.integer):
            return one.item()
        if isinstance(one, type) and issubclass(one, numpy.generic):
            return f"dtype:{numpy.dtype(one).name}"
        kind = one if hasattr(one, "shape") else getattr(one, "dtype", one)  # of jax.numpy.float32
        if isinstance(kind, numpy.dtype):
            return f"dtype:{kind.name}"
    raise TypeError(
        "jit: template argument: expected a bool, an int, a dtype, None or C++ as text, got "
        f"{one!r}\n  hint: a floating constant is written as text: '0.5f'"
    )


@constant
def template(name: str, *arguments: Any) -> str:
    """The expression of a template's instance: template("k", 4, "f32") is "k<4, float>".

    Arguments are bools, ints, dtypes (of PyTorch, NumPy and JAX, or einkorn's names: "bf16"), None
    for "no type", and texts, which are types or constants as C++ writes them. Dtypes become the
    types of einkorn's device headers.

    Raises:
        TypeError: Another kind of value.
        ValueError: A text that is no single template argument, a dtype that device code lacks.
    """
    return str(library().jit_expression(name, *map(_template_argument, arguments)))


def _texts(what: str, texts: Sequence[Any]) -> list[str]:
    if isinstance(texts, str | bytes):
        raise TypeError(f"jit: {what}: expected a list of texts, got the text {texts!r}")
    return [os.fspath(one) for one in texts]


def _one_source(sources: dict[str, Any]) -> tuple[str, Any]:
    given = [(kind, one) for kind, one in sources.items() if one is not None]
    if len(given) != 1:
        got = " and ".join(kind for kind, _ in given) or "none"
        raise TypeError(f"jit: source: expected one of {', '.join(sources)}, got {got}")
    return given[0]


def _request(
    name: str,
    sources: dict[str, Any],
    entries: Sequence[str],
    options: Sequence[str] = (),
    include_dirs: Sequence[Path] = (),
    arch: str | None = None,
    compiler: str | None = None,
    time_limit: float = 0.0,
) -> dict[str, Any]:
    """What the library is asked for."""
    kind, source = _one_source(sources)
    target = kind.removesuffix("_source")
    file = os.fspath(source)
    if not kind.endswith("_source") and os.path.exists(file):
        file = os.path.abspath(file)  # not found: perhaps a name of an embedded source
    if target != "ffi" and not entries:
        raise TypeError(f"jit: {name}: entry: expected the expression of a kernel, got none")
    request = {
        "target": {"cpp": "cpu"}.get(target, target),
        "file": file,
        "source": "",
        "entries": _texts("entry", entries),
        "arch": arch or "",
        "options": _texts("options", options),
        "include_dirs": [os.path.abspath(one) for one in _texts("include_dirs", include_dirs)],
        "compiler": compiler or "",
        "time_limit": float(time_limit),
    }
    if kind.endswith("_source"):
        request["file"] = f"{name}.{'cc' if target == 'cpp' else 'cu'}"
        request["source"] = source
    elif target == "cpp":
        # Goes before what is compiled behind it; the folder gives the file the name it has there.
        folder, base = os.path.split(file)
        request["file"] = f"{name}.entry.cc"
        request["source"] = f'#include "{base}"\n'
        request["include_dirs"].insert(0, folder)
    return request


def _compiled(name: str, request: dict[str, Any]) -> Compiled:
    import json

    return Compiled(name, library().jit_program(json.dumps(request)))


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
    entries = (entry,) if isinstance(entry, str) else entry
    return _compiled(name, _request(name, sources, entries, **settings))


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
        TypeError: No source or several, no entry.
        ValueError: An unknown file, an arch that the compiler does not know, no arch and no GPU.
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
    if template is not None:
        entry = _expression(name, entry, tuple(template))
    request = _request(name, sources, () if entry is None else (entry,), **settings)
    key = (name, *(tuple(one) if isinstance(one, list) else one for one in request.values()))
    generation = _generation
    known = _loaded.get(key)
    return known if known is not None else _load(name, request, key, generation)


def _expression(name: str, entry: str | None, arguments: tuple[Any, ...]) -> str:
    if entry is None:
        raise TypeError(f"jit: {name}: entry: expected the name of a template, got none")
    return template(entry, *arguments)


def _load(
    name: str, request: dict[str, Any], key: Any, generation: int
) -> CudaKernel | CpuKernel | FfiModule:
    compiled = _compiled(name, request)
    if (torch := sys.modules.get("torch")) is not None:  # tvm-ffi imports it where it is installed
        meet_torch(torch)
    made: CudaKernel | CpuKernel | FfiModule
    if compiled.target == "ffi":
        made = FfiModule(compiled)
    elif compiled.target == "cpu":
        made = CpuKernel(compiled, request["entries"][0])
    else:
        made = CudaKernel(compiled, request["entries"][0])
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
