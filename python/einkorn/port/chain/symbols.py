"""The functions that the symbol of a registration leads to."""

import re

from einkorn.port.chain.includes import Visible
from einkorn.port.chain.names import split_arguments
from einkorn.port.chain.native import is_among
from einkorn.port.cpp.index import CppIndex, Function, plain_symbol
from einkorn.port.model import Registration
from einkorn.port.python.index import PyFunction, string_of
from einkorn.port.python.names import PythonNames
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

_SOURCE = re.compile(r"""["']([\w./+-]+\.(?:cu|cuh|cpp|cc|h|hpp))["']""")
_CONDITIONAL = re.compile(r"(?:typename )?(?:std::|cuda::std::)?conditional(?:_t)?<")


class Symbols:
    """Looks symbols up near where they are registered."""

    def __init__(self, index: CppIndex, names: PythonNames, visible: Visible) -> None:
        self._index = index
        self._names = names
        self._visible = visible

    def functions_of(
        self, one: Registration, sources: frozenset[str] = frozenset()
    ) -> list[Function] | list[PyFunction]:
        """Definitions; those in the files that the registration names before all others.

        `sources` are the ends of paths of what is built together with it.
        """
        if one.file.endswith(".py") and one.kind in ("torch_custom_op", "tvm_ffi", "triton"):
            return [f for f in self._names.index.named(one.symbol) if f.symbol == one.symbol]
        found = [
            function
            for symbol in self._spellings(one)
            for function in self._index.named(symbol)
            if function.is_definition
        ]
        named = [f for f in found if self._is_near(f.file, one)]
        here = [f for f in named if f.file == one.file]
        built = [f for f in found if is_among(f.file, sources)]
        return here or built or named or found

    def _is_near(self, file: str, one: Registration) -> bool:
        if not one.file.endswith(".py"):
            return file in self._visible.of(one.file)
        if file == one.file:
            return True
        return ("/" + file).endswith(self._sources(one)) if self._sources(one) else False

    def _sources(self, one: Registration) -> tuple[str, ...]:
        """The ends of the paths of the sources that a Python file names."""
        literals = _SOURCE.findall(self._index.sources.text(one.file))
        return tuple("/" + literal.lstrip("./") for literal in dict.fromkeys(literals))

    def _spellings(self, one: Registration) -> list[str]:
        """The symbol with Python's variables put in, then with aliases of C++ followed."""
        spellings = self._with_variables(one)
        found = []
        for text in spellings:
            if any(f.is_definition for f in self._index.named(text)):
                found.append(text)
            else:
                found += self._without_alias(text, one)
        return found

    def _with_variables(self, one: Registration) -> list[str]:
        """ "{kernel}<{args}>::run": the strings that `kernel` is given in the function around."""
        match = re.match(r"&?\{(\w+)\}", one.symbol)
        if match is None or not one.file.endswith(".py"):
            return [one.symbol]
        module = self._names.index.module(one.file)
        values = list(module.assigned.get(match[1], []))
        for function in module.functions:
            if function.line <= one.line <= function.end_line:
                for value in self._names.assigned_in(function).get(match[1], []):
                    values += [value, *self._returned(value, function)]
        texts = {
            string_of(node) or ""
            for value in values
            if value.type != "call"
            for node in syntax.walk(value, {"string"}, {"string", "comparison_operator"})
        }
        rest = one.symbol[match.end() :]
        return [text + rest for text in sorted(texts) if re.match(r"[A-Za-z_]", text)]

    def _returned(self, value: Node, function: PyFunction) -> list[Node]:
        """What the functions return that a value is a call of."""
        if value.type != "call":
            return []
        return [
            returned
            for target in self._names.callee(value, function.file, function)
            if target.function is not None
            for statement in syntax.walk(target.function.node, {"return_statement"})
            for returned in statement.named_children
        ]

    def _without_alias(self, text: str, one: Registration) -> list[str]:
        """`using A = std::conditional_t<x, B<...>, C<...>>` makes "A::run" B::run and C::run."""
        name, _, rest = plain_symbol(text).partition("::")
        if not rest:
            return []
        found = []
        for file in self._index.files_with(name):
            if not self._is_near(file, one):
                continue
            for alias in self._index.aliases_in(file):
                named, kind = syntax.child(alias, "name"), syntax.child(alias, "type")
                if named is None or kind is None or syntax.text_of(named) != name:
                    continue
                found += [f"{other}::{rest}" for other in _alternatives(syntax.text_of(kind))]
        return found


def _alternatives(kind: str) -> list[str]:
    match = _CONDITIONAL.match(kind)
    if match is None:
        return [kind]
    given = split_arguments(kind[match.end() :].removesuffix("::type").rstrip().removesuffix(">"))
    return [one for part in given[1:3] for one in _alternatives(part)]
