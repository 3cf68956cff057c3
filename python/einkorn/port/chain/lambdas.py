"""Generic lambdas: with which template arguments their callers call them."""

import re

from einkorn.port.chain.names import parameter_name, split_arguments
from einkorn.port.cpp import names as cpp_names
from einkorn.port.cpp.index import CppIndex, Function
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node


class Lambdas:
    """Of an index; what was found for a function is kept."""

    def __init__(self, index: CppIndex) -> None:
        self.index = index
        self._names: dict[tuple[str, int], cpp_names.LocalNames] = {}
        self._lambdas: dict[tuple[str, int], dict[str, list[str]]] = {}

    def names_of(self, function: Function) -> cpp_names.LocalNames:
        """The aliases and variables of a function."""
        key = (function.file, function.node.start_byte)
        if key not in self._names:
            aliases = self.index.aliases_in(function.file)
            self._names[key] = cpp_names.LocalNames(function, aliases)
        return self._names[key]

    def arguments(self, function: Function) -> dict[str, list[str]]:
        """What the template parameters of generic lambdas in `function` are called with."""
        key = (function.file, function.node.start_byte)
        if key in self._lambdas:
            return self._lambdas[key]
        found: dict[str, list[str]] = {}
        self._lambdas[key] = found
        for node in syntax.walk(function.node, {"lambda_expression"}):
            listed = next(iter(syntax.children(node, "template_parameter_list")), None)
            if listed is None:
                continue
            names = [parameter_name(syntax.text_of(one)) for one in listed.named_children]
            for given in self._calls_of_lambda(node, function):
                for name, argument in zip(names, given, strict=False):
                    if argument not in found.setdefault(name, []):
                        found[name].append(argument)
        return found

    def _calls_of_lambda(self, node: Node, function: Function) -> list[list[str]]:
        """The template arguments of each call of a lambda: of a variable, or of a parameter."""
        above = node.parent
        if above is not None and above.type == "init_declarator":
            name = syntax.child(above, "declarator")
            return self._operator_calls(function, syntax.text_of(name)) if name else []
        call = above.parent if above is not None and above.type == "argument_list" else None
        if above is None or call is None or call.type != "call_expression":
            return []
        position = [one.id for one in above.named_children if one.type != "comment"].index(node.id)
        callee = syntax.child(call, "function")
        found: list[list[str]] = []
        for taker in self.index.named(syntax.text_of(callee)) if callee is not None else []:
            if taker.is_definition and position < len(taker.parameters):
                found += self._operator_calls(taker, taker.parameters[position].name)
        return found

    def _operator_calls(self, function: Function, variable: str) -> list[list[str]]:
        start = re.compile(rf"{re.escape(variable)}\s*\.\s*(?:template\s+)?operator\s*\(\s*\)\s*<")
        local = self.names_of(function)
        found = []
        for call in self.index.calls(function):
            if match := start.match(call.callee):
                given = split_arguments(call.callee[match.end() :].rstrip().removesuffix(">"))
                found.append([local.resolved(one) for one in given])
        return found
