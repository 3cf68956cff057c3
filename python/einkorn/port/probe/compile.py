"""Compilers of device code: nvcc where there is one, else NVRTC through `einkorn jit compile`."""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from einkorn.port.cpp.functions import functions_of
from einkorn.port.cpp.tokens import Macro
from einkorn.port.errors import PortError
from einkorn.port.sources import syntax

# Template-heavy kernels take minutes; one that takes longer has most likely run out of memory.
TIME_LIMIT_S = 900
_ELF = b"\x7fELF"
_SCRATCH = re.compile(r"\S*/einkorn_probe_\w+/")
_COMMON = ("-std=c++20", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-O3")


@dataclasses.dataclass(frozen=True)
class Compiled:
    """`cubin` is empty where the compilation failed; `ptx` where the compiler gave none."""

    cubin: bytes = b""
    ptx: str = ""
    said: str = ""  # what the compiler printed


@dataclasses.dataclass(frozen=True)
class Nvcc:
    program: str
    name: str = "nvcc"

    def compile(
        self,
        file: pathlib.Path,
        arch: str,
        includes: Sequence[pathlib.Path],
        options: Sequence[str],
    ) -> Compiled:
        """In one run that keeps the PTX: with -ptx alone, ptxas would run for nothing."""
        with tempfile.TemporaryDirectory(prefix="einkorn_probe_") as name:
            folder = pathlib.Path(name)
            cubin = folder / "out.cubin"
            command = [self.program, "-cubin", f"-arch={arch}", "--keep", "--keep-dir", name]
            command += [*_COMMON, *(f"-I{one}" for one in includes), *options]
            said = _run([*command, "-x", "cu", str(file), "-o", str(cubin)])
            ptx = next(folder.glob("*.ptx"), None)
            return Compiled(
                cubin.read_bytes() if cubin.exists() else b"",
                ptx.read_text("utf-8", "replace") if ptx else "",
                said,
            )


@dataclasses.dataclass(frozen=True)
class Nvrtc:
    """`einkorn jit compile`: no host compiler and no toolkit needed, and no PTX given.

    Kernels that are templates are left out: their arguments would have to be named.
    """

    command: tuple[str, ...]
    name: str = "nvrtc"

    def compile(
        self,
        file: pathlib.Path,
        arch: str,
        includes: Sequence[pathlib.Path],
        options: Sequence[str],
    ) -> Compiled:
        kernels = _plain_kernels(file.read_text("utf-8", "replace"))
        if not kernels:
            return Compiled(said=f"{file.name}: no kernel that is not a template")
        with tempfile.TemporaryDirectory(prefix="einkorn_probe_") as folder:
            command = [*self.command, "jit", "compile", str(file), "--arch", arch]
            command += [part for kernel in kernels for part in ("--entry", kernel)]
            command += [part for one in includes for part in ("--include", str(one))]
            command += [part for one in options for part in ("--option", one)]
            # A cache of its own, in which the only image is the one asked for.
            said = _run(command, {"EINKORN_CACHE_DIR": folder})
            return Compiled(cubin=_image_in(pathlib.Path(folder)), said=said)


Compiler = Nvcc | Nvrtc


def find_compiler(wanted: str = "auto") -> Compiler:
    """PortError where there is none, or `wanted` is not auto, nvcc or nvrtc."""
    if wanted not in ("auto", "nvcc", "nvrtc"):
        raise PortError("compiler", "auto, nvcc or nvrtc", f"'{wanted}'")
    if wanted != "nvrtc" and (program := _find_nvcc()):
        return Nvcc(program)
    if wanted != "nvcc" and (command := _find_einkorn()):
        return Nvrtc(command)
    raise PortError(
        "compiler",
        "nvcc, or the command einkorn for NVRTC" if wanted == "auto" else wanted,
        "none",
        "install the CUDA toolkit or set CUDA_HOME; or pip install 'einkorn[cuda]'",
    )


def check_arch(arch: str) -> str:
    """The architecture as compilers take it: "90", "sm_90" and "sm90a" are understood."""
    match = re.fullmatch(r"(?:sm_?|compute_)?(\d{2,3}[af]?)", arch)
    if not match or int(re.sub(r"\D", "", arch)) < 70:
        raise PortError("arch", "an architecture of sm_70 or newer, as sm_90a", f"'{arch}'")
    return f"sm_{match.group(1)}"


def _find_nvcc() -> str:
    places = [os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH")]
    folders = [f"{place}/bin" for place in [*places, "/usr/local/cuda"] if place]
    for path in [*folders[:-1], os.environ.get("PATH", ""), folders[-1]]:
        program = shutil.which("nvcc", path=path)
        if program:
            return program
    return ""


def _find_einkorn() -> tuple[str, ...]:
    """The command: EINKORN_BIN alone where it is set, else of PATH, else of this package."""
    named = os.environ.get("EINKORN_BIN") or "einkorn"
    if program := shutil.which(named):
        return (program,)
    command = (sys.executable, "-m", "einkorn")
    return command if "EINKORN_BIN" not in os.environ and _answers(command) else ()


def _answers(command: tuple[str, ...]) -> bool:
    """Whether the package's native library is there: this module does without."""
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _run(command: list[str], environment: dict[str, str] | None = None) -> str:
    try:
        result = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIME_LIMIT_S,
            env={**os.environ, **(environment or {})},
        )
    except subprocess.TimeoutExpired:
        return f"{command[0]}: no end after {TIME_LIMIT_S} s\n"
    except OSError as error:
        return f"{command[0]}: {error.strerror}\n"
    said = result.stderr if result.returncode == 0 else result.stdout + result.stderr
    # ptxas says all twice, to both; and scratch folders have another name each time.
    lines = [_SCRATCH.sub("", line) for line in said.splitlines()]
    return "".join(f"{line}\n" for line in dict.fromkeys(lines))


class _NoMacros:
    def macros_named(self, name: str, near: str = "") -> list[Macro]:
        return []


def _plain_kernels(text: str) -> list[str]:
    """The kernels of a file, with their namespaces, that are no templates."""
    root = syntax.parse_cpp(text)
    functions = functions_of(root, "", text.encode("utf-8", "replace"), _NoMacros())
    found = [one for one in functions if one.is_kernel and one.is_definition]
    return list(dict.fromkeys(one.symbol for one in found if not one.template_parameters))


def _image_in(folder: pathlib.Path) -> bytes:
    """The cubin in a cache's file, which has a head before it and more behind."""
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            data = file.read_bytes()
            at = data.find(_ELF)
            if at >= 0:
                return data[at:]
    return b""
