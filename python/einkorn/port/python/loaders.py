"""Which sources went into a native module that Python calls, where a loader returned it."""

import re
from collections.abc import Iterator

from einkorn.port.python.index import PyFunction, string_of
from einkorn.port.python.names import PythonNames
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

# The path may follow an expression: f"{folder}/rope.cu". A name that begins with one is not told.
_SOURCE = re.compile(r"(?:^|(?<=[/\s]))([\w.+-][\w./+-]*\.(?:cu|cuh|cpp|cc|cxx|c))$")
_DEEPEST = 12  # of values that come from values; a generator of generators needs about 5
_MOST_VALUES = 400
_INNER = {"function_definition", "class_definition", "lambda"}


class LoadedSources:
    """Follows a value back through assignments and returns to the sources that are named there."""

    def __init__(self, names: PythonNames) -> None:
        self._names = names
        self._kept: dict[str, dict[str, list[tuple[Node, PyFunction | None]]]] = {}

    def of(self, node: Node, file: str, function: PyFunction | None) -> frozenset[str]:
        """The ends of paths, as written in what makes the value of `node`."""
        found: set[str] = set()
        pending = [(node, file, function, 0)]
        seen: set[tuple[str, int, int]] = set()
        while pending and len(seen) < _MOST_VALUES:
            value, where, inside, depth = pending.pop()
            key = (where, value.start_byte, value.end_byte)
            if key in seen or depth > _DEEPEST:
                continue
            seen.add(key)
            found.update(_literals(value))
            for one in syntax.walk(value, {"call", "identifier", "attribute"}, _INNER):
                for made, its_file, its_function in self._behind(one, where, inside, found):
                    pending.append((made, its_file, its_function, depth + 1))
        return frozenset(found)

    def _behind(
        self, node: Node, file: str, function: PyFunction | None, found: set[str]
    ) -> Iterator[tuple[Node, str, PyFunction | None]]:
        """The values that a part of an expression comes from."""
        if node.type == "call":
            for target in self._names.callee(node, file, function):
                if (called := target.function) is None:
                    continue
                found.update(_literals(called.node))
                for returned in syntax.walk(called.node, {"return_statement"}, _INNER):
                    for value in returned.named_children:
                        yield value, called.file, called
            return
        name = syntax.text_of(node)
        if node.type == "attribute" and not name.startswith("self."):
            return
        scope = function
        while scope is not None:
            for value in self._names.assigned_in(scope).get(name, []):
                yield value, file, scope
            scope = self._names.around(scope)
        for value in self._names.index.module(file).assigned.get(name, []):
            yield value, file, None
        for value, inside in self._kept_in(file).get(name, []):
            yield value, file, inside

    def _kept_in(self, file: str) -> dict[str, list[tuple[Node, PyFunction | None]]]:
        """Of a file: what is put under keys of a name, into a field, or into a global name."""
        if file in self._kept:
            return self._kept[file]
        kept = self._kept[file] = {}
        for function in self._names.index.functions_in(file):
            named = {
                syntax.text_of(one)
                for node in syntax.walk(function.node, {"global_statement"}, _INNER)
                for one in node.named_children
            }
            for node in syntax.walk(function.node, {"assignment", "call"}, _INNER):
                for name, value in _put(node, named):
                    kept.setdefault(name, []).append((value, function))
        return kept


def _put(node: Node, named: set[str]) -> Iterator[tuple[str, Node]]:
    if node.type == "call":  # modules.setdefault(key, value)
        callee, arguments = syntax.child(node, "function"), syntax.child(node, "arguments")
        owner = syntax.child(callee, "object") if callee is not None else None
        given = arguments.named_children if arguments is not None else []
        word = syntax.text_of(callee) if callee is not None else ""
        if owner is not None and len(given) == 2 and word.endswith(".setdefault"):
            yield syntax.text_of(owner), given[1]
        return
    left, right = syntax.child(node, "left"), syntax.child(node, "right")
    if left is None or right is None:
        return
    written = syntax.text_of(left)
    if left.type == "subscript" and (owner := syntax.child(left, "value")) is not None:
        yield syntax.text_of(owner), right
    elif written in named or written.startswith("self."):
        yield written, right


def _literals(node: Node) -> Iterator[str]:
    """The sources named in a text, those of its documentation left out."""
    for one in syntax.walk(node, {"string"}, {"string"}):
        if one.parent is not None and one.parent.type == "expression_statement":
            continue
        if match := _SOURCE.search((string_of(one) or "").strip()):
            yield match[1].lstrip("./")
