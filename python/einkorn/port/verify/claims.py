"""Claims of an op's README: numbers and dtypes, each of which a test or a result has to show.

Taken as a claim is each number of a text or list, and each dtype; not the numbers of formulas,
sources, and of the table of variants, which the lint writes from the sources.
"""

import dataclasses
import re
from collections.abc import Iterator

from einkorn.port.migration.questions import DTYPES
from einkorn.port.verify.model import OpFolder, Tree
from einkorn.port.verify.tests import Tests

_NUMBER = re.compile(
    r"(?<![\w.^])[-−]?(?:2\^[-−]?\d+|\d+(?:,\d{3})+|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w^]|\.\d)"
)
_SOURCE = re.compile(r"\b(?:19|20)\d\d\b|\beq\.|\bsection \d|https?://|\bSources?:", re.IGNORECASE)
# Shapes, and versions: "PyTorch 2.15".
_NO_CLAIM = re.compile(r"\[[^\]]*\]|\b[A-Z]\w+ \d+(?:\.\d+)+")
_RESULTS = "bench/results"
# Counts that anything says, and widths of types: no claim of their own.
_PLAIN = {0.0, 1.0, 2.0}
_SHIFT = re.compile(r"\b1(?:LL|L|ULL)?\}?\s*<<\s*(\d+)|\b0x1p([-+]?\d+)|\b2\^([-−]?\d+)")
_COUNT = re.compile(r"(?<![\w.])-?\d+(?:[',_]\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?")


@dataclasses.dataclass(frozen=True)
class Claim:
    line: int
    text: str  # as written
    value: float | None  # None for a dtype


def claims_of(text: str) -> list[Claim]:
    """In order, each number of a line once."""
    out = []
    for number, line in _prose(text):
        seen: set[float | str] = set()
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|`[^`]*`", lambda one: one[1] or one[0], line)
        if not _SOURCE.search(line):
            for found in _NUMBER.finditer(_NO_CLAIM.sub(" ", plain)):
                value = value_of(found[0])
                if value not in _PLAIN and value not in seen:
                    seen.add(value)
                    out.append(Claim(number, found[0], value))
        for found in re.finditer(rf"(?<![\w.])(?:{'|'.join(DTYPES)})(?!\w)", line):
            if found[0] not in seen:
                seen.add(found[0])
                out.append(Claim(number, found[0], None))
    return out


def _prose(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without formulas and the table of variants."""
    skipped = code = False
    for number, line in enumerate(text.splitlines(), 1):
        if "<!-- variants -->" in line or "<!-- /variants -->" in line:
            skipped = "/" not in line
        if line.startswith("```"):
            code = not code
        if not (skipped or code or re.match(r"    \S| {5,}|\t", line) or line.startswith("#")):
            yield number, line


def value_of(text: str) -> float:
    """Of a number as people write it: "2^40", "16,384", "1.8e19", "−88"."""
    text = text.replace("−", "-").replace(",", "").replace("'", "").replace("_", "")
    sign = -1.0 if text.startswith("-") else 1.0
    text = text.lstrip("-")
    if text.startswith("2^"):
        return sign * 2.0 ** int(text[2:])
    return sign * float(text)


def values_in(text: str) -> set[float]:
    """Every number of a text, powers of two as code writes them included."""
    out = set()
    for found in _SHIFT.finditer(text):
        power = int(next(one for one in found.groups() if one).replace("−", "-"))
        if abs(power) < 1000:
            out |= {2.0**power, -(2.0**power)}
    for found in _COUNT.finditer(text):
        out.add(value_of(found[0]))
    return out


def unproven(tree: Tree, tests: Tests, op: OpFolder) -> list[Claim]:
    """The claims of an op's README that nothing shows."""
    claims = claims_of(tree.text(f"{op.path}/README.md"))
    if not claims:
        return []
    texts = tests.texts(op)
    shown = values_in(texts)
    for constant, value in _constants(tree, op).items():
        if re.search(rf"\b{constant}\b", texts):
            shown |= {value}
    results = [
        one
        for one in tree.files(_RESULTS, ".json", ".jsonl")
        if re.search(rf"(?<![a-z]){op.op}(?![a-z_])", one)
    ]
    for file in results:
        shown |= values_in(tree.text(file))
    dtypes = set(re.findall(r"(?<![a-z])(?:k)?(\w+)", texts.lower()))
    return [
        one
        for one in claims
        if (one.value not in shown if one.value is not None else one.text not in dtypes)
    ]


def _constants(tree: Tree, op: OpFolder) -> dict[str, float]:
    """Named powers of two of a contract, such as kMaxRows."""
    found = re.findall(
        r"\b(k\w+) = (?:std::int64_t\{1\}|1) << (\d+);", tree.text(f"{op.path}/contract.h")
    )
    return {name: 2.0 ** int(power) for name, power in found}
