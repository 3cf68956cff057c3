"""Kernels that a function chooses and returns: `auto kernel = select_kernel(width);`."""

from collections.abc import Iterator

from einkorn.port.chain.includes import Visible
from einkorn.port.chain.names import substituted
from einkorn.port.cpp import calls as cpp_calls
from einkorn.port.cpp import macros as cpp_macros
from einkorn.port.cpp import names as cpp_names
from einkorn.port.cpp.functions import Function
from einkorn.port.cpp.index import CppIndex, plain_symbol
from einkorn.port.launches.values import Values, returned_by
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

# A selector that asks a selector, and so on; recursion ends there too.
_DEEPEST = 4


class SelectedValues(Values):
    """Values of a function, with what the functions return that it calls for a kernel."""

    def __init__(self, index: CppIndex, function: Function, depth: int = 0) -> None:
        self.uses = list(cpp_calls.uses_of(function, index))
        names = cpp_names.LocalNames(function, index.aliases_in(function.file))
        self.index = index
        self.function = function
        self.depth = depth
        super().__init__(function, names, self.uses)

    def is_kernel_name(self, name: str) -> bool:
        return plain_symbol(name).rpartition("::")[2] in self.index.kernel_names()

    def selected(self, call: Node) -> list[str]:
        """The kernels that a call may return; [] where it returns none, as far as can be told."""
        callee = syntax.child(call, "function")
        last = cpp_names.last_name(callee) if callee is not None else None
        if callee is None or last is None or self.depth >= _DEEPEST:
            return []
        written = self.names.target(callee, syntax.text_of(callee))
        given = cpp_names.template_arguments(last)
        found: dict[str, None] = {}
        count = len(cpp_calls.arguments_of(syntax.child(call, "arguments")))
        for function in self._called(written):
            if len(function.parameters) < count:
                continue
            declared = [one.split("=")[0].split() for one in function.template_parameters]
            names = [one[-1].lstrip(".") if one else "" for one in declared]
            known = {name: value for name, value in zip(names, given, strict=False) if name}
            inner = SelectedValues(self.index, function, self.depth + 1)
            for value in inner.returned():
                for kernel in inner.kernels(value):
                    if self.is_kernel_name(kernel):
                        found[substituted(kernel, known)] = None
        return list(found)

    def returned(self) -> Iterator[Node]:
        """The values of the function's return statements, of those in macros as well."""
        for part in cpp_calls.parts_of(self.function):
            yield from returned_by(part)
        for use in self.uses:
            name, arguments = cpp_calls.macro_use(use.node)
            for macro in self.index.macros_named(name, self.function.file) if name else ():
                for expanded in cpp_macros.expansions(macro, arguments):
                    yield from returned_by(expanded)

    def _called(self, written: str) -> list[Function]:
        """Definitions: those of this file, else those that it sees or sees declared."""
        found = [one for one in self.index.named(written) if not one.is_kernel]
        here = [one for one in found if one.file == self.function.file and one.is_definition]
        if here or not found:
            return here
        seen = Visible(self.index.sources).of(self.function.file)
        symbols = {one.symbol for one in found if one.file in seen}
        return [one for one in found if one.is_definition and one.symbol in symbols]
