"""The rows of an op's contract: each check that its `match` and `parse` make, with the error that a
call meets which does not pass it.

The checks are read from the source, not run: EK_CHECK and throw_error with their messages, matchers
with the rules that they are given, and check_overlap. Helpers are followed with the names that they
are called with, so that a helper's one check gives a row for each argument that it is called for.
"""

import dataclasses
import re

from einkorn.port.sources.syntax import Node, line_of, raw_text_of, walk
from einkorn.port.verify.model import OpFolder, Tree
from einkorn.port.verify.names import Names, Sources, bound
from einkorn.port.verify.syntax import (
    chain_of,
    declared_name,
    message_pattern,
    methods,
    parts_of,
    plain,
    string_of,
)

_DEPTH = 10
_ANY = r"[\w.]+"

# Of a matcher's rules: what they check, and how the message goes on behind the argument's name.
_CONTIGUOUS = (
    r" strides?(?: of (?:the last|dim) \d+(?: dims)?)?: (?!.*(?:own memory|one row stride))"
)
_RULES = {
    "shape": ("shape", r" (?:rank|dim \d+): "),
    "dtype": ("dtype", r" dtype: "),
    "on": ("device", r" device: "),
    "contiguous": ("layout", _CONTIGUOUS),
    "last_contiguous": ("layout", _CONTIGUOUS),
    "strides": ("layout", _CONTIGUOUS),
    "collapsible_rows": (
        "rows of one stride",
        r" strides: expected leading dimensions .* that one row stride",
    ),
    "writable": ("memory of its own", r" strides: expected elements that each"),
    "aligned": ("alignment", r" (?:data|stride of dim \d+): "),
}


@dataclasses.dataclass(frozen=True)
class ContractRow:
    argument: str
    what: str  # of it is checked
    file: str
    line: int
    pattern: str  # of the error's message, up to what came

    @property
    def title(self) -> str:
        return " ".join(filter(None, (self.argument, self.what)))


@dataclasses.dataclass(frozen=True)
class _Place:
    """The function that is read: what its checks are the checks of."""

    file: str
    function: Node
    depth: int
    lambdas: dict[str, Node]


