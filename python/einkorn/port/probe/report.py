"""Which instructions a source really uses on an architecture: compiled, and read from the code.

What a source asks for (PTX) and what the machine has (SASS) are not the same: a compiler replaces
what an architecture lacks, correct and slow. `probe` compiles, counts both, and says where they
differ.
"""

import dataclasses
import json
import pathlib
from collections.abc import Sequence

from einkorn.port.emit.folder import read_record
from einkorn.port.errors import PortError
from einkorn.port.model import Gap
from einkorn.port.probe import ptx as probe_ptx
from einkorn.port.probe.compile import Compiler, check_arch, find_compiler
from einkorn.port.probe.page import page
from einkorn.port.probe.sass_cubin import read_cubin
from einkorn.port.probe.verdict import Finding, Judge, refusals
from einkorn.port.sources.tree import SourceTree

__all__ = ["Finding", "ProbeReport", "ProbedFile", "probe"]


@dataclasses.dataclass
class ProbedFile:
    file: str
    compiled: bool
    compiler: str = ""
    sass: dict[str, int] = dataclasses.field(default_factory=dict)
    kernels: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)  # by mangled name
    ptx: dict[str, int] = dataclasses.field(default_factory=dict)  # of those worth a finding
    said: str = ""  # by the compiler, where it failed


@dataclasses.dataclass
class ProbeReport:
    arch: str
    files: list[ProbedFile] = dataclasses.field(default_factory=list)
    findings: list[Finding] = dataclasses.field(default_factory=list)
    gaps: list[Gap] = dataclasses.field(default_factory=list)

    @property
    def emulated(self) -> list[Finding]:
        return [one for one in self.findings if one.verdict == "emulated"]

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), indent=1, ensure_ascii=False) + "\n"

    def text(self) -> str:
        """A readable page."""
        return page(self)


def probe(
    source: pathlib.Path,
    arch: str = "sm_90",
    *,
    include_dirs: Sequence[pathlib.Path] = (),
    options: Sequence[str] = (),
    compiler: str = "auto",
) -> ProbeReport:
    """Compiles a file, or each .cu of a folder, and reports the instructions.

    Of a folder that `closure --emit` made, the units that its record names. `compiler` is auto,
    nvcc or nvrtc (the latter by `einkorn jit compile`). PortError: no such file, nothing to
    compile, an unknown architecture, or no compiler. What does not compile is a gap of the report;
    what its asm statements ask for is then tried by itself.
    """
    arch = check_arch(arch)
    if not source.exists():
        raise PortError("source", "a CUDA source or a folder with some", f"'{source}'")
    root = source.resolve() if source.is_dir() else source.resolve().parent
    units = _units(root) if source.is_dir() else [source.name]
    found = find_compiler(compiler)
    report = ProbeReport(arch)
    judge = Judge(found, arch)
    for unit in units:
        _probe_unit(report, judge, found, root, unit, [root, *include_dirs], options)
    files = SourceTree(root).cpp_files if source.is_dir() else units
    _add_unused(report, judge, root, files)
    return report


def _units(root: pathlib.Path) -> list[str]:
    files = SourceTree(root).cpp_files
    # A record may have been edited: what it names has to be one of the folder's files.
    named = [one for one in read_record(root).get("units", []) if one in files]
    found = [one for one in named or files if one.endswith(".cu")] or named
    if not found:
        raise PortError("source", "a folder with .cu files", f"'{root}', which has none")
    return found


def _probe_unit(
    report: ProbeReport,
    judge: Judge,
    compiler: Compiler,
    root: pathlib.Path,
    unit: str,
    include_dirs: Sequence[pathlib.Path],
    options: Sequence[str],
) -> None:
    compiled = compiler.compile(root / unit, report.arch, include_dirs, options)
    file = ProbedFile(
        unit, bool(compiled.cubin), compiler.name, ptx=probe_ptx.asked_by_ptx(compiled.ptx)
    )
    report.files.append(file)
    if not compiled.cubin:
        file.said = compiled.said.replace(f"{root}/", "")
        report.gaps.append(Gap(f"not compiled for {report.arch}: {_reason(file.said)}", unit))
        for text in refusals(file.said):
            name = text.split("'")[1] if "'" in text else text
            # What only this very architecture has is behind its name with an "a".
            hint = f"; {report.arch}a may have it" if report.arch[-1].isdigit() else ""
            report.findings.append(Finding("refused", name, {}, text + hint, unit))
        return
    cubin = read_cubin(compiled.cubin, unit)
    file.sass = cubin.totals()
    file.kernels = {code.name: code.counts for code in cubin.codes}
    if any(name.startswith("0x") for name in file.sass):
        unknown = ", ".join(name for name in file.sass if name.startswith("0x"))
        report.gaps.append(Gap(f"instructions of unknown numbers: {unknown}", unit))
    known = {one.ptx for one in report.findings}
    for ptx, count in file.ptx.items():
        if ptx not in known:
            finding = judge.finding(ptx, count, file.sass)
            report.findings.append(dataclasses.replace(finding, file=unit))


def _add_unused(
    report: ProbeReport, judge: Judge, root: pathlib.Path, files: Sequence[str]
) -> None:
    """What asm statements ask for that no compiled unit has: guarded, or not instantiated."""
    known = {one.ptx for one in report.findings}
    asked: dict[str, probe_ptx.Asked] = {}
    for name in files:
        for one in probe_ptx.asked_by_source(_text(root / name), name):
            asked.setdefault(one.ptx, one)
    # NVRTC through the command gives no PTX.
    compiled = any(one.compiled and one.compiler == "nvcc" for one in report.files)
    for ptx, place in asked.items():
        if any(probe_ptx.may_be(ptx, one) for one in known):
            continue
        finding = judge.of_source(ptx)
        where = "in the source" + (f", not in the PTX for {report.arch}" if compiled else "")
        text = f"{where}; {finding.text}"
        report.findings.append(
            dataclasses.replace(finding, text=text, file=place.file, line=place.line)
        )


def _text(path: pathlib.Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:  # gone since it was listed
        return ""


def _reason(said: str) -> str:
    lines = [line for line in said.splitlines() if "error" in line] or said.strip().splitlines()
    return lines[0].strip() if lines else "the compiler said nothing"
