"""Conditions in the entry's own names: locals, fields and parameters replaced by what they hold."""

import dataclasses
import itertools
from collections.abc import Iterator

from einkorn.port.conditions import expressions
from einkorn.port.conditions.canonical import accessors
from einkorn.port.conditions.conversions import RESHAPING
from einkorn.port.conditions.expressions import Expr
from einkorn.port.conditions.scopes import (
    LONGEST_CHASE,
    PROPERTY,
    Scope,
    field_of,
    is_field,
    is_fresh,
    reassigned,
    root_argument,
)

_LARGEST = 120  # nodes of an expression with its names put in


def substituted(expr: Expr, scope: Scope, line: int, chase: int = 0) -> Expr:
    """`expr` in the entry's own names, with simple locals put in."""
    whole = _substitute(expr, scope, line, chase)
    nodes = sum(1 for _ in itertools.islice(expressions.walk(whole), _LARGEST + 1))
    return whole if nodes <= _LARGEST else expr


def _substitute(expr: Expr, scope: Scope, line: int, chase: int) -> Expr:
    if expr.op != "name":
        return _substitute_new(expr, scope, line, chase)
    key = (expr.word, line, chase)  # locals set from locals would take exponential time
    if key not in scope.known:
        scope.known[key] = _substitute_new(expr, scope, line, chase)
    return scope.known[key]


def _substitute_new(expr: Expr, scope: Scope, line: int, chase: int) -> Expr:
    if chase > LONGEST_CHASE:
        return expr
    if expr.op == "name":
        if expr.word in scope.bound and not reassigned(expr.word, scope, line):
            outer, value = scope.bound[expr.word]
            if is_fresh(value, outer, 1 << 30):  # the caller's own tensor has no public name
                return expr
            if value.op == "name":
                return substituted(value, outer, 1 << 30, chase + 1)
            root = root_argument(value, outer, 1 << 30)
            converted = value.op in ("call", "name", "deref", "addr", "attribute", "cast")
            if root and _reshapes(value):
                return substituted(value, outer, 1 << 30, chase + 1)
            if root and converted and not _is_property(value):
                plain = accessors(value)
                if plain.op == "attribute" and plain.word == "data":  # the address is passed on
                    return expressions.attribute(expressions.name(root), "data")
                return expressions.name(root)
            return substituted(value, outer, 1 << 30, chase + 1) if root or _plain(value) else expr
        if expr.word in scope.parameters:
            return expr
        inner = scope.value_of(expr.word, line)
        if inner is None or inner == expr or inner.op == "other":
            return expr
        if inner.op == "list":
            return expr
        if inner.op == "each":
            source = accessors(inner.parts[0])
            if source.op == "attribute":  # for (auto extent : x.sizes())
                return substituted(source, scope, line, chase + 1)
            return expressions.name(root_argument(inner, scope, line) or expr.word)
        return substituted(inner, scope, line, chase + 1)
    if expr.op == "attribute" and expr.parts[0].op == "name":
        inner = scope.value_of(f"{expr.parts[0].word}.{expr.word}", line)
        if inner is not None:
            return substituted(inner, scope, line, chase + 1)
        if expr.parts[0].word in scope.bound and is_field(expr.word):
            outer, value = scope.bound[expr.parts[0].word]
            if is_fresh(value, outer, 1 << 30):
                return expr
            if (field := field_of(value, expr.word)) is not None:
                return substituted(field, outer, 1 << 30, chase + 1)
            if value.op in ("name", "addr", "deref"):
                held = expressions.attribute(accessors(value), expr.word)
                return substituted(held, outer, 1 << 30, chase + 1)
    parts = tuple(_substitute(one, scope, line, chase) for one in expr.parts)
    return dataclasses.replace(expr, parts=parts)


def _reshapes(expr: Expr) -> bool:
    """Whether a value is a tensor in another form, such as x.view(-1)."""
    return any(
        one.op == "call" and one.parts[0].op == "attribute" and one.parts[0].word in RESHAPING
        for one in _spine(expr)
    )


def _is_property(expr: Expr) -> bool:
    tensor = {"data", "present"}  # an address or an optional is passed for the tensor itself
    return any(
        one.op == "attribute" and one.word in PROPERTY and one.word not in tensor
        for one in _spine(accessors(expr))
    )


def _spine(expr: Expr) -> Iterator[Expr]:
    while True:
        yield expr
        if not expr.parts or expr.op not in ("attribute", "index", "call", "cast"):
            return
        expr = expr.parts[0]


def _plain(expr: Expr) -> bool:
    return expr.op in ("number", "name")
