"""Numbers that C++ sources give names to: constexpr int kWidth = 8192."""

import re

from einkorn.port.conditions.expressions import Expr
from einkorn.port.conditions.parse import from_cpp
from einkorn.port.cpp.index import CppIndex
from einkorn.port.sources.syntax import ancestors, text_of, walk

_FUNCTIONS = {"function_definition", "lambda_expression"}


class Constants:
    """The named numbers of a tree, outside of functions."""

    def __init__(self, index: CppIndex) -> None:
        self._index = index
        self._known: dict[tuple[str, str], Expr | None] = {}

    def value_of(self, word: str, near: str) -> Expr | None:
        """The number that a name stands for, in the file `near` or wherever all say the same."""
        last = word.rsplit("::", 1)[-1]
        if (last, near) not in self._known:
            own = self._in_file(last, near)
            values = own or {
                value
                for file in self._index.files_with(last)
                for value in self._in_file(last, file)
            }
            number = len(values) == 1 and next(iter(values)).op == "number"
            self._known[last, near] = values.pop() if number else None
        return self._known[last, near]

    def _in_file(self, word: str, file: str) -> set[Expr]:
        pattern = re.compile(rf"\bconst(?:expr)?\b[^;=()]*\b{word}\s*(?:=|\{{)")
        if not pattern.search(self._index.sources.text(file)):
            return set()
        found = set()
        for node in walk(
            self._index.root(file), {"init_declarator", "field_declaration"}, _FUNCTIONS
        ):
            declarator = node.child_by_field_name("declarator")
            value = node.child_by_field_name("value") or node.child_by_field_name("default_value")
            if declarator is None or value is None or text_of(declarator) != word:
                continue
            held = from_cpp(value)
            if held.op == "list" and len(held.parts) == 1:
                held = held.parts[0]
            if not any(one.type in _FUNCTIONS for one in ancestors(node)):
                found.add(held)
        return found
