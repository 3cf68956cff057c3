"""Which arguments reach which parameters along a call chain, by position and by keyword."""

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeVar

from einkorn.port.conditions.constants import Constants
from einkorn.port.conditions.expressions import Expr, identifiers
from einkorn.port.conditions.parse import from_cpp, from_python
from einkorn.port.conditions.scope_names import Structs, add_constants, cpp_scope, python_scope
from einkorn.port.conditions.scopes import Scope
from einkorn.port.contracts.lambdas import in_lambda, lambdas_of
from einkorn.port.contracts.views import Views
from einkorn.port.cpp.index import CppIndex, Function, plain_symbol
from einkorn.port.model import Registration
from einkorn.port.python.index import PyFunction, PythonIndex, call_nodes
from einkorn.port.sources.syntax import Node, children, text_of, walk

if TYPE_CHECKING:
    from einkorn.port.chain.follow import Chain

Code = Function | PyFunction
_C = TypeVar("_C", Function, PyFunction)
_MOST_CALLERS = 8  # ways in which one function is looked at
_DEEPEST = 10  # callers above one another
_LAUNCHERS = {"cudaLaunchKernelEx": 1, "cudaLaunchKernelExC": 1, "cudaLaunchKernel": 0}


@dataclasses.dataclass(frozen=True)
class Edge:
    """A call: who calls, with what. Keywords have their names."""

    caller: Code
    arguments: tuple[Expr, ...]
    line: int


def key_of(function: Code) -> tuple[str, int, str]:
    """What tells two functions apart, overloads too."""
    return (function.file, function.line, function.symbol)


