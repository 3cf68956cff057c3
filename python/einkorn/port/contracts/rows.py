"""Rows of contracts: which argument a requirement is about, which property, in whose names."""

import dataclasses
import re
from collections.abc import Iterator

from einkorn.port.conditions import canonical, scopes
from einkorn.port.conditions.expressions import Expr, conjuncts, render, walk
from einkorn.port.conditions.scope_values import substituted
from einkorn.port.conditions.scopes import Atom, Scope
from einkorn.port.contracts.macros import is_status
from einkorn.port.contracts.model import Requirement
from einkorn.port.contracts.paths import Code
from einkorn.port.cpp.index import Function
from einkorn.port.model import Contract, Side

# Of several uses of the argument in one condition, what it is about; the first wins.
_ORDER = ("alignment", "dtype", "rank", "stride", "device", "shape", "value", "presence")
_ARCHITECTURE = re.compile(
    r"capability|__CUDA_ARCH__|\bmajor\b|\bminor\b|is_sm\d|\bsm_?version\b|\bcc_m|\barch\b|[Aa]rch\("
)
_DTYPE_TRAIT = re.compile(r"is_same|is_type|isTypeMatch|sizeof|is_floating|is_integral")


def rows_of(
    requirement: Requirement, function: Code, scope: Scope, side: Side
) -> Iterator[Contract]:
    """The rows that one statement gives where `scope` is how the chain reaches it."""
    for part in _split(requirement, scope):
        if not _about_own_tensor(part, scope):
            yield _row(part, function, scope, side)


def belongs(
    row: Contract, requirement: Requirement, function: Function, scope: Scope, on_path: bool
) -> bool:
    """Rows of helpers and trivial ones are left out where they say nothing of an argument."""
    if row.normal in ("true", "1") or is_status(row.condition):
        return False
    if requirement.form in ("cast", "vector load", "early return") and not row.argument:
        return False
    return _sees_arguments(function, on_path, row, scope)


def _sees_arguments(function: Function, on_path: bool, row: Contract, scope: Scope) -> bool:
    """Whether what the function checks is about the entry's arguments, not its own inner values."""
    if function.is_kernel or (on_path and not function.is_device):
        return True
    return row.argument.partition(".")[0] in scope.names_of_entry() and bool(scope.bound)


def _about_own_tensor(requirement: Requirement, scope: Scope) -> bool:
    """A check of what the function has just allocated asks nothing of a caller."""
    condition = canonical.accessors(requirement.condition)
    bases = [one.parts[0] for one in walk(condition) if one.op == "attribute" and one.parts]
    return bool(bases) and scopes.is_fresh(bases[0], scope, requirement.line)


def _split(requirement: Requirement, scope: Scope) -> list[Requirement]:
    """One for each argument and property that a condition joined by `and` speaks of."""
    parts = conjuncts(requirement.condition)
    if len(parts) == 1:
        return [requirement]
    groups: dict[tuple[str, str], Expr] = {}
    for part in parts:
        alone = dataclasses.replace(requirement, condition=part)
        found = _about(alone, scope)
        argument = found[0].argument if found else ""
        key = (argument, _property(alone, argument, found))
        groups[key] = Expr("&&", (groups[key], part)) if key in groups else part
    return [dataclasses.replace(requirement, condition=one) for one in groups.values()]


def _row(requirement: Requirement, function: Code, scope: Scope, side: Side) -> Contract:
    found = _about(requirement, scope)
    argument = found[0].argument if found else ""
    whole = substituted(requirement.condition, scope, requirement.line)
    parts = [
        f"({render(one)})" if one.op == "||" else render(one)
        for one in canonical.requirements(_with_address(whole))
    ]
    normal = " && ".join(one for one in parts if not _is_trivial(one)) or "true"
    return Contract(
        argument=argument,
        property=_property(requirement, argument, found),
        condition=requirement.text,
        file=function.file,
        line=requirement.line,
        side=side,
        form=requirement.form,
        when=requirement.when,
        normal=normal,
    )


def _is_trivial(normal: str) -> bool:
    left, equals, right = normal.partition(" == ")
    return bool(equals) and left == right


def _with_address(expr: Expr) -> Expr:
    """address(x) of a cast is what a check of x.data_ptr() looks at."""
    parts = tuple(_with_address(one) for one in expr.parts)
    if expr.op == "call" and parts[0].word == "address" and len(parts) == 2:
        inner = canonical.accessors(parts[1])
        plain = inner.op == "attribute" and inner.word == "data"
        return inner if plain else Expr("attribute", (inner,), "data")
    return Expr(expr.op, parts, expr.word)


def _about(requirement: Requirement, scope: Scope) -> list[Atom]:
    """The uses of arguments in a condition, the one that it is about first.

    What is named directly goes before what a local leads to: in `K == w.size(1)`, with K the last
    extent of x, it is w that has to fit.
    """
    condition = requirement.condition
    if requirement.about == "alignment":
        address = next(
            (one for one in walk(condition) if one.op == "call" and one.parts[0].word == "address"),
            None,
        )
        pointer = address.parts[1] if address is not None else condition
        argument = scopes.root_argument(pointer, scope, requirement.line)
        return [Atom(argument, "alignment", 0)] if argument else []
    found = scopes.atoms(condition, scope, requirement.line)
    return sorted(found, key=lambda one: one.distance > 0)


def _property(requirement: Requirement, argument: str, found: list[Atom]) -> str:
    if requirement.about:
        return requirement.about
    text = requirement.text
    if not argument or all(one.property == "value" for one in found):
        if _ARCHITECTURE.search(text):
            return "architecture"
        if _DTYPE_TRAIT.search(text):
            return "dtype"
    said = {one.property for one in found if one.argument == argument}
    if "alignment" in said and "%" not in text:
        said = (said - {"alignment"}) | {"presence"}  # compared with a null pointer
    return next((one for one in _ORDER if one in said), "value")
