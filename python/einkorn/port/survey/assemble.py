"""The survey of one operator of another repository: all that the later verbs start from."""

import pathlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from einkorn.port.contracts.collect import contracts_of, hidden_of
from einkorn.port.contracts.paths import Paths
from einkorn.port.cpp.index import CppIndex
from einkorn.port.errors import PortError
from einkorn.port.model import Gap, Survey
from einkorn.port.python.index import PythonIndex
from einkorn.port.sources.tree import SourceTree
from einkorn.port.survey.identity import declared_arguments, hashed
from einkorn.port.survey.page import page

if TYPE_CHECKING:
    from einkorn.port.chain.follow import Chain

Progress = Callable[[str], None]


def survey(
    root: pathlib.Path,
    entry: str,
    include_dirs: Sequence[str] = (),
    progress: Progress | None = None,
) -> Survey:
    """Follows `entry`, a function or a file of the tree, from its public name to its launches.

    `include_dirs` are relative to the root. Raises PortError where there is no such folder or
    entry; whatever else cannot be read or followed is a gap of the result.
    """
    from einkorn.port.chain.follow import follow
    from einkorn.port.registrations.find import registrations_of

    say = progress or (lambda _: None)
    sources = SourceTree(root)
    say(f"{len(sources.files)} files")
    cpp, python = CppIndex(sources), PythonIndex(sources)
    registrations = registrations_of(cpp, python)
    say(f"{len(registrations)} registrations")
    chain = follow(cpp, python, registrations, entry)
    say(f"{len(chain.steps)} steps, {len(chain.launches)} launches")
    result = Survey(entry=entry, repository=sources.repository())
    result.registrations = list(chain.registrations)
    result.call_chain = list(chain.steps)
    result.launches = list(chain.launches)
    result.contracts = contracts_of(cpp, python, chain)
    result.hidden = hidden_of(result.contracts)
    say(f"{len(result.contracts)} contracts, {len(result.hidden)} hidden")
    _add_surroundings(result, cpp, python, chain, include_dirs)
    result.closure = hashed(result.closure, sources)
    result.arguments = declared_arguments(chain.entries)
    say(f"{len(result.closure.files)} files in the closure")
    gaps = list(chain.gaps)
    if not chain.launches:
        gaps.append(Gap(f"no launch of a kernel was reached from '{entry}'"))
    result.gaps = list(dict.fromkeys([*gaps, *_related(sources.gaps, result)]))
    return result


def write(found: Survey, out: pathlib.Path) -> list[pathlib.Path]:
    """Writes survey.json and survey.md into the folder `out`, which is made; nothing beside it."""
    if out.exists() and not out.is_dir():
        raise PortError("out", "a folder to write into", f"'{out}', which is a file")
    try:
        out.mkdir(parents=True, exist_ok=True)
        written = [out / "survey.json", out / "survey.md"]
        for path, text in zip(written, (found.to_json(), page(found)), strict=True):
            if path.is_symlink():  # what it points to may lie elsewhere
                path.unlink()
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PortError("out", "a folder that can be written", f"'{out}': {error}") from error
    return written


def _add_surroundings(
    result: Survey,
    cpp: CppIndex,
    python: PythonIndex,
    chain: "Chain",
    include_dirs: Sequence[str],
) -> None:
    """The closure, and what in it makes results depend on more than the arguments."""
    from einkorn.port.chain.tests_found import tests_reaching
    from einkorn.port.closure.facts import guards_of, state_of
    from einkorn.port.closure.facts_of_python import python_guards_of, python_state_of
    from einkorn.port.closure.includes import closure_of
    from einkorn.port.closure.of_python import python_closure_of
    from einkorn.port.closure.symbols import device_functions
    from einkorn.port.closure.translation_units import units_of

    functions = [*chain.functions, *chain.kernels]
    result.tests = tests_reaching(cpp, python, chain)
    paths = Paths(cpp, python, chain)
    result.state = python_state_of(paths.scripts)
    result.guards = python_guards_of(paths.scripts)
    if not functions:
        result.closure = python_closure_of(cpp.sources, python, chain.python)
        return
    units = units_of(cpp, paths, chain)
    result.closure = closure_of(cpp, units, functions, list(include_dirs))
    files = [one.path for one in result.closure.files]
    result.state += state_of(cpp, [*functions, *device_functions(cpp, files, functions)])
    result.guards += guards_of(cpp, functions, files)


def _related(gaps: list[Gap], result: Survey) -> list[Gap]:
    """Those of files that have to do with the entry; a tree has many others."""
    files = {one.path for one in result.closure.files}
    files |= {one.file for one in result.call_chain} | {one.file for one in result.registrations}
    files |= {one.file for one in result.tests}
    return [one for one in gaps if not one.file or one.file in files]