class Paths:
    """The calls between the functions of a chain, and the scopes that these give."""

    def __init__(self, cpp: CppIndex, python: PythonIndex, chain: "Chain") -> None:
        self._cpp, self._python, self._chain = cpp, python, chain
        self.native: list[Function] = _unique([*chain.functions, *chain.kernels])
        self.scripts: list[PyFunction] = _unique(chain.python or _python_callers(python, chain))
        self.entries = {key_of(one) for one in chain.entries}
        self._by_name: dict[str, list[Code]] = {}
        both: list[Code] = [*self.scripts, *self.native]
        for known in both:
            self._by_name.setdefault(known.name, []).append(known)
        self._structs, self._constants = Structs(cpp), Constants(cpp)
        self._native_by_name: dict[str, list[Function]] = {}
        for one in self.native:
            self._native_by_name.setdefault(one.name, []).append(one)
        self._callers: dict[tuple[str, int, str], list[Edge]] = {}
        self._callees: dict[tuple[str, int, str], set[tuple[str, int, str]]] = {}
        self._scopes: dict[tuple[str, int, str], Scope] = {}
        for one in self.native:
            self._native_edges(one)
        for script in self.scripts:
            self._script_edges(script)

    def leading(self) -> set[tuple[str, int, str]]:
        """The functions from which a launch or a kernel is reached."""
        both: list[Code] = [*self.native, *self.scripts]
        leads = {key_of(one) for one in both if self.launches_itself(one)}
        leads |= {key_of(one) for one in self._chain.kernels}
        changed = True
        while changed:
            more = {one for one, callees in self._callees.items() if callees & leads} - leads
            changed = bool(more)
            leads |= more
        return leads

    def launches_itself(self, function: Code) -> bool:
        """Whether a launch is in the function's own text."""
        names = {one.function for one in self._chain.launches}
        return function.symbol in names or function.name in names

    def below(self, functions: list[Function]) -> list[Function]:
        """The functions and all that they call on the chain."""
        seen = {key_of(one) for one in functions}
        pending = list(seen)
        while pending:
            for callee in self._callees.get(pending.pop(), ()):
                if callee not in seen:
                    seen.add(callee)
                    pending.append(callee)
        return [one for one in self.native if key_of(one) in seen]

    def base_scope(self, function: Code) -> Scope:
        """The scope of a function on its own; kept, so that names can be added to it."""
        key = key_of(function)
        if key not in self._scopes:
            if isinstance(function, Function):
                self._scopes[key] = cpp_scope(function, self._structs)
                add_constants(self._scopes[key], function, self._constants)
            else:
                self._scopes[key] = python_scope(function)
        return self._scopes[key]

    def scopes_of(self, function: Code, depth: int = 0) -> list[Scope]:
        """One scope for each way in which the chain reaches the function."""
        base = self.base_scope(function)
        edges = self._callers.get(key_of(function), []) if depth < _DEEPEST else []
        found: list[Scope] = []
        for edge in edges[:_MOST_CALLERS]:
            for outer in self.scopes_of(edge.caller, depth + 1)[:2]:
                found.append(dataclasses.replace(base, bound=_bind(function, edge, outer)))
        return found[:_MOST_CALLERS] or [base]

    def _add(self, caller: Code, callee: Code, arguments: tuple[Expr, ...], line: int) -> None:
        if key_of(caller) == key_of(callee):
            return
        self._callees.setdefault(key_of(caller), set()).add(key_of(callee))
        if not self._reaches(key_of(callee), key_of(caller)):
            edges = self._callers.setdefault(key_of(callee), [])
            edges.append(Edge(caller, arguments, line))

    def _reaches(self, start: tuple[str, int, str], goal: tuple[str, int, str]) -> bool:
        seen, pending = set(), [start]
        while pending:
            one = pending.pop()
            if one == goal:
                return True
            if one not in seen:
                seen.add(one)
                pending.extend(self._callees.get(one, ()))
        return False

    def _native_edges(self, caller: Function) -> None:
        lambdas = lambdas_of(caller, self._cpp)
        views = Views(self._native_by_name, self._structs)
        for call in self._cpp.calls(caller):
            if call.name in self._by_name:
                for callee in self._meant(call.target or call.callee, len(call.arguments), caller):
                    for arguments in in_lambda(lambdas, call):
                        seen = tuple(views.seen_through(one, lambdas) for one in arguments)
                        self._add(caller, callee, seen, call.line)
        for kernel, arguments, line in _launched(caller):
            for callee in [
                *self._meant(kernel, len(arguments), caller),
                *self._function_objects(kernel, len(arguments)),
            ]:
                self._add(caller, callee, arguments, line)

    def _function_objects(self, kernel: str, count: int) -> list[Function]:
        """Of run<Kernel>: the operators of the classes that a generic kernel is given to call."""
        words = set(identifiers(kernel.partition("<")[2]))
        return [
            one
            for one in self._native_by_name.get("operator()", [])
            if one.symbol.split("::")[-2:-1] and one.symbol.split("::")[-2] in words
            if len(one.parameters) == count
        ]

    def _meant(self, written: str, count: int, caller: Function) -> list[Function]:
        """The chain's functions that a C++ name means; those that take so many arguments."""
        wanted = plain_symbol(written).replace(".", "::").replace("->", "::").split("::")
        found = [
            one
            for one in self._by_name.get(wanted[-1], [])
            if isinstance(one, Function) and _takes(one, count) and one is not caller
        ]
        exact = [one for one in found if one.symbol.split("::")[-len(wanted) :] == wanted]
        return exact or ([] if len(wanted) > 1 and len(found) > 1 else found)

    def _script_edges(self, caller: PyFunction) -> None:
        for node in call_nodes(caller.node):
            callee, arguments = (node.child_by_field_name(one) for one in ("function", "arguments"))
            if callee is None or arguments is None:
                continue
            words = [one for one in _words(callee) if one]
            if not words:
                continue
            values = tuple(from_python(one) for one in arguments.children if one.is_named)
            for one in self._python_callees(words):
                self._add(caller, one, values, node.start_point[0] + 1)

    def _python_callees(self, words: list[str]) -> Iterator[Code]:
        last = words[-1]
        if last == "apply" and len(words) > 1:  # of an autograd function
            ending = f"{words[-2]}.forward"
            yield from (one for one in self.scripts if one.symbol.endswith(ending))
            return
        registered = [
            one for one in self._chain.registrations if _words_of(one.public_name)[-1:] == [last]
        ]
        for registration in registered:
            yield from self._registered(registration)
        if not registered:
            yield from (one for one in self.scripts if one.name == last)

    def _registered(self, registration: Registration) -> list[Function]:
        wanted = plain_symbol(registration.symbol).replace(".", "::").split("::")
        named = [one for one in self._by_name.get(wanted[-1], []) if isinstance(one, Function)]
        exact = [one for one in named if one.symbol.split("::")[-len(wanted) :] == wanted]
        return exact or named


