"""Where each file of a closure goes, and its includes as they are to be spelt there."""

import posixpath
import re
from collections.abc import Mapping, Sequence

from einkorn.port.closure.includes import Include, Resolver, includes_in
from einkorn.port.cpp.index import CppIndex

_NAME = re.compile(r'("[^"\n]+"|<[^>\n]+>)')


def layout_of(files: Sequence[str], as_it_is: bool = False) -> dict[str, str]:
    """From paths in the surveyed root to paths in the output: less the folders that all share."""
    folders = [posixpath.dirname(file) for file in files]
    common = "" if as_it_is or "" in folders or not files else posixpath.commonpath(folders)
    return {file: posixpath.relpath(file, common or ".") for file in files}


class Includes:
    """Rewrites the #includes of the closure's own files to paths relative to the including one.

    So the folder compiles without include folders. What is not in `layout` (external packages, what
    was not found) stays as it is.
    """

    def __init__(self, index: CppIndex, resolver: Resolver, layout: Mapping[str, str]) -> None:
        self._index = index
        self._resolver = resolver
        self._layout = layout

    def rewritten(self, file: str, text: str) -> str:
        """The text of `file` with its includes rewritten; lines stay lines."""
        lines = text.splitlines(keepends=True)
        for include in includes_in(self._index, file):
            spelt = self._spelt(include, file)
            at = include.line - 1
            if spelt and at < len(lines):
                lines[at] = _NAME.sub(lambda _, new=spelt: f'"{new}"', lines[at], count=1)  # type: ignore[misc]
        return "".join(lines)

    def _spelt(self, include: Include, file: str) -> str:
        """Empty where nothing is to be done: it names none of our files, or is right already."""
        found = self._resolver.resolve(include, file)
        if found is None or found not in self._layout:
            return ""
        folder = posixpath.dirname(self._layout[file])
        target = self._layout[found]
        written = posixpath.normpath(posixpath.join(folder, include.name))
        if include.quoted and written == target:
            return ""
        return posixpath.relpath(target, folder or ".")
