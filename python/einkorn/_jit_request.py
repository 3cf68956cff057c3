"""What einkorn.jit is asked for, each argument checked under its own name."""

import difflib
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

#: Sources, of which one is given: files and texts, for the GPU, the CPU, and host and device.
SOURCES = ("cuda", "cuda_source", "cpp", "cpp_source", "ffi", "ffi_source")
_SETTINGS = ("options", "include_dirs", "arch", "compiler", "time_limit")

# Arguments of load_inline of PyTorch and of tvm-ffi, and of SGLang's load_jit.
_ELSEWHERE = {
    "cpp_sources": "cpp_source= takes one text",
    "cuda_sources": "cuda_source= takes one text",
    "cpp_files": "cpp= takes one file",
    "cuda_files": "cuda= takes one file",
    "functions": "entry= names the kernel",
    "cpp_wrappers": "what TVM_FFI_DLL_EXPORT_TYPED_FUNC exports is a module's, by ffi=",
    "cuda_wrappers": "what TVM_FFI_DLL_EXPORT_TYPED_FUNC exports is a module's, by ffi=",
    "extra_cflags": "options= go to the compiler",
    "extra_cuda_cflags": "options= go to the compiler",
    "extra_ldflags": "options= go to the compiler, which links",
    "extra_include_paths": "include_dirs= are searched",
    "build_directory": "the environment variable EINKORN_CACHE_DIR says where results are kept",
    "verbose": ".compiled.log of what load gives is the compiler's output",
}