def _words_of(text: str) -> list[str]:
    return [one for one in text.replace("::", ".").split(".") if one]


def _words(callee: Node) -> list[str]:
    while callee.type == "subscript":
        inner = callee.child_by_field_name("value")
        if inner is None:
            return []
        callee = inner
    return _words_of(text_of(callee)) if callee.type in ("identifier", "attribute") else []


def _takes(function: Function, count: int) -> bool:
    if any("..." in one.type for one in function.parameters):
        return True
    needed = sum(1 for one in function.parameters if not one.default)
    return needed <= count <= len(function.parameters)


def _bind(function: Code, edge: Edge, outer: Scope) -> dict[str, tuple[Scope, Expr]]:
    parameters = [one.name.lstrip("*") for one in function.parameters]
    if (
        isinstance(function, PyFunction)
        and parameters[:1]
        and parameters[0]
        in (
            "self",
            "cls",
            "ctx",
        )
    ):
        parameters = parameters[1:]
    bound: dict[str, tuple[Scope, Expr]] = {}
    position = 0
    for one in edge.arguments:
        if one.op == "keyword":
            bound[one.word] = (outer, one.parts[0])
        elif position < len(parameters):
            if parameters[position]:
                bound[parameters[position]] = (outer, one)
            position += 1
    return {word: value for word, value in bound.items() if word in parameters}


def _launched(function: Function) -> Iterator[tuple[str, tuple[Expr, ...], int]]:
    """Kernels with the arguments that they are launched with."""
    held = {}
    for node in walk(function.node, {"init_declarator"}):
        declarator, value = (node.child_by_field_name(one) for one in ("declarator", "value"))
        if declarator is not None and value is not None:
            held[text_of(declarator).lstrip("*& ")] = text_of(value)
    for node in walk(function.node, {"call_expression"}):
        callee, listed = (node.child_by_field_name(one) for one in ("function", "arguments"))
        if callee is None or listed is None:
            continue
        values = [one for one in listed.children if one.is_named and one.type != "comment"]
        line = node.start_point[0] + 1
        if children(node, "kernel_call_syntax"):
            kernel, given = text_of(callee), values
        elif callee.type == "call_expression" and values:
            kernel, given = text_of(values[0]), values[1:]
        elif (word := text_of(callee).rsplit("::", 1)[-1]) in _LAUNCHERS and len(values) > 1:
            kernel, given = text_of(values[_LAUNCHERS[word]]), values[_LAUNCHERS[word] + 1 :]
        else:
            continue
        yield held.get(kernel, kernel), tuple(from_cpp(one) for one in given), line


def _python_callers(python: PythonIndex, chain: "Chain") -> list[PyFunction]:
    """Of an entry in C++, the functions that call it from Python by a registered name."""
    found = []
    for one in chain.registrations:
        words = _words_of(one.public_name)
        if not words:
            continue
        for file in python.sources.containing(words[-1], python.sources.python_files):
            if python.sources.is_test(file):
                continue
            imports = python.imports(file)
            for function in python.functions_in(file):
                for call in python.calls(function):
                    called = _words_of(call.callee)
                    called[:1] = _words_of(imports.get(called[0], called[0])) if called else []
                    if len(called) > 1 and called[-2:][-len(words) :] == words[-2:]:
                        found.append(function)
    return found


def _unique(functions: list[_C]) -> list[_C]:
    return list({key_of(one): one for one in functions}.values())
