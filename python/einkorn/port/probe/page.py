"""The report of a probe as a readable page."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from einkorn.port.probe.report import ProbedFile, ProbeReport

_MOST_INSTRUCTIONS = 24
_ORDER = ("emulated", "refused", "split", "absent", "native")


def page(report: "ProbeReport") -> str:
    """Findings first, the worst first; then each file's instructions by frequency."""
    lines = [f"# Instructions on {report.arch}", ""]
    for verdict in _ORDER:
        for one in report.findings:
            if one.verdict == verdict:
                place = f"  ({one.file}:{one.line})" if one.line else f"  ({one.file})"
                lines.append(f"- **{verdict}** `{one.ptx}`: {one.text}{place}")
    if not report.findings:
        lines.append("No matrix or asynchronous instruction is asked for.")
    for file in report.files:
        lines += ["", f"## {file.file}", "", *_file(file)]
    if report.gaps:
        lines += ["", "## Gaps", ""]
        lines += [
            f"- {one.file}: {one.what}" if one.file else f"- {one.what}" for one in report.gaps
        ]
    return "\n".join(lines) + "\n"


def _file(file: "ProbedFile") -> list[str]:
    if not file.compiled:
        return [f"Not compiled by {file.compiler}:", "", "```", *file.said.splitlines()[:20], "```"]
    total = sum(count for name, count in file.sass.items() if name != "NOP")
    shown = [f"{name} {count}" for name, count in file.sass.items() if name != "NOP"]
    more = len(shown) - _MOST_INSTRUCTIONS
    shown = shown[:_MOST_INSTRUCTIONS] + ([f"and {more} others"] if more > 0 else [])
    return [
        f"{len(file.kernels)} kernels and functions, {total} instructions, by {file.compiler}.",
        "",
        ", ".join(shown) + ".",
    ]
