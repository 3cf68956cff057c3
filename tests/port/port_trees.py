"""Small source trees for tests of the C++ side, written from a dictionary."""

import pathlib
import textwrap

from einkorn.port.cpp.index import CppIndex
from einkorn.port.sources.tree import SourceTree


def write(root: pathlib.Path, files: dict[str, str]) -> SourceTree:
    """The tree under `root`, after writing `files` with their common indentation taken off."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    return SourceTree(root)


def index_of(root: pathlib.Path, files: dict[str, str]) -> CppIndex:
    return CppIndex(write(root, files))
