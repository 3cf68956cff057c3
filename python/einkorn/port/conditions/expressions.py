"""Conditions as trees, the same for C++ and Python, so that two of them can be compared.

expressions_parse.py makes them from a syntax tree; what it doesn't know is kept as its text.
"""

import dataclasses
import re
from collections.abc import Callable, Iterator

_COMPARISONS = {"==", "!=", "<", "<=", ">", ">=", "in", "not in"}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_OPPOSITE |= {"in": "not in", "not in": "in"}
# How tightly an operator binds; what binds less gets brackets inside what binds more.
_TIGHTNESS = {"?": 0, "||": 1, "&&": 2, "!": 8, "neg": 8, "~": 8, "deref": 8, "addr": 8}
_TIGHTNESS |= dict.fromkeys(_COMPARISONS, 3)
_TIGHTNESS |= {"|": 4, "^": 4, "&": 4, "<<": 5, ">>": 5, "+": 6, "-": 6}
_TIGHTNESS |= {"*": 7, "/": 7, "//": 7, "%": 7, "**": 9}


@dataclasses.dataclass(frozen=True)
class Expr:
    """`op` is an operator, or name, number, attribute, index, call, keyword, cast, list, other."""

    op: str
    parts: tuple["Expr", ...] = ()
    word: str = ""  # of a name, number, attribute or keyword; a call's template arguments; text

    def __str__(self) -> str:
        return render(self)


def name(word: str) -> Expr:
    """A name, which may be qualified."""
    return Expr("name", (), word)


def attribute(base: Expr, word: str) -> Expr:
    """A member or property of `base`."""
    return Expr("attribute", (base,), word)


def negate(expr: Expr) -> Expr:
    """The opposite condition, without a leading `!` where an operator has an opposite."""
    if expr.op in _OPPOSITE:
        return dataclasses.replace(expr, op=_OPPOSITE[expr.op])
    if expr.op == "!":
        return expr.parts[0]
    if expr.op in ("&&", "||"):
        other = "||" if expr.op == "&&" else "&&"
        return Expr(other, tuple(negate(one) for one in expr.parts))
    return Expr("!", (expr,))


def conjuncts(expr: Expr) -> list[Expr]:
    """What has to hold each on its own."""
    if expr.op != "&&":
        return [expr]
    return [one for part in expr.parts for one in conjuncts(part)]


def applied(expr: Expr) -> Expr:
    """check(x, [](Tensor t) { return t.is_cuda(); }) as x.is_cuda()."""
    parts = tuple(applied(one) for one in expr.parts)
    if expr.op == "call" and len(parts) == 3 and parts[2].op == "lambda":
        return with_name(parts[2].parts[0], parts[2].word, parts[1])
    return dataclasses.replace(expr, parts=parts)


def with_name(expr: Expr, word: str, value: Expr) -> Expr:
    """`expr` with `value` for each use of a name."""
    if expr.op == "name" and expr.word == word:
        return value
    parts = tuple(with_name(one, word, value) for one in expr.parts)
    return dataclasses.replace(expr, parts=parts)


def identifiers(text: str) -> list[str]:
    """The words of a text: T and half of "std::is_same_v<T, half>", with the qualifiers."""
    return re.findall(r"[A-Za-z_]\w*", text)


def walk(expr: Expr) -> Iterator[Expr]:
    """`expr` and all below, in the order of the text."""
    pending = [expr]
    while pending:
        one = pending.pop()
        yield one
        pending.extend(reversed(one.parts))


def render(expr: Expr, python: bool = False) -> str:
    """The expression in its language's spelling."""

    def inside(part: Expr, outer: int) -> str:
        text = render(part, python)
        return f"({text})" if _TIGHTNESS.get(part.op, 10) < outer else text

    op, parts = expr.op, expr.parts
    if op in ("name", "number", "other"):
        return expr.word
    if op == "attribute":
        return f"{inside(parts[0], 10)}.{expr.word}"
    if op == "index":
        return f"{inside(parts[0], 10)}[{', '.join(render(one, python) for one in parts[1:])}]"
    if op == "call":
        template = f"<{expr.word}>" if expr.word else ""
        arguments = ", ".join(render(one, python) for one in parts[1:])
        return f"{inside(parts[0], 10)}{template}({arguments})"
    if op == "keyword":
        return f"{expr.word}={render(parts[0], python)}"
    if op == "cast":
        return f"({expr.word}){inside(parts[0], 8)}"
    if op == "lambda":
        return "[lambda]"
    if op == "list":
        inner = ", ".join(render(one, python) for one in parts)
        return f"({inner})" if python else f"{{{inner}}}"
    return _render_operator(expr, python, inside)


def _render_operator(expr: Expr, python: bool, inside: Callable[[Expr, int], str]) -> str:
    op, parts = expr.op, expr.parts
    tightness = _TIGHTNESS.get(op, 10)
    if len(parts) == 1:
        sign = {"neg": "-", "deref": "*", "addr": "&", "!": "not " if python else "!"}.get(op, op)
        return f"{sign}{inside(parts[0], tightness)}"
    if op == "?" and len(parts) == 3:
        condition, then, other = (inside(one, 1) for one in parts)
        return (
            f"{then} if {condition} else {other}" if python else f"{condition} ? {then} : {other}"
        )
    word = {"&&": "and", "||": "or"}.get(op, op) if python else op
    if python and op in ("==", "!=") and render(parts[-1]) == "None":
        word = "is" if op == "==" else "is not"
    first, *rest = parts
    others = [inside(one, tightness if op in ("&&", "||") else tightness + 1) for one in rest]
    return f" {word} ".join([inside(first, tightness), *others])
