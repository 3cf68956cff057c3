"""Surveys of the small repositories under repos/, and of repositories that a test writes."""

import functools
import pathlib

from einkorn.port.chain.follow import Chain, follow
from einkorn.port.cpp.index import CppIndex
from einkorn.port.model import Registration
from einkorn.port.python.index import PythonIndex
from einkorn.port.registrations.find import registrations_of
from einkorn.port.sources.tree import SourceTree

REPOS = pathlib.Path(__file__).parent / "repos"


class Surveyed:
    def __init__(self, root: pathlib.Path) -> None:
        self.sources = SourceTree(root)
        self.cpp = CppIndex(self.sources)
        self.python = PythonIndex(self.sources)
        self.registrations = registrations_of(self.cpp, self.python)

    def follow(self, entry: str) -> Chain:
        return follow(self.cpp, self.python, self.registrations, entry)


@functools.cache
def repo(kind: str) -> Surveyed:
    return Surveyed(REPOS / kind)


def of_files(root: pathlib.Path, files: dict[str, str]) -> Surveyed:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Surveyed(root)


def rows(registrations: list[Registration]) -> list[tuple[str, str, str, str, int]]:
    return [(one.kind, one.public_name, one.symbol, one.file, one.line) for one in registrations]
