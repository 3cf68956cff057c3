"""`einkorn port verify`: what is missing of the ops of a tree, ported or not.

Registration, the six layers of tests, a test for each row of the contract, a proof of each claim,
and, for ops that were ported, the rows of the original and what changed there since. Sources are
read; nothing is built, run or imported.
"""

import dataclasses
import json
import pathlib
import re
from collections.abc import Callable, Iterator, Sequence

from einkorn.port.errors import PortError
from einkorn.port.provenance.drift import drift
from einkorn.port.provenance.record import FILE, Provenance, read_provenance
from einkorn.port.scaffold.plan import camel
from einkorn.port.verify.claims import unproven
from einkorn.port.verify.layers import NOT_APPLICABLE, layers_of
from einkorn.port.verify.model import LAYERS, Finding, OpFolder, Tree
from einkorn.port.verify.registry import import_findings, registry_findings
from einkorn.port.verify.rows import ContractRow, rows_of_contract
from einkorn.port.verify.tests import Tests


@dataclasses.dataclass(frozen=True)
class OpReport:
    op: str
    layers: dict[str, list[str]]  # names of tests; empty: none; NOT_APPLICABLE
    rows: int  # of the contract
    tested: int
    ported: bool


@dataclasses.dataclass(frozen=True)
class Report:
    ops: tuple[OpReport, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]  # what was not looked at, and why

    @property
    def ok(self) -> bool:
        return not self.findings

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), indent=1, ensure_ascii=False) + "\n"

    def text(self) -> str:
        lines = []
        for one in self.ops:
            marks = [f"{name} {_mark(one.layers[name])}" for name in LAYERS]
            rows = f"{one.tested} of {one.rows} contract rows tested"
            lines.append(f"{one.op}: {rows}; tests: {', '.join(marks)}")
        lines += [str(one) for one in self.findings]
        lines += [f"note: {one}" for one in self.notes]
        count = len(self.findings)
        lines.append("no findings" if self.ok else f"{count} finding{'s' * (count > 1)}")
        return "\n".join(lines) + "\n"


def _mark(tests: list[str]) -> str:
    return "-" if tests == [NOT_APPLICABLE] else str(len(tests))


def verify(
    root: pathlib.Path,
    ops: Sequence[str] = (),
    upstream: pathlib.Path | None = None,
) -> Report:
    """Looks at the named ops of the tree at `root`, all without names. With `upstream`, the folder
    that an op was ported from, also at what changed there. PortError for no tree, an unknown op,
    and an upstream for ops of which none was ported.
    """
    tree = Tree(root)
    chosen = _chosen(tree, ops)
    tests = Tests(tree)
    records = {op.op: read_provenance(root / op.path / FILE) for op in chosen if _ported(tree, op)}
    if upstream is not None and not records:
        raise PortError(
            "provenance",
            f"a {FILE} in the folder of an op",
            "none in " + ", ".join(op.path for op in chosen),
            "einkorn port scaffold writes one; there is nothing to compare upstream with",
        )
    findings: list[Finding] = list(import_findings(tree))
    reports = []
    for op in chosen:
        record = records.get(op.op)
        report, found = _look(tree, tests, op, record)
        findings += found
        if record is not None and upstream is not None:
            findings += _drifted(op, record, upstream)
        reports.append(report)
    notes = []
    if records and upstream is None:
        notes.append(f"drift of {', '.join(records)} was not looked for: no upstream folder given")
    return Report(tuple(reports), tuple(sorted(findings)), tuple(notes))


def _ported(tree: Tree, op: OpFolder) -> bool:
    return tree.has(f"{op.path}/{FILE}")


def _chosen(tree: Tree, names: Sequence[str]) -> list[OpFolder]:
    known = {one.op: one for one in tree.ops()}
    unknown = [name for name in names if name not in known]
    if unknown or not known:
        raise PortError("op", f"one of {', '.join(known) or 'ops with a contract'}", f"{unknown}")
    return [known[name] for name in names] if names else list(known.values())


def _look(
    tree: Tree, tests: Tests, op: OpFolder, record: Provenance | None
) -> tuple[OpReport, list[Finding]]:
    rows = rows_of_contract(tree, op)
    messages = tests.messages(op)
    tested = [row for row in rows if _is_tested(row, messages)]
    boundary = [row.title for row in tested]
    layers = layers_of(tree, tests, op, boundary)
    findings = list(registry_findings(tree, op))
    steps: list[Callable[[], Iterator[Finding]]] = [
        lambda: _layer_findings(op, layers),
        lambda: _row_findings(op, rows, tested),
        lambda: _claim_findings(tree, tests, op),
        lambda: _provenance_findings(tests, op, record),
    ]
    for step in steps:
        findings += step()
    return OpReport(op.op, layers, len(rows), len(tested), record is not None), findings


def _is_tested(row: ContractRow, messages: list[str]) -> bool:
    return any(re.match(row.pattern, one) for one in messages)


def _layer_findings(op: OpFolder, layers: dict[str, list[str]]) -> Iterator[Finding]:
    for name in LAYERS:
        if not layers[name]:
            yield Finding(op.op, "layers", op.path, 0, f"no test of {name}")


def _row_findings(
    op: OpFolder, rows: list[ContractRow], tested: list[ContractRow]
) -> Iterator[Finding]:
    if not rows:
        yield Finding(op.op, "contract", f"{op.path}/contract.cc", 0, "it checks nothing")
    for row in rows:
        if row not in tested:
            message = f"no test meets the check of {row.title}"
            yield Finding(op.op, "contract", row.file, row.line, message)


def _claim_findings(tree: Tree, tests: Tests, op: OpFolder) -> Iterator[Finding]:
    for claim in unproven(tree, tests, op):
        message = f"neither a test nor a result shows {claim.text}"
        yield Finding(op.op, "claims", f"{op.path}/README.md", claim.line, message)


def _provenance_findings(
    tests: Tests, op: OpFolder, record: Provenance | None
) -> Iterator[Finding]:
    """Requirements of the original whose test is missing or not filled in."""
    if record is None:
        return
    file = f"{op.path}/{FILE}"
    if record.op != op.op:
        yield Finding(op.op, "provenance", file, 0, f"it is that of {record.op}")
    if not record.files:
        yield Finding(op.op, "provenance", file, 0, "it names no file of the original")
    if not record.licence:
        yield Finding(op.op, "provenance", file, 0, "it states no licence")
    for row in record.rows:
        named = [one for one in tests.all if one.name.endswith(f".{camel(row.id)}")]
        about = f"{row.id} ({row.condition})"
        if not named:
            yield Finding(op.op, "contract", file, 0, f"no test is named {camel(row.id)}: {about}")
        elif not any(one.filled for one in named):
            place = named[0]
            message = f"its test is not filled in: {about}"
            yield Finding(op.op, "contract", place.file, place.line, message)


def _drifted(op: OpFolder, record: Provenance, upstream: pathlib.Path) -> Iterator[Finding]:
    for change in drift(record, upstream):
        yield Finding(op.op, "drift", f"{op.path}/{FILE}", 0, f"upstream {change}")
