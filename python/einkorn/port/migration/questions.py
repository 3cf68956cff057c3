"""What has to be decided before an operator is brought over, and what a survey knows of it.

A question is answered here only where the survey leaves no choice: what an operator is for, how it
is named and what of it counts are decisions, whatever the source looks like.
"""

import dataclasses
import re
from typing import Any, Literal

from einkorn.port.model import Argument, Contract, Survey

UNANSWERED = "unanswered"

# What an answer looks like: a sentence, a snake_case word, a list of texts, a list of
# {from = ..., to = ...}, or one of some words.
Form = Literal["text", "word", "texts", "pairs", "choice"]

ROLES = ("input", "output", "inout", "scalar", "dropped")
# Of include/einkorn/dtype.h.
DTYPES = (
    *("f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "u8", "i32", "i64"),
    *("i4", "u4", "f4e2m1", "e8m0"),
)
FACTS_SHOWN = 12


@dataclasses.dataclass(frozen=True)
class Question:
    table: str
    key: str
    form: Form
    text: str  # what is asked, and why
    facts: tuple[str, ...] = ()  # what the survey found, shown beside the question
    answer: Any = UNANSWERED
    choices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.table}.{self.key}"


@dataclasses.dataclass(frozen=True)
class ArgumentQuestion:
    """What an argument of the entry is; `role` is one of ROLES, or UNANSWERED."""

    source: str
    type: str
    role: str = UNANSWERED


# Of C, C++ and Python annotations, without const and references.
_SCALAR = re.compile(
    r"(std::)?(u?int(8|16|32|64)?(_t)?|s?size_t|float|double|bool|string(_view)?|str|"
    r"(long )?long|unsigned( int| long)?|(at::|c10::|torch::)?(Scalar|ScalarType|dtype)|"
    r"c10::SymInt|float32_t)"
)
_STREAM = re.compile(
    r"(cudaStream_t|CUstream|at::cuda::CUDAStream|c10::cuda::CUDAStream|TVMStream)"
)


def role_of(argument: Argument) -> str:
    """The role where the type leaves no other. A tensor may be read or written whatever its type,
    so that of a tensor is never known; nor is that of what has no type.
    """
    bare = re.sub(r"\b(const|volatile|struct)\b|&", "", argument.type)
    bare = re.sub(r"\s*\|\s*None$|^Optional\[(.*)\]$|^std::optional<(.*)>$", r"\1\2", bare.strip())
    bare = " ".join(bare.split())
    if _STREAM.fullmatch(bare):
        return "dropped"  # a stream is given by every call of this library
    if _SCALAR.fullmatch(bare):
        return "scalar"
    if re.fullmatch(r"const [\w:]+( const)? ?\*( __restrict__| const)*", argument.type.strip()):
        return "input"
    return UNANSWERED


def arguments_of(survey: Survey) -> list[ArgumentQuestion]:
    """The entry's parameters, or the arguments that its contracts name where they are unknown."""
    if survey.arguments:
        return [
            ArgumentQuestion(one.name, one.type, role_of(one))
            for one in survey.arguments
            if one.name not in ("self", "cls")
        ]
    rows = [*survey.contracts, *survey.hidden]
    names = dict.fromkeys(one.argument for one in rows if re.fullmatch(r"\w+", one.argument))
    return [ArgumentQuestion(name, "") for name in names]


def _row(one: Contract) -> str:
    about = " ".join(filter(None, (one.argument, one.property)))
    return f"{about}: {one.condition} ({one.file}:{one.line})"


def _some(facts: list[str]) -> tuple[str, ...]:
    facts = list(dict.fromkeys(facts))
    if len(facts) <= FACTS_SHOWN:
        return tuple(facts)
    return (*facts[:FACTS_SHOWN], f"and {len(facts) - FACTS_SHOWN} more, in survey.json")


def _behaviour(survey: Survey) -> list[Question]:
    return [
        Question(
            "behaviour",
            "essential",
            "text",
            "What the result is, as a formula or in a few sentences: what a caller relies on, and "
            "what the new implementation is held to. Semantics come before any cleaning up.",
            (f"entry: {survey.entry}",),
        ),
        Question(
            "behaviour",
            "rounding",
            "text",
            "Where intermediate results are rounded, and to what. Two implementations that round "
            "at different places differ by more than a tolerance should allow.",
        ),
        Question(
            "behaviour",
            "quirks",
            "texts",
            "What of the original looks like an accident and is kept nevertheless, because weights "
            "or callers depend on it (a shift before an activation, a padding that is read). "
            "[] when nothing is.",
        ),
        Question(
            "behaviour",
            "state",
            "text",
            "What happens to the state that the original's result depends on beyond its arguments: "
            "environment variables, statics, atomics, random numbers. This library has none.",
            _some([f"{one.kind}: {one.text} ({one.file}:{one.line})" for one in survey.state]),
            "none found" if not survey.state and not survey.gaps else UNANSWERED,
        ),
    ]


