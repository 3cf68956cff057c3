"""Contracts: what the launch path requires of each argument, and what of that no caller is told.

A row's argument is the entry's own name for it where the call chain leads back to one, and the
launcher's parameter otherwise.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from einkorn.port.conditions import canonical
from einkorn.port.conditions.expressions import render, walk
from einkorn.port.conditions.parse import of_text
from einkorn.port.conditions.scopes import Scope
from einkorn.port.contracts.casts import VectorTypes
from einkorn.port.contracts.cpp import is_checker, requirements_of
from einkorn.port.contracts.model import Requirement
from einkorn.port.contracts.paths import Paths, key_of
from einkorn.port.contracts.python import python_requirements_of
from einkorn.port.contracts.rows import belongs, rows_of
from einkorn.port.cpp.index import CppIndex, Function
from einkorn.port.model import Contract, Gap, Side
from einkorn.port.python.index import PyFunction, PythonIndex

if TYPE_CHECKING:
    from einkorn.port.chain.follow import Chain

# Rows, but none that a user runs into: nothing goes wrong in an early return, and what a
# static_assert refuses does not compile.
_HARMLESS = {"early return", "static_assert"}


def contracts_of(cpp: CppIndex, python: PythonIndex, chain: "Chain") -> list[Contract]:
    """All requirements on the launch path, public ones first, each place and condition once."""
    paths = Paths(cpp, python, chain)
    rows: dict[Contract, None] = {}
    for script in paths.scripts:
        side = _side_of_script(script, paths)
        for one in python_requirements_of(script):
            if _is_outcome(one, paths.base_scope(script), chain):
                continue
            for scope in paths.scopes_of(script):
                said = rows_of(one, script, scope, side)
                rows.update((row, None) for row in said if row.normal not in ("true", "True"))
    leading = paths.leading()
    types = VectorTypes(cpp)
    for function in paths.native:
        if is_checker(function):
            continue
        on_path = key_of(function) in leading
        try:
            rows.update((row, None) for row in _native_rows(function, on_path, types, cpp, paths))
        except RecursionError:
            what = f"the requirements of {function.symbol} nest too deeply to be read"
            chain.gaps.append(Gap(what, function.file, function.line))
    return sorted(rows, key=lambda row: (row.side == "launcher", row.file, row.line))


def _is_outcome(requirement: Requirement, scope: Scope, chain: "Chain") -> bool:
    """A check of what the operator returned, such as a status, asks nothing of its arguments."""
    names = [re.findall(r"\w+", one.public_name) for one in chain.registrations]
    registered = {words[-1] for words in names if words}
    for one in walk(requirement.condition):
        held = scope.value_of(one.word, requirement.line) if one.op == "name" else one
        if held is not None and held.op == "call" and held.parts[0].word in registered:
            return True
    return False


def _native_rows(
    function: Function, on_path: bool, types: VectorTypes, cpp: CppIndex, paths: Paths
) -> Iterator[Contract]:
    stated = requirements_of(cpp, types, function, on_path)
    for word, line, value in stated.sizes:
        paths.base_scope(function).define(word, line, value)
    side = _side_of_native(function, paths)
    for one in stated.requirements:
        for scope in paths.scopes_of(function):
            for row in rows_of(one, function, scope, side):
                if belongs(row, one, function, scope, on_path):
                    yield row


def hidden_of(contracts: list[Contract]) -> list[Contract]:
    """The launcher's rows whose requirement no public row states, in their order."""
    public: dict[str, list[Contract]] = {}
    for row in contracts:
        if row.side == "public":
            public.setdefault(row.argument, []).append(row)
    return [
        row
        for row in contracts
        if row.side == "launcher"
        and row.form not in _HARMLESS
        and not _stated(row, public.get(row.argument, []))
    ]


def _stated(wanted: Contract, public: list[Contract]) -> bool:
    """A check that Python makes in some cases only doesn't state what is always asked."""
    known = [
        part
        for row in public
        if not row.when or wanted.when or row.when == f"{row.argument} is not None"
        for part in _requirements(row)
    ]
    return all(any(canonical.states(one, part) for one in known) for part in _requirements(wanted))


def _requirements(row: Contract) -> list[str]:
    normal = row.normal or " && ".join(
        render(one) for one in canonical.requirements(of_text(row.condition))
    )
    return canonical.split(normal)


def _side_of_script(script: PyFunction, paths: Paths) -> Side:
    """A Python function that launches (Triton) is a launcher, unless it is what users call."""
    jitted = any(re.search(r"\bjit\b", one) for one in script.decorators)
    launches = paths.launches_itself(script)
    called = key_of(script) in paths.entries
    return "launcher" if jitted or (launches and not called) else "public"


def _side_of_native(function: Function, paths: Paths) -> Side:
    """Without Python in front, a function that only leads to the launcher is the public one."""
    is_entry = key_of(function) in paths.entries and not function.is_kernel
    if paths.scripts:
        return "launcher"
    return "public" if is_entry and not paths.launches_itself(function) else "launcher"
