"""The problems of found tests: their parameters as fields of a problem, their values as cases."""

import dataclasses
import keyword
import pathlib
import re

from einkorn.port.model import FoundTest
from einkorn.port.scaffold.parameters import parameters_of

# A test's sizes up to this many elements run on every change, up to the next in CI, above on a GPU.
_SMALL, _LARGE = 1 << 18, 1 << 24
# Names of the generated problem, and of C++.
_TAKEN = {"dtype", "fields", "problem", "args", "int", "long", "short", "char", "double", "float"}
_TAKEN |= {"bool", "auto", "default", "switch", "case", "new", "delete", "this", "template"}
_TAKEN |= {"operator", "register", "signed", "unsigned", "union", "volatile", "namespace"}


@dataclasses.dataclass(frozen=True)
class FoundCase:
    name: str  # an identifier, unique
    test: str  # file::name
    sizes: dict[str, int]

    @property
    def level(self) -> int:
        elements = 1
        for size in self.sizes.values():
            elements *= max(1, size)
        return 0 if elements <= _SMALL else 1 if elements <= _LARGE else 2


def snake(text: str) -> str:
    """A snake_case word for any text; "" where nothing is left."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    text = re.sub(r"\W+|_+", "_", text.lower()).strip("_")
    return f"n_{text}" if text[:1].isdigit() else text


def field_name(name: str) -> str:
    """The name of a problem's field for a test's parameter."""
    word = snake(name) or "size"
    return f"{word}_" if word in _TAKEN or keyword.iskeyword(word) else word


def cases_of(tests: list[FoundTest], upstream: pathlib.Path | None = None) -> list[FoundCase]:
    """The cases of all tests, each set of sizes once. With the folder they were found in, values
    that are named there are known, too.
    """
    out: list[FoundCase] = []
    seen: list[dict[str, int]] = []
    for test in tests:
        module = _text(upstream / test.file) if upstream is not None else ""
        for sizes in parameters_of(test.parameters, module):
            named = {field_name(name): value for name, value in sizes.items()}
            if any(value >= 1 << 40 for value in named.values()) or named in seen:
                continue
            seen.append(named)
            name = f"{snake(test.name).removeprefix('test_') or 'case'}_{len(out) + 1}"
            out.append(FoundCase(name, f"{test.file}::{test.name}", named))
    return out


def _text(path: pathlib.Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
