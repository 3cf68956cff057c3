"""Which files an emission holds: the closure of its entry, and the licences that go with it."""

import posixpath
import re
from collections.abc import Mapping, Sequence

from einkorn.port.closure.includes import closure_of
from einkorn.port.cpp.index import CppIndex
from einkorn.port.emit.folder import Copy
from einkorn.port.errors import PortError
from einkorn.port.model import Closure, Gap
from einkorn.port.sources.tree import SourceTree

# The Apache licence wants it passed on.
_NOTICE = re.compile(r"NOTICE(\.(txt|md))?")


def closure_of_entry(
    index: CppIndex, entry: str, include_dirs: list[str]
) -> tuple[Closure, list[Gap]]:
    """That of the survey: what the units on the entry's call chain need. Of a file, what it needs
    itself as well.

    PortError where there is no such entry, or none that leads to C++.
    """
    from einkorn.port.survey.assemble import survey

    cpp = set(index.sources.cpp_files)
    if entry in cpp and not any(one.is_definition for one in index.functions_in(entry)):
        return closure_of(index, [entry], None, include_dirs), []
    surveyed = survey(index.sources.root, entry, include_dirs)
    found = surveyed.closure
    missing = entry in cpp and entry not in {one.path for one in found.files}
    if missing or not found.files:
        found = closure_of(index, [entry], None, include_dirs) if entry in cpp else found
    if not cpp.issuperset(one.path for one in found.files) or not found.files:
        hint = "give a C++ or CUDA file, or a function that leads to one"
        raise PortError("op", "a function or a file of the repository in C++", f"'{entry}'", hint)
    return found, surveyed.gaps


def copies_of(
    sources: SourceTree, closure: Closure, layout: Mapping[str, str], texts: Mapping[str, str]
) -> list[Copy]:
    """The files as they are to be written, and the repository's licences at the top."""
    found = []
    for file, text in texts.items():
        original = _bytes(sources, file)
        data = original if text == sources.text(file) else _encoded(text, original)
        found.append(Copy(layout[file], file, data, original))
    taken = {one.path for one in found}
    for licence in _licence_files(sources, closure, texts):
        data = _bytes(sources, licence)
        # One may have the path of a file of the closure, which has lost its common folder.
        path = licence if licence not in taken else f"licences/{licence}"
        found.append(Copy(path, licence, data, data))
    return found


def _licence_files(
    sources: SourceTree, closure: Closure, texts: Mapping[str, str]
) -> Sequence[str]:
    """Those above a file of the closure, and the notices that go with them.

    The closure's licences name files that state theirs in their header, too.
    """
    own = [one["path"] for one in closure.licences if one["path"] not in texts]
    notices = [one for one in sources.files if _NOTICE.fullmatch(posixpath.basename(one))]
    folders = {posixpath.dirname(file) for file in texts}

    def is_above(licence: str) -> bool:
        folder = posixpath.dirname(licence)
        return not folder or any(f"{one}/".startswith(f"{folder}/") for one in folders)

    return [one for one in dict.fromkeys([*own, *notices]) if is_above(one)]


def _bytes(sources: SourceTree, file: str) -> bytes:
    try:
        return (sources.root / file).read_bytes()
    except OSError:  # `sources.text` has told
        return b""


def _encoded(text: str, original: bytes) -> bytes:
    """In the encoding and with the line ends of the original."""
    if b"\r\n" in original:
        text = text.replace("\n", "\r\n")
    try:
        original.decode("utf-8")
    except UnicodeDecodeError:
        return text.encode("latin-1", "replace")
    return text.encode("utf-8", "replace")
