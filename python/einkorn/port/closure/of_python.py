"""The closure of an operator that is written in Python alone, such as one of Triton's."""

import hashlib
import sys
from collections.abc import Iterable

from einkorn.port.model import Closure, ClosureFile
from einkorn.port.python.index import PyFunction, PythonIndex
from einkorn.port.sources.tree import SourceTree


def python_closure_of(
    sources: SourceTree, python: PythonIndex, functions: list[PyFunction]
) -> Closure:
    """The files of the functions that are reached, and the packages that these import."""
    closure = Closure()
    for file in sorted({one.file for one in functions}):
        reached = {one.symbol for one in functions if one.file == file}
        own = python.functions_in(file)
        closure.files.append(
            ClosureFile(
                path=file,
                lines=len(sources.text(file).splitlines()),
                used=len(_lines(one for one in own if one.symbol in reached)),
                unused=tuple(
                    one.symbol.rsplit(".", 1)[-1] for one in own if one.symbol not in reached
                ),
                sha256=hashlib.sha256((sources.root / file).read_bytes()).hexdigest(),
            )
        )
        for name in python.imports(file).values():
            package = name.partition(".")[0]
            if (
                package
                and not python.has_package(package)
                and package not in sys.stdlib_module_names
            ):
                closure.external.append(package)
    closure.external = sorted(set(closure.external))
    closure.licences = sources.licences([one.path for one in closure.files])
    return closure


def _lines(functions: Iterable[PyFunction]) -> set[int]:
    return {line for one in functions for line in range(one.line, one.end_line + 1)}