class _Reader:
    def __init__(self, tree: Tree, op: OpFolder) -> None:
        self.op = op.op
        declared = tree.declared(op)
        self.outputs = {one.name for one in declared if one.role in ("output", "inout")}
        # What may be left out is not asked for.
        self.optional = {one.name for one in declared if one.optional and not one.alternative}
        self.groups = {one.name: one.alternative for one in declared}
        self.bound: set[int] = set()  # alternatives whose first tensor was met
        self.known = tree.names(op)
        self.sources = Sources(tree, op, sources_of(tree, op))
        self.rows: dict[tuple[str, str, str], ContractRow] = {}
        self.seen: set[tuple[int, str, tuple[tuple[str, str], ...]]] = set()

    def add(self, argument: str, what: str, file: str, node: Node, pattern: str) -> None:
        row = ContractRow(argument, what, file, line_of(node), pattern)
        self.rows.setdefault((argument, what, pattern), row)

    # The walk through a function.

    def read(self, function: Node, names: Names, place: _Place) -> None:
        """A function or lambda, with what is known of its parameters."""
        met = (function.id, place.file, tuple(sorted(names.items())))
        body = function.child_by_field_name("body")
        if body is None or met in self.seen or place.depth > _DEPTH:
            return
        self.seen.add(met)
        self.statements(body.children, dict(names), place)

    def statements(self, nodes: list[Node], names: Names, place: _Place) -> None:
        for one in nodes:
            if one.type == "for_range_loop":
                self.loop(one, names, place)
                continue
            if one.type == "lambda_expression":
                continue  # read where it is called
            if one.type == "declaration":
                self.declaration(one, names, place)
            if one.type == "call_expression":
                self.call(one, names, place)
            inner = dict(names) if one.type == "compound_statement" else names
            self.statements(one.children, inner, place)

    def loop(self, node: Node, names: Names, place: _Place) -> None:
        over, body = node.child_by_field_name("right"), node.child_by_field_name("body")
        declarator = node.child_by_field_name("declarator")
        if body is None or over is None or declarator is None:
            return
        variables = [raw_text_of(one) for one in walk(declarator, {"identifier"})]
        listed = next(walk(over, {"initializer_list"}), None)
        elements: list[Node | None] = [*listed.named_children] if listed is not None else [None]
        for element in elements:
            value = self.sources.resolve(element, names)
            known = dict.fromkeys(variables, value) if value is not None else {}
            self.statements([body], {**names, **known}, place)

    def declaration(self, node: Node, names: Names, place: _Place) -> None:
        kind = raw_text_of(node.child_by_field_name("type") or node)
        for one in node.children:
            if one.type not in ("init_declarator", "function_declarator"):
                continue
            name = one.child_by_field_name("declarator")
            given = one.child_by_field_name("value") or one.child_by_field_name("parameters")
            if name is None or given is None:
                continue
            variable = raw_text_of(name).lstrip("&* ")
            if given.type == "lambda_expression":
                place.lambdas[variable] = given
            elif kind.endswith("ArgumentMatcher"):
                values = [self.sources.resolve(plain(part), names) for part in parts_of(given)]
                self.matcher(values, methods(place.function), place.file, node)
            else:
                self.sources.declare(variable, kind, given, names)

    def call(self, node: Node, names: Names, place: _Place) -> None:
        """The rows of one call, but for those of calls among its arguments."""
        callee, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if callee is None or given is None:
            return
        text = re.sub(r"<.*>$", "", raw_text_of(callee), flags=re.DOTALL)
        arguments = parts_of(given)
        name = text.rsplit("::", 1)[-1]
        if name in ("EK_CHECK", "throw_error"):
            self.message(arguments[-1] if arguments else None, names, place.file, node)
            return
        values = [self.sources.resolve(one, names) for one in arguments]
        if name == "check_overlap" and len(values) >= 5:
            self.overlap(values, place.file, node)
        elif name == "match" and len(values) == 3:
            chain = chain_of(node)
            rules = chain if "verify" in chain else methods(place.function)
            self.matcher(values, rules, place.file, node)
        elif text in place.lambdas:
            function = place.lambdas[text]
            inner = _Place(place.file, function, place.depth + 1, dict(place.lambdas))
            self.read(function, {**names, **bound(function, values)}, inner)
        else:
            self.follow(text, callee, values, names, place)

    def follow(
        self, text: str, callee: Node, values: list[str | None], names: Names, place: _Place
    ) -> None:
        """The functions that a call means, with its arguments and, of a member, its object."""
        owner: Names = {}
        if callee.type == "field_expression":
            node = callee.child_by_field_name("argument")
            held = raw_text_of(node) + "." if node is not None else "."
            owner = {k.removeprefix(held): v for k, v in names.items() if k.startswith(held)}
            if node is not None and not owner:
                owner = self.sources.object_of(node, names)
            if not owner:
                return  # a member of what has no names: of a tensor, of a list
        for file, function in self.sources.called(text, len(values)):
            inner = _Place(file, function, place.depth + 1, {})
            self.read(function, {**owner, **bound(function, values)}, inner)

    # Rows.

    def matcher(self, values: list[str | None], rules: set[str], file: str, node: Node) -> None:
        if len(values) < 2:
            return
        who, argument = values[0] or self.op, values[1]
        head = f"{re.escape(who)}: {re.escape(argument) if argument else _ANY}"
        shown = argument or "an argument"
        if "optional" not in rules and argument not in self.optional:
            self.add(shown, "presence", file, node, f"{head}: expected a tensor")
        found = {_RULES[rule] for rule in sorted(rules) if rule in _RULES}
        for what, pattern in sorted(found):
            if what == "memory of its own" and (
                argument not in self.outputs or "contiguous" in rules
            ):
                continue  # a helper's rule for outputs, met with an input; or one that is implied
            if what == "device" and self.binds_device(argument):
                continue
            self.add(shown, what, file, node, head + pattern)

    def binds_device(self, argument: str | None) -> bool:
        """Whether the argument is the first of a call: the others have to be where it is, so that
        no device is wrong for it.
        """
        group = self.groups.get(argument or "", 0)
        if self.bound and (group == 0 or group in self.bound or 0 in self.bound):
            return False
        self.bound.add(group)
        return True

    def overlap(self, values: list[str | None], file: str, node: Node) -> None:
        who, output, other = values[0] or self.op, values[1], values[3]
        name, beside = (re.escape(one) if one else _ANY for one in (output, other))
        pattern = f"{re.escape(who)}: {name} memory: expected memory apart from {beside}(?!\\w)"
        what = f"overlap with {other or 'another'}"
        self.add(output or "an output", what, file, node, pattern)

    def message(self, node: Node | None, names: Names, file: str, at: Node) -> None:
        """A row for a message, by its text up to what came."""
        if node is None:
            return
        arguments = [node]
        if node.type == "call_expression":
            given = node.child_by_field_name("arguments")
            arguments = parts_of(given) if given is not None else []
        text = string_of(arguments[0]) if arguments else None
        if not text:
            return
        values = [self.sources.resolve(one, names) for one in arguments[1:]]
        pattern, shown = message_pattern(text.split("\n")[0].split(", got")[0], values)
        about, _, expected = shown.partition(": expected ")
        argument = about.split(": ", 1)[-1]
        word = argument.split(" ")[0]
        if self.known and re.fullmatch(r"[a-z]\w*", word) and word not in self.known:
            return  # of a helper's checks, that of a key or argument which this op does not have
        self.add(argument, f"(expected {expected})" if expected else "", file, at, pattern)


def sources_of(tree: Tree, op: OpFolder) -> list[str]:
    """contract.cc, and the op's own and shared helpers that it includes, with their sources. Other
    ops' contracts have rows of their own.
    """
    pending, out = [f"{op.path}/contract.cc"], []
    while pending:
        file = pending.pop(0)
        if file in out or not tree.has(file):
            continue
        out.append(file)
        for found in re.findall(r'^\s*#\s*include\s+"(ops/[\w/]+)\.h"', tree.text(file), re.M):
            if found.endswith("/contract") and found != f"{op.path}/contract":
                continue
            pending += [f"{found}.h", f"{found}.cc"]
    return out


def rows_of_contract(tree: Tree, op: OpFolder) -> list[ContractRow]:
    """In the order of reading: what match checks, then what parse does."""
    reader = _Reader(tree, op)
    type_name = tree.type_of(op)
    for entry in ("match", "parse"):
        for file, function in reader.sources.functions.get(entry, []):
            if declared_name(function) == f"{type_name}::{entry}":
                reader.read(function, {}, _Place(file, function, 0, {}))
    return list(reader.rows.values())
