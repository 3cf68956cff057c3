"""What became of each instruction that a source asks for: judged alone, else by the whole code."""

import dataclasses
import pathlib
import re
import tempfile
from collections.abc import Mapping, Sequence

from einkorn.port.errors import PortError
from einkorn.port.probe import alone as probe_alone
from einkorn.port.probe import ptx as probe_ptx
from einkorn.port.probe.compile import Compiled, Compiler
from einkorn.port.probe.sass_cubin import read_cubin

_MATRIX = re.compile(r"(?:[HIBDQO]MMA|[HIBQ]GMMA|UTCMMA)\b")
# Instructions of a kernel around the one under test: loads, stores, addresses, its end.
_FRAME = frozenset(
    str.split(
        "NOP LDG STG LDC LDCU ULDC MOV UMOV EXIT BRA S2R CS2R S2UR R2UR IADD3 UIADD3 IADD UIADD"
    )
)
_REFUSAL = re.compile(
    r"not supported on|requires \.target|requires a|Unknown modifier|Not a name of"
)


@dataclasses.dataclass(frozen=True)
class Finding:
    """One matrix, asynchronous-copy or similar instruction of PTX, and what became of it."""

    verdict: str  # native; split: several of its kind; emulated: by others; refused; absent
    ptx: str  # "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32"
    sass: dict[str, int]  # what one of it becomes; over the file where it can't be tried alone
    text: str
    file: str = ""
    line: int = 0


class Judge:
    """Keeps what it has found out: an instruction stands in many files."""

    def __init__(self, compiler: Compiler, arch: str) -> None:
        self._compiler = compiler
        self._arch = arch
        self._alone: dict[str, Compiled | None] = {}

    def finding(self, ptx: str, asked: int, sass: Mapping[str, int]) -> Finding:
        """Of an instruction that stands `asked` times in the PTX of a file with the code `sass`."""
        alone = self._tried(ptx)
        if alone is not None:
            return self._by_itself(ptx, alone)
        return self._by_whole(ptx, asked, sass)

    def of_source(self, ptx: str) -> Finding:
        """Of one that no compiled unit has, by itself; absent where it can't be tried."""
        found = []
        for one in probe_alone.completions(ptx):
            alone = self._tried(one)
            if alone is not None:
                found.append(self._by_itself(one, alone))
        if not found or len({one.verdict for one in found}) > 1:
            why = "an operand completes its name" if "%" in ptx else "not tried by itself"
            return Finding("absent", ptx, {}, why)
        text = "; ".join(f"{_size(one.ptx, ptx)}{one.text}" for one in found)
        return Finding(found[-1].verdict, ptx, found[-1].sass, f"tried by itself: {text}")

    def _tried(self, ptx: str) -> Compiled | None:
        if ptx not in self._alone:
            source = probe_alone.kernel_of(ptx, "probe")
            self._alone[ptx] = self._compile(source) if source else None
        return self._alone[ptx]

    def _compile(self, source: str) -> Compiled:
        with tempfile.TemporaryDirectory(prefix="einkorn_probe_") as folder:
            file = pathlib.Path(folder, "probe.cu")
            file.write_text(source, encoding="utf-8")
            return self._compiler.compile(file, self._arch, (), ())

    def _by_itself(self, ptx: str, compiled: Compiled) -> Finding:
        if not compiled.cubin:
            return Finding("refused", ptx, {}, f"{self._arch}: {_first_error(compiled.said)}")
        try:
            counts = read_cubin(compiled.cubin, ptx).totals()
        except PortError as error:
            return Finding("refused", ptx, {}, str(error))
        matrix = {name: count for name, count in counts.items() if _MATRIX.match(name)}
        others = {n: c for n, c in counts.items() if n not in matrix and n not in _FRAME}
        serving = probe_ptx.serving(ptx)
        native = sum(matrix.get(name, 0) for name in serving)
        if native == 1 and len(matrix) == 1:
            return Finding("native", ptx, matrix, f"one {serving[0]} on {self._arch}")
        if native and len(matrix) == 1:
            text = f"{native} {serving[0]} on {self._arch}, with {_listed(others)}"
            return Finding("split", ptx, {**matrix, **others}, text)
        text = (
            f"{self._arch} has no {' or '.join(serving) or 'instruction'} for it: one becomes "
            f"{_listed(matrix) or 'no matrix instruction'} with {_listed(others)}"
        )
        return Finding("emulated", ptx, {**matrix, **others}, text)

    def _by_whole(self, ptx: str, asked: int, sass: Mapping[str, int]) -> Finding:
        serving = probe_ptx.serving(ptx)
        found = {name: sass[name] for name in serving if name in sass}
        if not serving:
            text = f"{asked} in the PTX; which machine instruction serves it is not known"
            return Finding("absent", ptx, {}, text)
        if found:
            return Finding(
                "native", ptx, found, f"{asked} in the PTX, {_listed(found)} in the code"
            )
        instead = (
            {n: c for n, c in sass.items() if _MATRIX.match(n)} if probe_ptx.is_mma(ptx) else {}
        )
        names = " or ".join(serving)
        if instead:
            text = f"{asked} in the PTX, no {names} in the code, but {_listed(instead)}"
            return Finding("emulated", ptx, instead, text)
        return Finding("absent", ptx, {}, f"{asked} in the PTX, no {names} in the code")


def refusals(said: str) -> list[str]:
    """The lines with which a compiler says that the architecture lacks an instruction."""
    return list(
        dict.fromkeys(_first_error(line) for line in said.splitlines() if _REFUSAL.search(line))
    )


def _size(completed: str, ptx: str) -> str:
    """Which completion a text is about: "with k64 " where the name leaves k open."""
    match = re.search(r"k\d+(?=\.row)", completed)
    return f"with {match.group()} " if match and completed != ptx else ""


def _first_error(said: str) -> str:
    for line in said.splitlines():
        if "error" in line:
            return line.partition("error")[2].lstrip(" :") or line
    return said.strip().splitlines()[0] if said.strip() else "refused without a word"


def _listed(counts: Mapping[str, int], most: int = 5) -> str:
    ordered: Sequence[tuple[str, int]] = sorted(counts.items(), key=lambda one: -one[1])
    return ", ".join(f"{count} {name}" for name, count in ordered[:most])
