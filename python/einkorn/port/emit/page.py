"""The plan of an emission as text: what would be written, what differs, what to look at."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from einkorn.port.emit.collisions import Collision
    from einkorn.port.emit.unit import EmitReport

_WORDS = {
    "create": "new",
    "update": "changed",
    "same": "same",
    "foreign": "FOREIGN",
    "stale": "not needed",
}
# Of one file's difference, in lines; a whole closure has thousands.
_MOST_LINES = 400


def page(report: "EmitReport") -> str:
    """Ends with a line that says whether anything was written."""
    lines: list[str] = []
    for change in report.changes:
        lines += change.difference.splitlines()[:_MOST_LINES]
        if change.difference.count("\n") > _MOST_LINES:
            lines.append(f"  ... {change.difference.count(chr(10)) - _MOST_LINES} lines more")
    if lines:
        lines.append("")
    for change in report.changes:
        source = f"  from {change.source}" if change.source and change.source != change.path else ""
        lines.append(f"{_WORDS[change.action]:>10}  {change.path}{source}")
    for title, found in (
        ("external, not copied", report.external),
        ("to compile", report.units),
        ("collisions", [_collision(one) for one in report.collisions]),
        ("gaps", [_gap(one.what, one.file, one.line) for one in report.gaps]),
    ):
        if found:
            lines += ["", f"{title}:", *(f"  {one}" for one in found)]
    files = len(report.changes)
    changed = sum(one.action not in ("same", "stale") for one in report.changes)
    done = "written" if report.written else "to write; nothing was written (--write does)"
    return "\n".join([*lines, "", f"{report.out}: {files} files, {changed} {done}"]) + "\n"


def _collision(one: "Collision") -> str:
    places = f" ({', '.join(one.places)})" if one.places else ""
    return f"{one.kind} {one.name}: {one.what}{places}"


def _gap(what: str, file: str, line: int) -> str:
    return f"{file}:{line}: {what}" if file and line else f"{file}: {what}" if file else what
