"""The closure of an entry, written as a folder that compiles by itself, with namespaces renamed."""

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence

from einkorn.port.closure.includes import Resolver
from einkorn.port.cpp.index import CppIndex
from einkorn.port.emit import closure as emit_closure
from einkorn.port.emit import record as emit_record
from einkorn.port.emit.collisions import Collision, collisions_of
from einkorn.port.emit.folder import Change, Folder, read_record
from einkorn.port.emit.layout import Includes, layout_of
from einkorn.port.emit.page import page
from einkorn.port.emit.prune import pruned
from einkorn.port.emit.rename import Renamer, Source, parse_names
from einkorn.port.errors import PortError
from einkorn.port.model import Gap
from einkorn.port.sources.tree import SourceTree

__all__ = ["Change", "Collision", "EmitReport", "emit"]

_UNITS = (".cu", ".cc", ".cpp", ".cxx", ".c")


@dataclasses.dataclass
class EmitReport:
    out: str
    written: bool
    changes: list[Change] = dataclasses.field(default_factory=list)
    collisions: list[Collision] = dataclasses.field(default_factory=list)
    external: list[str] = dataclasses.field(default_factory=list)
    units: list[str] = dataclasses.field(default_factory=list)  # to compile, in the output folder
    gaps: list[Gap] = dataclasses.field(default_factory=list)

    def text(self) -> str:
        """The plan: what would be or was written, differences, collisions, external packages."""
        return page(self)


def emit(
    root: pathlib.Path,
    entry: str,
    out: pathlib.Path,
    namespaces: Mapping[str, str] | None = None,
    *,
    write: bool = False,
    prune: bool = False,
    force: bool = False,
    include_dirs: Sequence[str] = (),
) -> EmitReport:
    """Plans, and with `write` makes, the folder `out` with the closure of `entry`.

    `entry` is a file of the root, or a function as in `survey`. `namespaces` maps old to new
    names, nested ones too ("a::b"). `prune` blanks what the entry does not reach; lines keep their
    numbers. `force` writes over files in `out` that are not ours. A folder made so may be the root
    of another run, even into itself. PortError: no such entry, an out folder inside the root, a
    name that is no namespace of the closure, foreign files in `out` where `write` is set and
    `force` is not.
    """
    names = parse_names(namespaces or {})
    sources = SourceTree(root)
    record = read_record(sources.root)
    folder = Folder(_checked(sources.root, out, bool(record)))
    index = CppIndex(sources)
    include_folders = list(include_dirs)
    closure, gaps = emit_closure.closure_of_entry(index, entry, include_folders)
    files = [one.path for one in closure.files]
    layout = layout_of(files, as_it_is=bool(record))
    texts = dict(pruned(index, closure.files)) if prune else {}
    read = [Source.read(file, texts.get(file, sources.text(file))) for file in files]
    renamer = Renamer(read, names)
    includes = Includes(index, Resolver(index, include_folders, files), layout)
    texts = {one.file: includes.rewritten(one.file, renamer.renamed(one)) for one in read}
    copies = emit_closure.copies_of(sources, closure, layout, texts)

    report = EmitReport(str(out), write, external=list(closure.external))
    report.changes = folder.changes(copies)
    report.collisions = collisions_of(index, read, renamer, layout) + _foreign(report.changes)
    report.units = [layout[file] for file in files if file.endswith(_UNITS)]
    gaps = [one for one in [*gaps, *sources.gaps] if not one.file or one.file in layout]
    report.gaps = list(dict.fromkeys([*renamer.gaps, *gaps]))
    if write:
        text = emit_record.text_of(entry, sources, closure, names, copies, report.units, record)
        folder.write(report.changes, copies, text, force)
    return report


def _checked(root: pathlib.Path, out: pathlib.Path, is_emitted: bool) -> pathlib.Path:
    """Nothing is written into a surveyed repository, but for one that is an emission itself."""
    real = out.resolve()
    if real.is_relative_to(root) and not (is_emitted and real == root):
        raise PortError("out", "a folder outside of the surveyed one", f"'{out}'")
    return out


def _foreign(changes: Sequence[Change]) -> list[Collision]:
    return [
        Collision("foreign", one.path, "is there and is not ours, or was edited since", ())
        for one in changes
        if one.action == "foreign"
    ]
