"""What the names in a function stand for: parameters, locals given by simple assignments, fields.

A parameter that a caller on the chain fills leads on into the caller's scope, so that a launcher's
`M` is found to be the shape of the public function's `x`.
"""

import dataclasses
from collections.abc import Iterator

from einkorn.port.conditions import expressions
from einkorn.port.conditions.canonical import accessors
from einkorn.port.conditions.expressions import Expr

LONGEST_CHASE = 12  # steps from name to name; longer chains are loops in disguise
_EMPTY = ("empty", "zeros", "ones", "full", "like", "new", "arange")  # makers of fresh tensors
PROPERTY = {
    "rank": "rank",
    "shape": "shape",
    "numel": "shape",
    "dtype": "dtype",
    "stride": "stride",
    "contiguous": "stride",
    "device": "device",
    "cuda": "device",
    "present": "presence",
    "data": "alignment",
}

_FIELDS = {
    "stride": ("stride", "pitch", "leading"),
    "dtype": ("type",),
    "alignment": ("data", "ptr", "pointer"),
    "rank": ("rank", "ndim", "dims"),
    "shape": ("rows", "col", "size", "shape", "len", "count", "width", "height", "numel", "extent"),
}


@dataclasses.dataclass
class Definition:
    line: int
    value: Expr


@dataclasses.dataclass
class Scope:
    """The names of one function as one caller reaches it."""

    parameters: list[str]
    python: bool = False
    definitions: dict[str, list[Definition]] = dataclasses.field(default_factory=dict)
    bound: dict[str, tuple["Scope", Expr]] = dataclasses.field(default_factory=dict)
    template_parameters: list[str] = dataclasses.field(default_factory=list)
    # By name, line and length of the chase: what scope_values found; a copy begins without.
    known: dict[tuple[str, int, int], Expr] = dataclasses.field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def define(self, word: str, line: int, value: Expr) -> None:
        """Notes an assignment; those of one name are kept in the order of the text."""
        self.known.clear()
        self.definitions.setdefault(word, []).append(Definition(line, value))

    def names_of_entry(self) -> set[str]:
        """The parameters of the functions at the upper end of what fills this one's."""
        if not self.bound:
            return set(self.parameters)
        outer = {id(scope): scope for scope, _ in self.bound.values()}
        return {word for scope in outer.values() for word in scope.names_of_entry()}

    def value_of(self, word: str, line: int) -> Expr | None:
        """What a local holds at a line: its last simple assignment before."""
        known = self.definitions.get(word, [])
        before = [one for one in known if one.line <= line] or known[:1]
        return before[-1].value if before else None


@dataclasses.dataclass(frozen=True)
class Atom:
    """One use of an argument in a condition; `distance` counts the locals in between."""

    argument: str
    property: str
    distance: int


def root_argument(expr: Expr, scope: Scope, line: int, chase: int = 0) -> str:
    """The entry's parameter that a value is, or is a view or a member of; "" if none."""
    while chase < LONGEST_CHASE:
        chase += 1
        if expr.op == "name":
            if expr.word in scope.bound and not reassigned(expr.word, scope, line):
                outer, value = scope.bound[expr.word]
                return root_argument(value, outer, 1 << 30, chase) or expr.word
            if expr.word in scope.parameters:
                return expr.word
            inner = scope.value_of(expr.word, line)
            if inner is None or inner == expr:
                return ""
            expr = inner
        elif expr.op == "call" and len(expr.parts) >= 2 and expr.parts[0].op == "name":
            if len(expr.parts) > 2 or any(one in expr.parts[0].word for one in _EMPTY):
                return ""
            expr = expr.parts[1]  # a conversion: from_torch(x), getTensor(x)
        elif expr.op == "?":
            first = root_argument(expr.parts[1], scope, line, chase)
            return first or root_argument(expr.parts[2], scope, line, chase)
        elif expr.op == "attribute" and expr.parts[0].op == "name" and is_field(expr.word):
            return _held_by_field(expr, scope, line, chase)
        elif expr.op == "call" and expr.parts and expr.parts[0].op == "attribute":
            expr = expr.parts[0].parts[0]  # a method: x.view(-1), x.data_ptr()
        elif expr.op == "each" and expr.parts[0].op == "list" and expr.parts[0].parts:
            expr = expr.parts[0].parts[0]
        elif expr.op in ("attribute", "index", "cast", "deref", "addr", "+", "-", "each"):
            expr = expr.parts[0]
        else:
            return ""
    return ""


def is_field(word: str) -> bool:
    """Whether a member is a struct's own, not one that every tensor has."""
    return word not in PROPERTY and word not in ("T", "mT", "H", "value")


def field_of(value: Expr, word: str) -> Expr | None:
    """What {rows = n, ...} has under a field's name."""
    fields = (one for one in value.parts if one.op == "keyword" and one.word == word)
    return next((one.parts[0] for one in fields), None) if value.op == "list" else None