def _closure(survey: Survey) -> list[Question]:
    closure = survey.closure
    files = [one.path for one in closure.files]
    return [
        Question(
            "closure",
            "files",
            "texts",
            "The smallest set of files whose behaviour is brought over. It is what provenance is "
            "recorded of, and what is watched for changes upstream.",
            (f"the survey's closure: {len(files)} files, {closure.lines} lines",) if files else (),
            files or UNANSWERED,
        ),
        Question(
            "closure",
            "external",
            "texts",
            "Which external packages the port may keep needing. [] when none.",
            (f"the original needs: {', '.join(closure.external)}",) if closure.external else (),
            [] if files and not closure.external and not survey.gaps else UNANSWERED,
        ),
    ]


def _names(survey: Survey) -> list[Question]:
    names = [f"{one.public_name} ({one.kind})" for one in survey.registrations]
    return [
        Question("names", "family", "word", "The folder of related ops, such as norm."),
        Question(
            "names",
            "op",
            "word",
            "The op's name here. Folder, namespace and name of the op are one word.",
            _some([f"known there as {one}" for one in names]),
        ),
        Question(
            "names",
            "renamed",
            "pairs",
            "Arguments that are called otherwise here: [{from = 'input', to = 'x'}]. [] keeps all.",
        ),
        Question(
            "surface",
            "public",
            "texts",
            "What callers see: the functions and modules that are documented and kept stable.",
            _some(names),
        ),
        Question(
            "surface",
            "private",
            "texts",
            "What stays inside: switches, packing helpers, low-level forms. [] when nothing does.",
        ),
        Question(
            "surface",
            "state_keys",
            "pairs",
            "Names of stored weights that have to be translated: "
            "[{from = 'norm.gamma', to = 'weight'}]. [] when it stores none or keeps all.",
        ),
    ]


def _support(survey: Survey) -> list[Question]:
    arches = [f"{g.condition} ({g.file}:{g.line})" for g in survey.guards if g.kind != "dtype"]
    dtypes = [f"{g.condition} ({g.file}:{g.line})" for g in survey.guards if g.kind == "dtype"]
    dtypes += [_row(one) for one in survey.contracts if one.property == "dtype"]
    return [
        Question(
            "support",
            "arches",
            "texts",
            "Which arches need a variant: rows of ops/arches.inc, such as cpu, smxx or sm90.",
            _some([f"the original has code for: {one}" for one in arches]),
        ),
        Question(
            "support",
            "dtypes",
            "texts",
            f"Which dtypes are required, of {', '.join(DTYPES)}.",
            _some([f"the original: {one}" for one in dtypes]),
        ),
    ]


def _proof(survey: Survey) -> list[Question]:
    tests = list(dict.fromkeys(f"{one.file}::{one.name}" for one in survey.tests))
    licences = [
        f"{one.get('path')}: {one.get('spdx') or 'no SPDX id'}" for one in (survey.closure.licences)
    ]
    stated = {one["spdx"] for one in survey.closure.licences if one.get("spdx")}
    licence = survey.repository.get("licence") or (stated.pop() if len(stated) == 1 else "")
    return [
        Question(
            "proof",
            "tests",
            "texts",
            "Which tests prove that the behaviour came over. Their problems become cases.",
            ("those that the survey found to call the entry",) if tests else ("none were found",),
            tests or UNANSWERED,
        ),
        Question(
            "proof",
            "tolerance",
            "text",
            "How far a result may be from the reference in f64, and why: counted roundings, not "
            "what happened to pass.",
        ),
        Question(
            "limits",
            "not_validated",
            "texts",
            "What is explicitly not validated: devices, sizes, layouts, modes that the original "
            "has and no test here reaches. The README says it, too.",
        ),
        Question(
            "licence",
            "spdx",
            "text",
            "The licence of what is brought over.",
            _some(licences),
            licence or UNANSWERED,
        ),
        Question(
            "licence",
            "use",
            "choice",
            "Whether the source's text is taken over, or its idea expressed anew. Text that is "
            "taken over keeps its notices.",
            choices=("re-expressed", "copied"),
        ),
    ]


def questions(survey: Survey) -> list[Question]:
    """All questions but those of the arguments, in the order of migration.toml."""
    return [
        *_behaviour(survey),
        *_closure(survey),
        *_names(survey),
        *_support(survey),
        *_proof(survey),
    ]
