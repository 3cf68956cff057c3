"""Names of an emitted closure that mean two things: found before anything is written."""

import collections
import dataclasses
import posixpath
import re
from collections.abc import Collection, Mapping, Sequence

from einkorn.port.closure.externals import package_of
from einkorn.port.cpp.index import CppIndex
from einkorn.port.emit.namespaces import Path
from einkorn.port.emit.rename import Renamer, Source

_MOST_PLACES = 5
_GUARD = re.compile(r"_(H|HH|HPP|HXX|CUH|INC|INL)_*$|_INCLUDED_*$")


@dataclasses.dataclass(frozen=True)
class Collision:
    kind: str  # namespace, name, basename, macro, external, foreign
    name: str
    what: str
    places: tuple[str, ...]  # "file:line", or files of the output


def collisions_of(
    index: CppIndex, sources: Sequence[Source], renamer: Renamer, layout: Mapping[str, str]
) -> list[Collision]:
    """All that the renaming, the layout and the files' macros bring. None stops the writing."""
    found = []
    for old, new in renamer.names.items():
        if old in renamer.known:
            found += _of_new_name(sources, renamer, old, new)
    return [*found, *_basenames(layout), *_macros(index, sources, renamer.names.values())]


def _of_new_name(
    sources: Sequence[Source], renamer: Renamer, old: Path, new: Path
) -> list[Collision]:
    found = []
    spelt = "::".join(new)
    if new in renamer.known:
        places = _blocks(sources, new)
        found.append(Collision("namespace", spelt, "is a namespace already: the two merge", places))
    if package_of(f"{new[0]}/x.h") or new[0] in ("std", "at", "cuda"):
        what = "is the namespace of an external package"
        found.append(Collision("external", spelt, what, ()))
    for name in [one for one in new if one not in old]:
        places = _uses(sources, name)
        if places and new not in renamer.known:
            found.append(Collision("name", name, "is a name in the sources already", places))
    return found


def _blocks(sources: Sequence[Source], path: Path) -> tuple[str, ...]:
    return tuple(
        f"{source.file}:{source.line(block.first)}"
        for source in sources
        for block in source.scan.blocks
        if block.scope + block.names == path
    )[:_MOST_PLACES]


def _uses(sources: Sequence[Source], name: str) -> tuple[str, ...]:
    places: list[str] = []
    for source in sources:
        for at, token in enumerate(source.tokens):
            if token.text == name and len(places) < _MOST_PLACES and not _in_include(source, at):
                places.append(f"{source.file}:{source.line(at)}")
    return tuple(places)


def _in_include(source: Source, at: int) -> bool:
    directive = source.tokens[at].directive
    while directive and at and source.tokens[at - 1].directive == directive:
        at -= 1
    return bool(directive) and source.tokens[at + 1].text == "include"


def _basenames(layout: Mapping[str, str]) -> list[Collision]:
    by_name: dict[str, list[str]] = collections.defaultdict(list)
    for path in layout.values():
        by_name[posixpath.basename(path)].append(path)
    what = "is the name of several files"
    return [
        Collision("basename", name, what, tuple(sorted(paths)))
        for name, paths in sorted(by_name.items())
        if len(paths) > 1
    ]


def _macros(index: CppIndex, sources: Sequence[Source], news: Collection[Path]) -> list[Collision]:
    """Macros that two files define differently, and such that are named as a new namespace."""
    bodies: dict[str, dict[str, str]] = collections.defaultdict(dict)
    for source in sources:
        for macro in index.macros_in(source.file).values():
            bodies[macro.name][f"{source.file}:{macro.line}"] = " ".join(macro.body.split())
    names = {name for path in news for name in path}
    found = []
    for name, defined in sorted(bodies.items()):
        guard = all(not body for body in defined.values())
        if name in names:
            what = "is a macro, and would be replaced where the namespace is named"
            found.append(Collision("macro", name, what, tuple(defined)[:_MOST_PLACES]))
        elif len(set(defined.values())) > 1:
            what = "is defined differently by several files"
            found.append(Collision("macro", name, what, tuple(defined)[:_MOST_PLACES]))
        elif len(defined) > 1 and guard and _GUARD.search(name):
            what = "guards several files: only the first that is included counts"
            found.append(Collision("macro", name, what, tuple(defined)[:_MOST_PLACES]))
    return found
