"""What a scaffold is made from: the answers of a migration and the facts of a survey, as an op."""

import dataclasses
import pathlib
import re

from einkorn.port.errors import PortError
from einkorn.port.migration.answers import Migration
from einkorn.port.model import Argument, Survey
from einkorn.port.provenance.record import Provenance, rows_of, source_files
from einkorn.port.scaffold.cases import FoundCase, cases_of, field_name

CPU = "cpu"
DESIGN = "ported"


@dataclasses.dataclass(frozen=True)
class Tensor:
    name: str
    output: bool
    over: str  # of an output that may be exactly an input: that input's name
    inout: bool = False


@dataclasses.dataclass(frozen=True)
class Scalar:
    name: str
    cpp: str  # double, std::int64_t or bool
    default: str
    source: str


@dataclasses.dataclass(frozen=True)
class OpPlan:
    op: str
    family: str
    tensors: tuple[Tensor, ...]
    scalars: tuple[Scalar, ...]
    left: tuple[str, ...]  # arguments that need a type of their own, to be written by hand
    fields: tuple[str, ...]  # sizes of a problem
    cases: tuple[FoundCase, ...]
    provenance: Provenance
    migration: Migration

    @property
    def type(self) -> str:
        return camel(self.op)

    @property
    def folder(self) -> str:
        return f"ops/{self.family}/{self.op}"

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return tuple(one for one in self.tensors if not one.output)

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        return tuple(one for one in self.tensors if one.output)

    @property
    def variants(self) -> list[tuple[str, str]]:
        """Arch and stem, in order of preference: special ones first."""
        arches = sorted(set(self.migration.texts("support.arches")), key=_order)
        return [(arch, f"{DESIGN}_v1") for arch in arches]


def _order(arch: str) -> tuple[int, str]:
    return {CPU: 2, "smxx": 1}.get(arch, 0), arch


def camel(word: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in word.split("_"))


def plan_of(
    survey: Survey,
    migration: Migration,
    provenance: Provenance,
    upstream: pathlib.Path | None = None,
) -> OpPlan:
    """PortError where the answers make no op: no input, no output, one name twice."""
    tensors, scalars, left = _arguments(survey, migration)
    wanted = migration.texts("proof.tests")
    tests = [one for one in survey.tests if f"{one.file}::{one.name}" in wanted]
    cases = cases_of(tests, upstream)
    return OpPlan(
        op=migration.text("names.op"),
        family=migration.text("names.family"),
        tensors=tuple(tensors),
        scalars=tuple(scalars),
        left=tuple(left),
        fields=tuple(dict.fromkeys(name for case in cases for name in case.sizes)) or ("n",),
        cases=tuple(cases),
        provenance=provenance,
        migration=migration,
    )


def _names(migration: Migration) -> dict[str, str]:
    """What each argument of the original is called here."""
    renamed = migration.pairs("names.renamed")
    unknown = set(renamed) - {one.source for one in migration.arguments}
    if unknown:
        raise PortError("migration: names.renamed", "arguments", ", ".join(sorted(unknown)))
    names = {one.source: field_name(one.source) for one in migration.arguments} | renamed
    for name in names.values():
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise PortError("migration: names.renamed", "a snake_case word", repr(name))
    return names


def _arguments(
    survey: Survey, migration: Migration
) -> tuple[list[Tensor], list[Scalar], list[str]]:
    """Tensors, inputs first; scalars; and what has to be declared by hand."""
    names = _names(migration)
    known = {one.name: one for one in survey.arguments}
    inputs: list[Tensor] = []
    outputs: list[Tensor] = []
    scalars: list[Scalar] = []
    left: list[str] = []
    for one in migration.arguments:
        name = names[one.source]
        if one.role in ("input", "inout"):
            inputs.append(Tensor(name, False, name, one.role == "inout"))
        if one.role in ("output", "inout"):
            out_name = name if one.role == "output" else f"{name}_out"
            outputs.append(Tensor(out_name, True, name, one.role == "inout"))
        if one.role == "scalar":
            scalar = scalar_of(name, known.get(one.source, Argument(one.source, one.type)))
            if scalar is None:
                left.append(f"{name} ({one.type or 'of an unknown type'})")
            else:
                scalars.append(scalar)
    if not inputs or not outputs:
        got = ", ".join(f"{one.source}: {one.role}" for one in migration.arguments) or "none"
        raise PortError("migration: roles", "at least one input and one output", got)
    taken = [one.name for one in [*inputs, *outputs]] + [one.name for one in scalars]
    for name in taken:
        if taken.count(name) > 1:
            raise PortError("migration: names.renamed", "different names", f"{name} twice")
    return [*inputs, *outputs], scalars, left


def scalar_of(name: str, argument: Argument) -> Scalar | None:
    """A member for an argument, or None where its type is none that a contract has."""
    kind = " ".join(re.sub(r"\b(const|std::|c10::|at::|torch::)|&", "", argument.type).split())
    kind = re.sub(r"^(?:std::)?optional<(.*)>$|^Optional\[(.*)\]$", r"\1\2", kind)
    kind = re.sub(r"\s*\|\s*None$", "", kind)
    default = argument.default.strip()
    if not kind:
        kind = _kind_of(default)
    if kind == "bool":
        return Scalar(name, "bool", "true" if default.lower() == "true" else "false", argument.name)
    if kind in ("float", "double", "float32_t"):
        return Scalar(name, "double", _number(default), argument.name)
    if re.fullmatch(
        r"u?int(8|16|32|64)?(_t)?|s?size_t|(long )?long|unsigned( int| long)?|SymInt", kind
    ):
        return Scalar(name, "std::int64_t", _integer(default), argument.name)
    return None


def _kind_of(default: str) -> str:
    if default in ("True", "False"):
        return "bool"
    if re.fullmatch(r"[-+]?\d+", default):
        return "int"
    return "float" if _number(default) != "0.0" or re.fullmatch(r"[-+]?0*\.0*", default) else ""


def _number(text: str) -> str:
    try:
        value = float(text.rstrip("fF"))
    except ValueError:
        return "0.0"
    # NaN and infinities are no literals.
    return repr(value) if value == value and abs(value) < float("inf") else "0.0"


def _integer(text: str) -> str:
    return text if re.fullmatch(r"-?\d{1,18}", text) else "0"


def provenance_of(
    survey: Survey, migration: Migration, upstream: pathlib.Path | None = None
) -> Provenance:
    """What is recorded of the source; PortError where a file's hash is known from nowhere."""
    return Provenance(
        op=migration.text("names.op"),
        entry=survey.entry,
        url=survey.repository.get("url", ""),
        commit=survey.repository.get("commit", ""),
        licence=migration.text("licence.spdx"),
        use=migration.text("licence.use"),
        files=source_files(survey, migration.texts("closure.files"), upstream),
        rows=rows_of(survey),
    )
