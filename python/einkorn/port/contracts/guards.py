"""Under which conditions a statement of C++ is reached, and whether it is compiled in at all."""

import dataclasses
import re
from collections.abc import Iterator

from einkorn.port.conditions.expressions import Expr, negate, render
from einkorn.port.conditions.parse import from_cpp
from einkorn.port.sources.syntax import Node, text_of

_DEBUG = re.compile(r"\bNDEBUG\b|\b_?DEBUG\b|\b\w+_DEBUG\b")


@dataclasses.dataclass(frozen=True)
class Guard:
    condition: Expr  # holds where the statement is reached
    statement: Node  # the if or the case
    otherwise: bool  # reached by its else


def guards_of(node: Node, function: Node) -> list[Guard]:
    """The conditions around `node` in `function`, innermost first."""
    found: list[Guard] = []
    for inner, outer in _upwards(node, function):
        if outer.type == "if_statement":
            condition = outer.child_by_field_name("condition")
            if condition is None or _same(inner, condition):
                continue
            held, otherwise = _condition(condition), inner.type == "else_clause"
            found.append(Guard(negate(held) if otherwise else held, outer, otherwise))
        elif outer.type == "case_statement":
            guard = _case(outer)
            if guard is not None:
                found.append(guard)
    return found


def _upwards(node: Node, function: Node) -> Iterator[tuple[Node, Node]]:
    inner, outer = node, node.parent
    while outer is not None and not _same(inner, function):
        yield inner, outer
        inner, outer = outer, outer.parent


def _same(one: Node, other: Node) -> bool:
    return one.start_byte == other.start_byte and one.end_byte == other.end_byte


def _condition(clause: Node) -> Expr:
    value = clause.child_by_field_name("value")  # if (init; value)
    return from_cpp(value if value is not None else clause)


def _case(case: Node) -> Guard | None:
    """case V: means subject == V; default: that no other case's value is the subject's."""
    switch = case.parent.parent if case.parent is not None else None
    subject = switch.child_by_field_name("condition") if switch is not None else None
    if subject is None or case.parent is None:
        return None
    value = case.child_by_field_name("value")
    if value is not None:
        return Guard(Expr("==", (_condition(subject), from_cpp(value))), case, False)
    values = [one.child_by_field_name("value") for one in case.parent.children]
    listed = Expr("list", tuple(from_cpp(one) for one in values if one is not None))
    return Guard(Expr("not in", (_condition(subject), listed)), case, True)


def innermost(guards: list[Guard]) -> tuple[Expr | None, list[Guard]]:
    """The condition of the branch that a statement ends, and the guards around that branch.

    Of the last else of an else-if chain, the whole chain.
    """
    if not guards:
        return None, []
    chosen, rest = [guards[0]], guards[1:]
    while (
        chosen[-1].otherwise
        and rest
        and rest[0].otherwise
        and _continues(chosen[-1].statement, rest[0].statement)
    ):
        chosen.append(rest.pop(0))
    conditions = [one.condition for one in reversed(chosen)]
    whole = conditions[0]
    for one in conditions[1:]:
        whole = Expr("&&", (whole, one))
    return whole, rest


def _continues(inner: Node, outer: Node) -> bool:
    """Whether `inner` is the `else if` right behind `outer`."""
    clause = inner.parent
    return (
        clause is not None
        and clause.type == "else_clause"
        and clause.parent is not None
        and _same(clause.parent, outer)
    )


def when(guards: list[Guard]) -> str:
    """The guards in one text, outermost first."""
    texts = [render(one.condition) for one in reversed(guards)]
    return " && ".join(f"({one})" if "||" in one else one for one in texts)


def is_live(node: Node, is_assert: bool) -> bool:
    """Whether a release build has the statement; an assert counts where NDEBUG isn't asked."""
    inner, outer = node, node.parent
    while outer is not None:
        if outer.type in ("preproc_ifdef", "preproc_if", "preproc_elif"):
            alternative = outer.child_by_field_name("alternative")
            otherwise = alternative is not None and _same(alternative, inner)
            if not _branch_is_live(outer, otherwise, is_assert):
                return False
        inner, outer = outer, outer.parent
    return True


def _branch_is_live(directive: Node, otherwise: bool, is_assert: bool) -> bool:
    asked = directive.child_by_field_name("name") or directive.child_by_field_name("condition")
    text = text_of(asked) if asked is not None else ""
    if text in ("0", "false"):
        return otherwise
    if not _DEBUG.search(text):
        return True
    wants = directive.children[0].type != "#ifndef" and "!" not in text
    release = wants == ("NDEBUG" in text)  # the first branch is that of a release build
    if otherwise == release:
        return False  # only debug builds have it
    return not (is_assert and "NDEBUG" in text)
