"""Which translation units bring a call chain's kernels: where the closure of an entry begins.

The unit that only makes the entry known to Python is none of them: it drags in all the other
operators that are registered there.
"""

import posixpath
import re

from einkorn.port.chain.follow import Chain
from einkorn.port.contracts.paths import Paths, key_of
from einkorn.port.cpp.index import CppIndex, Function

_UNITS = (".cu", ".cpp", ".cc", ".cxx", ".c")
_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def units_of(cpp: CppIndex, paths: Paths, chain: Chain) -> list[str]:
    """Files to begin the closure with; headers only where no unit includes them."""
    wanted = _files(paths, chain)
    units = [file for file in wanted if file.endswith(_UNITS)]
    reached = _reached(cpp, units)
    registering = {one.file for one in chain.registrations} - set(units)
    launching = {one.file for one in chain.launches}
    # What launches comes first: its units bring most other headers along.
    for header in sorted(wanted, key=lambda one: (one not in launching, one)):
        if header in reached or header in units:
            continue
        if header not in launching:
            units.append(header)
            reached |= _reached(cpp, [header])
            continue
        including = [
            file
            for file in _includers(cpp, header)
            if file.endswith(_UNITS) and file not in registering and not cpp.sources.is_test(file)
        ]
        units += including or [header]
        reached |= _reached(cpp, including or [header])
    return sorted(set(units))


def _files(paths: Paths, chain: Chain) -> list[str]:
    """Of what leads to the launches, without what only makes an entry known to Python."""
    launching = {one.function for one in chain.launches}
    targets = {one.symbol.rsplit("::", 1)[-1] for one in chain.registrations}
    places = {one.file for one in chain.registrations}
    leading = paths.leading()
    on_path = [one for one in paths.native if key_of(one) in leading]

    def passes_on(function: Function) -> bool:
        registered = function.name in targets and function.symbol not in launching
        return registered and (function.file in places or not function.file.endswith(_UNITS))

    kept = paths.below([one for one in on_path if not passes_on(one)])
    return sorted({one.file for one in kept or on_path or paths.native})


def _reached(cpp: CppIndex, files: list[str]) -> set[str]:
    """The files themselves and all that they include from the tree."""
    seen: set[str] = set()
    pending = list(files)
    while pending:
        file = pending.pop()
        if file not in seen:
            seen.add(file)
            for written in _INCLUDE.findall(cpp.sources.text(file)):
                pending += _resolved(cpp, file, written)
    return seen


def _resolved(cpp: CppIndex, file: str, written: str) -> list[str]:
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(file), written))
    if beside in cpp.sources.files:
        return [beside]
    ending = "/" + posixpath.normpath(written)
    return [one for one in cpp.sources.cpp_files if f"/{one}".endswith(ending)][:1]


def _includers(cpp: CppIndex, header: str) -> list[str]:
    name = posixpath.basename(header)
    return [
        file
        for file in cpp.sources.cpp_files
        if name in cpp.sources.text(file)
        and any(
            header in _resolved(cpp, file, written)
            for written in _INCLUDE.findall(cpp.sources.text(file))
            if posixpath.basename(written) == name
        )
    ]
