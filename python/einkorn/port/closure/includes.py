"""The files that an entry needs to compile, which of their text it reaches, and what is external.

No preprocessor runs: an #include under any #if counts.
"""

import collections
import dataclasses
import pathlib
import posixpath
import re

from einkorn.port.closure import externals, symbols
from einkorn.port.cpp import tokens as cpp_tokens
from einkorn.port.cpp.functions import Function
from einkorn.port.cpp.index import CppIndex
from einkorn.port.model import Closure, ClosureFile, Gap

_INCLUDE = re.compile(r'#\s*(?:include|include_next|import)\s*(?:"([^"\n]+)"|<([^>\n]+)>|(\w+))')


@dataclasses.dataclass(frozen=True)
class Include:
    name: str  # "cute/tensor.hpp"
    quoted: bool
    line: int


def closure_of(
    index: CppIndex, entries: list[str], used: list[Function] | None, include_dirs: list[str]
) -> Closure:
    """What `entries` (files) include at any depth, and the units that instantiate their templates.

    `used`: the functions on the path, whose names are followed to what they reach; None takes all
    of the entries as reached. `include_dirs` are relative to the root, in order. What is not found
    is external; what can't be decided is told in `index.sources.gaps`.
    """
    resolver = Resolver(index, include_dirs, entries)
    files, external = resolver.reached(entries)
    while more := _units(index, resolver, files, used):
        files, external = resolver.reached([*entries, *files, *more])
    reach = symbols.Reach(index, sorted(files), entries, used)
    closure = Closure(external=sorted(external))
    for file in sorted(files):
        lines = len(index.sources.text(file).splitlines())
        closure.files.append(ClosureFile(file, lines, reach.used_lines(file), reach.unused(file)))
    closure.licences = index.sources.licences(sorted(files))
    return closure


def _units(
    index: CppIndex, resolver: "Resolver", files: set[str], used: list[Function] | None
) -> list[str]:
    """Units that instantiate a template of `used` and include it from `files`."""
    homes = {other.file for one in used or [] for other in index.named(one.symbol)} & files
    homes |= {one.file for one in used or []} & files
    candidates = symbols.instantiating_files(index, files, used) if homes else set()
    return sorted(one for one in candidates if homes & resolver.reached([one])[0])


def includes_in(index: CppIndex, file: str) -> list[Include]:
    """The #includes of a file, in its order, those under an #if too."""
    found = []
    text = index.sources.text(file)
    for directive in cpp_tokens.directives_of(text):
        match = _INCLUDE.match(directive.text)
        if match is None:
            continue
        line = text.count("\n", 0, directive.start) + 1
        if match[3]:
            found += _by_macro(index, file, match[3], line)
        else:
            found.append(Include((match[1] or match[2]).strip(), bool(match[1]), line))
    return found


def _by_macro(index: CppIndex, file: str, name: str, line: int) -> list[Include]:
    found = []
    for macro in index.macros_named(name, file):
        if match := re.match(r'\s*(?:"([^"]+)"|<([^>]+)>)', macro.body):
            found.append(Include(match[1] or match[2], bool(match[1]), line))
    if not found:
        what = f"#include {name}: the sources do not say what the macro stands for"
        index.sources.gaps.append(Gap(what, file, line))
    return found


class Resolver:
    """Finds the files behind #includes: as a compiler would, then by the ends of paths."""

    def __init__(self, index: CppIndex, include_dirs: list[str], entries: list[str]) -> None:
        self.index = index
        self.include_dirs = [posixpath.normpath(one) for one in include_dirs]
        self.files = set(index.sources.files)
        self._by_name: dict[str, list[str]] = collections.defaultdict(list)
        for file in index.sources.files:
            self._by_name[posixpath.basename(file)].append(file)
        self.vendored = externals.Vendored(index.sources, entries)
        self._told: set[tuple[str, int]] = set()

    def reached(self, entries: list[str]) -> tuple[set[str], set[str]]:
        """All files that the entries lead to, and the names of external packages."""
        files: set[str] = set()
        external: set[str] = set()
        pending = [one for one in entries if one in self.files]
        while pending:
            file = pending.pop()
            if file in files:
                continue
            files.add(file)
            for include in includes_in(self.index, file):
                found = self.resolve(include, file)
                if found is not None and (package := self.vendored.package(found)):
                    external.add(package)
                elif found is not None:
                    pending.append(found)
                elif package := externals.package_of(include.name):
                    external.add(package)
                elif not externals.is_standard(include.name):
                    external.add(externals.first_component(include.name))
                    if include.quoted:
                        self._tell(f'#include "{include.name}": not found', file, include.line)
        return files, external

    def resolve(self, include: Include, file: str) -> str | None:
        """The file's path in the tree; None for one that is not there."""
        here = posixpath.dirname(file)
        folders = [here] if include.quoted else []
        for folder in [*folders, *self.include_dirs]:
            path = posixpath.normpath(posixpath.join(folder, include.name))
            if path in self.files:
                return path
        if externals.is_standard(include.name) or externals.package_of(include.name):
            in_tree = self._ending_in(include.name) if "/" in include.name else []
            return in_tree[0] if len(in_tree) == 1 else None
        return self._nearest(include, file)

    def _ending_in(self, name: str) -> list[str]:
        plain = posixpath.normpath(name)
        while plain.startswith("../"):
            plain = plain[3:]
        candidates = self._by_name.get(posixpath.basename(plain), [])
        return [one for one in candidates if one == plain or one.endswith("/" + plain)]

    def _nearest(self, include: Include, file: str) -> str | None:
        """Of the files whose path ends so: the only one, else that which shares most folders."""
        found = self._ending_in(include.name)
        if len(found) > 1:
            shared = {
                one: len(posixpath.commonprefix([_parts(one), _parts(file)])) for one in found
            }
            most = max(shared.values())
            found = [one for one in found if shared[one] == most]
            if len(found) > 1:
                listed = ", ".join(found[:4])
                what = f"#include {include.name} may be any of {listed}: the first is taken"
                self._tell(what, file, include.line)
        return found[0] if found else None

    def _tell(self, what: str, file: str, line: int) -> None:
        if (file, line) not in self._told:
            self._told.add((file, line))
            self.index.sources.gaps.append(Gap(what, file, line))


def _parts(file: str) -> list[str]:
    return list(pathlib.PurePosixPath(file).parent.parts)
