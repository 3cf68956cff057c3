"""Which files a C++ file sees through its includes; what is not in the repository is left out."""

import collections
import pathlib
import re

from einkorn.port.sources.tree import SourceTree

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:include|import)[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)


class Visible:
    """Includes are matched by the ends of paths: include folders are not known here."""

    def __init__(self, sources: SourceTree) -> None:
        self._sources = sources
        self._by_name: dict[str, list[str]] = collections.defaultdict(list)
        for file in sources.cpp_files:
            self._by_name[file.rsplit("/", 1)[-1]].append(file)
        self._direct: dict[str, list[str]] = {}
        self._seen: dict[str, frozenset[str]] = {}

    def of(self, file: str) -> frozenset[str]:
        """`file` and all that it includes, directly or not."""
        if file not in self._seen:
            seen = {file}
            pending = [file]
            while pending:
                for one in self._included(pending.pop()):
                    if one not in seen:
                        seen.add(one)
                        pending.append(one)
            self._seen[file] = frozenset(seen)
        return self._seen[file]

    def _included(self, file: str) -> list[str]:
        if file not in self._direct:
            found: list[str] = []
            for written in _INCLUDE.findall(self._sources.text(file)):
                found += self._matching(file, written)
            self._direct[file] = found
        return self._direct[file]

    def _matching(self, file: str, written: str) -> list[str]:
        folder = pathlib.PurePosixPath(file).parent
        parts = [part for part in written.replace("\\", "/").split("/") if part != "."]
        beside = _normal([*folder.parts, *parts])
        candidates = self._by_name.get(parts[-1] if parts else "", [])
        if beside in candidates:
            return [beside]
        end = "/".join(part for part in parts if part != "..")
        return [one for one in candidates if one == end or one.endswith("/" + end)]


def _normal(parts: list[str]) -> str:
    kept: list[str] = []
    for part in parts:
        if part == ".." and kept:
            kept.pop()
        elif part not in ("..", "."):
            kept.append(part)
    return "/".join(kept)
