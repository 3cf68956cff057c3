"""`einkorn port scaffold`: the folder of an op, and its tests, from a survey and its migration.

The paths are those of this library's tree, below the output folder, which may be the tree itself.
"""

import dataclasses
import os
import pathlib
import re

from einkorn.port.errors import PortError
from einkorn.port.migration.answers import read, require_answered
from einkorn.port.scaffold.op import op_files
from einkorn.port.scaffold.plan import OpPlan, plan_of, provenance_of
from einkorn.port.scaffold.tests import layer_files
from einkorn.port.scaffold.variant import variant_files
from einkorn.port.survey.file import read_survey

_LIST = "ops/variants.inc"
_SHOWN = 5


@dataclasses.dataclass(frozen=True)
class Scaffold:
    op: str
    files: tuple[str, ...]  # written, or to be written, from the output folder
    notes: tuple[str, ...]  # what was left to the author
    next: tuple[str, ...]  # what to do now


def scaffold(
    survey: pathlib.Path,
    migration: pathlib.Path,
    out: pathlib.Path,
    *,
    upstream: pathlib.Path | None = None,
    force: bool = False,
    dry_run: bool = False,
) -> Scaffold:
    """Writes the op's files below `out`. PortError, with nothing written, for a question without an
    answer, for files that exist unless `force`, and for a path that would lead outside.
    """
    found = read_survey(survey)
    answers = read(migration)
    require_answered(answers)
    if answers.entry != found.entry:
        raise PortError("migration: entry", f"the survey's, {found.entry!r}", repr(answers.entry))
    recorded = provenance_of(found, answers, upstream)
    plan = plan_of(found, answers, recorded, upstream)
    if out.exists() and not out.is_dir():
        raise PortError("out", "a folder", f"{out}")
    _check_arches(plan, out)
    files = {**op_files(plan), **variant_files(plan), **layer_files(plan)}
    listed = _with_line(plan, out)
    _check_place(plan, files, out, force)
    if not dry_run:
        for path, text in {**files, **listed}.items():
            target = out / path
            target.parent.mkdir(parents=True, exist_ok=True)
            _replace(target, text)
    return Scaffold(plan.op, (*files, *listed), _notes(plan), _next(plan, bool(listed), out))


def _replace(target: pathlib.Path, text: str) -> None:
    """Whole or not at all: a break leaves no half of a file."""
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    beside.replace(target)


def _check_place(plan: OpPlan, files: dict[str, str], out: pathlib.Path, force: bool) -> None:
    root = out.resolve()
    for path in (*files, _LIST):
        if not (out / path).resolve().is_relative_to(root):
            raise PortError(f"out: {path}", "a path inside the output folder", "a link outside it")
    taken = [path for path in files if os.path.lexists(out / path)]
    folder = out / plan.folder
    if folder.is_dir():
        taken += [
            one.relative_to(out).as_posix()
            for one in sorted(folder.rglob("*"))
            if one.is_file() and one.relative_to(out).as_posix() not in taken
        ]
    if taken and not force:
        more = f" and {len(taken) - _SHOWN} more" if len(taken) > _SHOWN else ""
        raise PortError(
            "out",
            "a folder without these files",
            ", ".join(taken[:_SHOWN]) + more,
            "they may hold work; name another folder, or --force",
        )
    other = [path for path in _folders_of(plan.op, out) if path != plan.folder]
    if other:
        raise PortError("migration: names.op", "a name that is not taken", f"that of {other[0]}")


def _folders_of(op: str, out: pathlib.Path) -> list[str]:
    return [one.relative_to(out).as_posix() for one in sorted(out.glob(f"ops/*/{op}"))]


def _check_arches(plan: OpPlan, out: pathlib.Path) -> None:
    rows = out / "ops/arches.inc"
    if not rows.is_file():
        return
    known = re.findall(r"^EK_ARCH\((\w+),", rows.read_text(encoding="utf-8"), re.MULTILINE)
    for arch, _ in plan.variants:
        if arch not in known:
            raise PortError("migration: support.arches", f"one of {', '.join(known)}", arch)


def _with_line(plan: OpPlan, out: pathlib.Path) -> dict[str, str]:
    """ops/variants.inc of a tree with one line more, where the tree is in order; {} outside one."""
    path = out / _LIST
    line = f'#include "{plan.folder}/variants.inc"\n'
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if line in lines:
        return {}
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    at = next(
        (i for i, one in enumerate(lines) if one.startswith("#include") and one > line), len(lines)
    )
    return {_LIST: "".join([*lines[:at], line, *lines[at:]])}


def _notes(plan: OpPlan) -> tuple[str, ...]:
    hidden = sum(one.hidden for one in plan.provenance.rows)
    out = [
        f"{len(plan.provenance.rows)} requirements of the original, {hidden} of them hidden: each "
        "has a test that fails until it is written",
        f"{len(plan.cases)} cases from the found tests",
    ]
    out += [f"left out of the arguments, to be written by hand: {one}" for one in plan.left]
    return tuple(out)


def _next(plan: OpPlan, listed: bool, out: pathlib.Path) -> tuple[str, ...]:
    steps = []
    if not listed and not (out / _LIST).is_file():
        steps.append(f'in {_LIST} of the library: #include "{plan.folder}/variants.inc"')
    return (
        *steps,
        f"go through TODO(you) in {plan.folder}",
        f"fill the tests of {plan.op}: einkorn port verify says which are left",
        "make format build; scripts/generate_python.py",
    )
