"""What a Python function requires: assert, if ...: raise, torch._check, tl.static_assert."""

import functools
from collections.abc import Iterator

from einkorn.port.conditions.expressions import Expr, negate, render
from einkorn.port.conditions.parse import from_python
from einkorn.port.contracts.model import Requirement
from einkorn.port.python.index import PyFunction
from einkorn.port.sources.syntax import Node, line_of, text_of, walk

_CHECKS = ("torch._check", "tl.static_assert", "tl.device_assert", "triton.language.static_assert")
_INNER = frozenset({"function_definition", "class_definition"})


def python_requirements_of(function: PyFunction) -> list[Requirement]:
    """In the order of the text; those of functions defined inside are not its own."""
    found: list[Requirement] = []
    body = function.node.child_by_field_name("body")
    if body is None:
        return []
    for node in walk(body, {"assert_statement", "raise_statement", "call"}, _INNER):
        if node.type == "assert_statement":
            values = [one for one in node.children if one.is_named]
            if values:
                found.append(_checked(from_python(values[0]), "assert", node, body))
        elif node.type == "raise_statement":
            found += _raised(node, body)
        else:
            callee, arguments = (node.child_by_field_name(one) for one in ("function", "arguments"))
            word = text_of(callee) if callee is not None else ""
            values = [one for one in arguments.children if one.is_named] if arguments else []
            if word.startswith(_CHECKS) and values:
                found.append(_checked(from_python(values[0]), word, node, body))
    return found


def _checked(condition: Expr, form: str, node: Node, body: Node) -> Requirement:
    """`assert False` requires that its branch isn't taken."""
    around = list(_guards(node, body))
    if condition.word in ("False", "0") and around:
        return _requirement(negate(around[0]), form, node, around[1:])
    return _requirement(condition, form, node, around)


def _requirement(condition: Expr, form: str, node: Node, around: list[Expr]) -> Requirement:
    when = " and ".join(
        f"({text})" if one.op == "||" else text
        for one in reversed(around)
        for text in [render(one, python=True)]
    )
    return Requirement(condition, form, line_of(node), when, python=True)


def _raised(node: Node, body: Node) -> Iterator[Requirement]:
    around = list(_guards(node, body))
    outer, handled = node.parent, False
    while outer is not None and outer != body:
        handled = handled or outer.type == "except_clause"
        outer = outer.parent
    if around and not handled and any(one.is_named for one in node.children):
        yield _requirement(negate(around[0]), "raise", node, around[1:])


def _guards(node: Node, body: Node) -> Iterator[Expr]:
    """The conditions around `node`, innermost first; of an else, that none before it held."""
    inner, outer = node, node.parent
    while outer is not None and inner != body:
        if outer.type in ("if_statement", "elif_clause"):
            condition = outer.child_by_field_name("condition")
            consequence = outer.child_by_field_name("consequence")
            if condition is not None and consequence is not None and inner == consequence:
                yield from_python(condition)
                if outer.type == "elif_clause":
                    yield from _not_before(outer)
        elif outer.type == "else_clause" and _of_if(outer):
            before = list(_not_before(outer))
            if before:
                yield functools.reduce(lambda all_of, one: Expr("&&", (all_of, one)), before[::-1])
        inner, outer = outer, outer.parent


def _of_if(clause: Node) -> bool:
    return clause.parent is not None and clause.parent.type == "if_statement"


def _not_before(clause: Node) -> Iterator[Expr]:
    """The opposites of the conditions ahead of an elif or else, nearest first."""
    statement = clause.parent
    if statement is None:
        return
    ahead = [statement.child_by_field_name("condition")]
    for one in statement.children_by_field_name("alternative"):
        if one == clause:
            break
        ahead.append(one.child_by_field_name("condition"))
    for condition in reversed(ahead):
        if condition is not None:
            yield negate(from_python(condition))