def shown(value: Any) -> str:
    """A value as errors show it."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def check_settings(function: str, known: Sequence[str], settings: Mapping[str, Any]) -> None:
    """TypeError: a keyword that the function does not have."""
    every = (*SOURCES, *known, *_SETTINGS)
    for one in settings:
        if one in _SETTINGS:
            continue
        hint = _ELSEWHERE.get(one, "")
        if one == "template":
            hint = 'entry=einkorn.jit.template("k", 4) makes an expression'
        elif not hint and (close := difflib.get_close_matches(one, every, 1)):
            hint = f"did you mean {close[0]}=?"
        raise TypeError(
            f"jit: {function}: expected no argument '{one}'; those are {', '.join(every)}"
            + (f"\n  hint: {hint}" if hint else "")
        )


def is_list(one: Any) -> bool:
    """A text is none, as its letters are not meant."""
    if isinstance(one, list | tuple):
        return True
    return isinstance(one, Iterable) and not isinstance(one, str | bytes | os.PathLike)


def _texts(what: str, texts: Any) -> list[str]:
    if not is_list(texts):
        hint = f"\n  hint: [{texts!r}]" if isinstance(texts, str | os.PathLike) else ""
        raise TypeError(f"jit: {what}: expected a list of texts, got {shown(texts)}{hint}")
    return [_text(what, one) for one in texts]


def _text(what: str, one: Any) -> str:
    if isinstance(one, str):
        return one
    if isinstance(one, os.PathLike):
        one = os.fspath(one)
    if not isinstance(one, str):
        raise TypeError(f"jit: {what}: expected a text, got {shown(one)}")
    return one


def _one_source(name: str, sources: Mapping[str, Any]) -> tuple[str, Any]:
    given = [(kind, one) for kind, one in sources.items() if one is not None]
    if len(given) != 1:
        got = " and ".join(kind for kind, _ in given) or "none"
        raise TypeError(f"jit: {name}: source: expected one of {', '.join(sources)}, got {got}")
    return given[0]


def _source_text(who: str, kind: str, text: Any) -> str:
    if not isinstance(text, str):
        raise TypeError(
            f"jit: {who}: expected the text of a source, got {shown(text)}\n"
            f"  hint: {kind}= takes a file; several texts are joined by '\\n'.join(...)"
        )
    if not text.strip():
        raise ValueError(f"jit: {who}: expected the text of a source, got an empty one")
    if "\n" not in text and "{" not in text and "#" not in text:
        raise ValueError(
            f"jit: {who}: expected the text of a source, got {shown(text)}\n"
            f"  hint: {kind}= takes a file"
        )
    return text


def _source_file(who: str, kind: str, file: Any) -> str:
    """An absolute path, or what may be the name of an embedded source."""
    if not isinstance(file, str | os.PathLike):
        raise TypeError(f"jit: {who}: expected a path, got {shown(file)}")
    path = os.fspath(file)
    if not isinstance(path, str):
        raise TypeError(f"jit: {who}: expected a path as text, got {shown(file)}")
    if os.path.isdir(path):
        raise ValueError(f'jit: {who}: expected a file, got the folder "{path}"')
    if os.path.exists(path):
        return os.path.abspath(path)
    if not path or "\n" in path or "{" in path:
        raise ValueError(
            f"jit: {who}: expected a path, got {shown(path)}\n"
            f"  hint: {kind}_source= takes the text of a source"
        )
    if kind == "cpp":  # the others may be names of embedded sources: the library tells
        _no_such_file(who, path)
    return path


def _no_such_file(who: str, path: str) -> NoReturn:
    folder, base = os.path.split(os.path.abspath(path))
    hint = "paths are taken from the working folder"
    if not os.path.isdir(folder):
        hint = f'there is no folder "{folder}"'
    elif close := difflib.get_close_matches(base, os.listdir(folder), 1):
        hint = f'did you mean "{os.path.join(os.path.dirname(path), close[0])}"?'
    raise ValueError(f'jit: {who}: expected a file, got "{path}"\n  hint: {hint}')


def _entries(who: str, entries: Sequence[Any], needed: bool) -> list[str]:
    if needed and not entries:
        raise TypeError(f"jit: {who}: expected the expression of a kernel, got none")
    for index, one in enumerate(entries):
        if not isinstance(one, str):
            raise TypeError(
                f"jit: {who}: expected the expression of a kernel as text, got {shown(one)}"
                + (
                    "\n  hint: load gives one kernel, compile() takes several"
                    if is_list(one)
                    else ""
                )
            )
        if not one.strip():
            raise ValueError(f"jit: {who}: expected the expression of a kernel, got {one!r}")
        if one in entries[:index]:
            raise ValueError(f"jit: {who}: expected different expressions, got {one!r} twice")
    return list(entries)


def _folders(who: str, folders: Any) -> list[str]:
    made = [os.path.abspath(one) for one in _texts(who, folders)]
    for folder in made:
        if not os.path.isdir(folder):
            raise ValueError(f'jit: {who}: expected a folder, got "{folder}", which is none')
    return made


def _optional_text(who: str, one: Any, example: str) -> str:
    if one is not None and not isinstance(one, str):
        raise TypeError(f"jit: {who}: expected a text such as '{example}', got {shown(one)}")
    return one or ""


def _seconds(who: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"jit: {who}: expected a number of seconds, got {shown(value)}")
    if not math.isfinite(value) or value < 0:
        raise ValueError(
            f"jit: {who}: expected seconds, 0 or more, got {value}\n"
            "  hint: 0 is the compiler's own limit"
        )
    return float(value)


def request(
    name: str,
    sources: Mapping[str, Any],
    entries: Sequence[Any],
    options: Sequence[str] = (),
    include_dirs: Sequence[Any] = (),
    arch: str | None = None,
    compiler: str | None = None,
    time_limit: float = 0.0,
) -> dict[str, Any]:
    """What the library is asked for. TypeError, ValueError: as einkorn.jit.load."""
    if not isinstance(name, str):
        raise TypeError(f"jit: name: expected a text, got {shown(name)}")
    if not name.isprintable() or not name:
        raise ValueError(f"jit: name: expected what messages can show, got {shown(name)}")
    given, source = _one_source(name, sources)
    kind = given.removesuffix("_source")
    as_text = given != kind
    made: dict[str, Any] = {
        "name": name,
        "target": {"cpp": "cpu"}.get(kind, kind),
        "file": "" if as_text else _source_file(f"{name}: {given}", kind, source),
        "source": _source_text(f"{name}: {given}", kind, source) if as_text else "",
        "entries": _entries(f"{name}: entry", entries, needed=kind != "ffi"),
        "arch": _optional_text(f"{name}: arch", arch, "sm_90a"),
        "options": _texts(f"{name}: options", options),
        "include_dirs": _folders(f"{name}: include_dirs", include_dirs),
        "compiler": _optional_text(f"{name}: compiler", compiler, "nvcc"),
        "time_limit": _seconds(f"{name}: time_limit", time_limit),
    }
    if as_text:
        made["file"] = f"{name}.{'cc' if kind == 'cpp' else 'cu'}"
    return made