def _held_by_field(expr: Expr, scope: Scope, line: int, chase: int) -> str:
    """What a struct's field holds, where it is known; the field of a parameter else."""
    base, word = expr.parts[0].word, expr.word
    inner = scope.value_of(f"{base}.{word}", line)
    if inner is not None:
        return root_argument(inner, scope, line, chase)
    if base in scope.bound and not reassigned(base, scope, line):
        outer, value = scope.bound[base]
        if (field := field_of(value, word)) is not None:
            return root_argument(field, outer, 1 << 30, chase)
        if value.op in ("name", "addr", "deref"):
            held = expressions.attribute(accessors(value), word)
            return root_argument(held, outer, 1 << 30, chase) or f"{base}.{word}"
        return root_argument(value, outer, 1 << 30, chase) or f"{base}.{word}"
    if base in scope.parameters:
        return f"{base}.{word}"
    local = scope.value_of(base, line)
    if local is None or local.op == "list" or local.word == base:
        return ""
    return root_argument(expressions.attribute(accessors(local), word), scope, line, chase)


def is_fresh(expr: Expr, scope: Scope, line: int) -> bool:
    """Whether a value is a tensor that the function has made itself."""
    for _ in range(LONGEST_CHASE):
        if expr.op == "name":
            inner = None if expr.word in scope.parameters else scope.value_of(expr.word, line)
            if inner is None or inner == expr:
                return False
            expr = inner
        elif expr.op == "call":
            return any(one in expr.parts[0].word.rsplit("::", 1)[-1] for one in _EMPTY)
        else:
            return False
    return False


def reassigned(word: str, scope: Scope, line: int) -> bool:
    """Not a parameter any more: a local of the same name hides it."""
    return word not in scope.parameters and scope.value_of(word, line) is not None


def atoms(expr: Expr, scope: Scope, line: int) -> list[Atom]:
    """The arguments that a condition speaks of, in its order."""
    return list(_atoms(accessors(expr), scope, line, 0, 0))


def _atoms(expr: Expr, scope: Scope, line: int, distance: int, chase: int) -> Iterator[Atom]:
    if chase > LONGEST_CHASE:
        return
    if expr.op == "attribute" and expr.word in PROPERTY:
        argument = root_argument(expr.parts[0], scope, line, chase)
        if argument:
            yield Atom(argument, PROPERTY[expr.word], distance)
        if argument or is_fresh(expr.parts[0], scope, line):
            return
    if expr.op == "attribute" and expr.parts[0].op == "name":
        yield from _field(expr, scope, line, distance, chase)
        return
    if expr.op == "name":
        yield from _name(expr.word, scope, line, distance, chase)
        return
    parts = expr.parts[1:] if expr.op == "call" and expr.parts[0].op == "name" else expr.parts
    for part in parts:
        yield from _atoms(part, scope, line, distance, chase + (expr.op == "each"))
    if expr.op == "call" and expr.word:
        yield from _template(expr.word, scope, distance)


def _field(expr: Expr, scope: Scope, line: int, distance: int, chase: int) -> Iterator[Atom]:
    """params.d: what was put in, where that is known; the field itself else."""
    base, word = expr.parts[0].word, expr.word
    inner = scope.value_of(f"{base}.{word}", line)
    if inner is not None:
        yield from _atoms(accessors(inner), scope, line, distance + 1, chase + 1)
        return
    if base in scope.bound:
        outer, value = scope.bound[base]
        found: list[Atom] = []
        if (held_field := field_of(value, word)) is not None:
            yield from _atoms(accessors(held_field), outer, 1 << 30, distance, chase + 1)
            return
        if value.op in ("name", "addr", "deref"):
            held = accessors(expressions.attribute(accessors(value), word))
            found = list(_atoms(held, outer, 1 << 30, distance, chase + 1))
        elif argument := root_argument(value, outer, 1 << 30, chase + 1):
            # A view of the tensor, made by a conversion: its fields are named after what they hold.
            found = [Atom(argument, _property_of_field(word), distance)]
        yield from found or [Atom(f"{base}.{word}", "value", distance)]
    elif base in scope.parameters:
        yield Atom(f"{base}.{word}", "value", distance)
    elif (local := scope.value_of(base, line)) is not None and local.op != "list":
        yield from _name(base, scope, line, distance, chase)


def _property_of_field(word: str) -> str:
    for said, names in _FIELDS.items():
        if any(one in word.lower() for one in names):
            return said
    return "value"


def _name(word: str, scope: Scope, line: int, distance: int, chase: int) -> Iterator[Atom]:
    if word in scope.bound and not reassigned(word, scope, line):
        outer, value = scope.bound[word]
        found = list(_atoms(accessors(value), outer, 1 << 30, distance, chase + 1))
        yield from found[:1] or [Atom(word, "value", distance)]
    elif word in scope.parameters:
        yield Atom(word, "value", distance)
    elif (inner := scope.value_of(word, line)) is not None and inner.word != word:
        yield from _atoms(accessors(inner), scope, line, distance + 1, chase + 1)
    else:
        yield from _template(word, scope, distance)


def _template(word: str, scope: Scope, distance: int) -> Iterator[Atom]:
    """A template parameter, also inside std::is_same_v<T, half>."""
    words = set(expressions.identifiers(word))
    for one in scope.template_parameters:
        if one in words:
            yield Atom(one, "value", distance)
