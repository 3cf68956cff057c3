"""Tests of a repository that exercise an entry: pytest and unittest functions, and GoogleTest."""

import re
from collections.abc import Iterator

from einkorn.port.chain.cpp import CallResolver
from einkorn.port.chain.follow import Chain
from einkorn.port.chain.python import Registered
from einkorn.port.cpp.index import CppIndex, Function
from einkorn.port.model import FoundTest
from einkorn.port.python.index import PyFunction, PythonIndex, call_nodes, decorators_of
from einkorn.port.python.names import PythonNames
from einkorn.port.python.targets import Target
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

# Wrappers around wrappers of an entry are looked for so far up; more lead to whole models.
_MOST_LEVELS = 3
_MOST_CALLERS = 400
_GTEST = re.compile(r"(?:TYPED_)?TEST(?:_[FP])?")
_RUN_BY_CLASS = {"forward", "backward", "__call__", "__init__", "apply"}


def tests_reaching(cpp: CppIndex, python: PythonIndex, chain: Chain) -> list[FoundTest]:
    """By file and line. `reaches` is the entry or the registered name that a test leads to."""
    finder = _Finder(python, chain)
    found = {**finder.found()}
    for test in _google_tests(cpp, chain):
        found[test.file, test.line] = test
    return sorted(found.values(), key=lambda one: (one.file, one.line))


class _Finder:
    """Goes from the entry up to its callers, level by level, until tests are reached."""

    def __init__(self, python: PythonIndex, chain: Chain) -> None:
        self.index = python
        self.names = PythonNames(python)
        self.registered = Registered(chain.registrations, python)
        self.chain = chain
        self.tests: dict[tuple[str, int], FoundTest] = {}
        self._calls: dict[tuple[str, int], list[Target]] = {}

    def found(self) -> dict[tuple[str, int], FoundTest]:
        entries = [one for one in self.chain.entries if isinstance(one, PyFunction)]
        level = {(one.file, one.line): (one, _public_name(one)) for one in entries}
        seen = set(level)
        for registration in self.chain.registrations:
            last = re.split(r"::|\.", registration.public_name)[-1]
            if registration.kind != "triton":
                for caller in self._callers(last, registration.public_name, None):
                    # Another op of this repository that shares a kernel is not the entry.
                    if not entries or self.index.sources.is_test(caller.file):
                        self._add(caller, registration.public_name, level, seen)
        for _ in range(_MOST_LEVELS):
            above: dict[tuple[str, int], tuple[PyFunction, str]] = {}
            for function, reaches in level.values():
                for word in self._words(function):
                    for caller in self._callers(word, "", function):
                        self._add(caller, reaches, above, seen)
            if not above or len(seen) > _MOST_CALLERS:
                break
            level = above
        return self.tests

    def _add(
        self,
        caller: PyFunction,
        reaches: str,
        level: dict[tuple[str, int], tuple[PyFunction, str]],
        seen: set[tuple[str, int]],
    ) -> None:
        key = (caller.file, caller.line)
        if key in seen:
            return
        seen.add(key)
        if self._is_test(caller):
            parameters = "; ".join(_parametrized(caller))
            self.tests[key] = FoundTest(caller.name, caller.file, caller.line, reaches, parameters)
        else:
            level[key] = (caller, reaches)

    def _is_test(self, function: PyFunction) -> bool:
        name = function.file.rsplit("/", 1)[-1]
        in_test_file = re.match(r"test_|.*_test\.py$", name) or self.index.sources.is_test(
            function.file
        )
        return bool(in_test_file) and function.name.startswith("test")

    def _words(self, function: PyFunction) -> list[str]:
        """The words that a caller's file must hold."""
        if function.name in _RUN_BY_CLASS:
            return [function.symbol.split(".")[-2]]
        return [function.name]

    def _callers(self, word: str, public: str, function: PyFunction | None) -> Iterator[PyFunction]:
        """Functions that call `function`, or what is registered as `public`."""
        sources = self.index.sources
        for file in sources.containing(word, sources.python_files):
            for one in self.index.functions_in(file):
                for target in self._targets(one):
                    if function is not None and target.function is function:
                        yield one
                        break
                    if public and any(
                        found.public_name == public for found in self.registered.of(target)
                    ):
                        yield one
                        break

    def _targets(self, function: PyFunction) -> list[Target]:
        """What a function calls or hands on to be called."""
        key = (function.file, function.line)
        if key not in self._calls:
            found: list[Target] = []
            for call in call_nodes(function.node):
                found += self.names.callee(call, function.file, function)
                in_test = self.index.sources.is_test(function.file)
                for value in _handed_on(call) if in_test else ():
                    for target in self.names.evaluate(value, function.file, function):
                        found += self.names.runs(target) if target.kind != "made" else []
            self._calls[key] = found
        return self._calls[key]


def _handed_on(call: Node) -> list[Node]:
    arguments = syntax.child(call, "arguments")
    return syntax.children(arguments, "identifier", "attribute") if arguments is not None else []


def _public_name(function: PyFunction) -> str:
    if function.name in _RUN_BY_CLASS:
        return function.symbol.split(".")[-2]
    return function.name


def _parametrized(function: PyFunction) -> list[str]:
    """The arguments of each pytest.mark.parametrize, those of the class before."""
    nodes = [*decorators_of(function.node)]
    for above in syntax.ancestors(function.node):
        if above.type == "class_definition":
            nodes = [*decorators_of(above), *nodes]
    found = []
    for node in nodes:
        callee, arguments = syntax.child(node, "function"), syntax.child(node, "arguments")
        if callee is not None and syntax.text_of(callee).endswith("parametrize") and arguments:
            found.append(_without_comments(arguments)[1:-1].strip().rstrip(","))
    return found


def _without_comments(node: Node) -> str:
    text = node.text or b""
    for comment in reversed(list(syntax.walk(node, {"comment"}))):
        start, end = comment.start_byte - node.start_byte, comment.end_byte - node.start_byte
        text = text[:start] + text[end:]
    return " ".join(text.decode("utf-8", "replace").split())


def _google_tests(cpp: CppIndex, chain: Chain) -> Iterator[FoundTest]:
    wanted = _path_to_launches(chain)
    if not wanted:
        return
    resolver = CallResolver(cpp)
    for file in cpp.sources.cpp_files:
        text = cpp.sources.text(file)
        if "TEST" not in text or not re.search(r"\bgtest|\bgmock|\bTEST(_[FP])?\s*\(", text):
            continue
        for function in cpp.functions_in(file):
            if _GTEST.fullmatch(function.name) and len(function.parameters) >= 2:
                reaches = _reached(function, wanted, cpp, resolver)
                if reaches:
                    parts = [one.type or one.name for one in function.parameters[:2]]
                    yield FoundTest(".".join(parts), file, function.line, reaches)


def _reached(
    test: Function, wanted: dict[tuple[str, int], str], cpp: CppIndex, resolver: CallResolver
) -> str:
    """The wanted function that a test calls, itself or by helpers of its file."""
    pending, seen = [test], {test.line}
    while pending:
        function = pending.pop()
        for call in cpp.calls(function):
            for meaning in resolver.called(call, function, ()).meanings:
                one = meaning.function
                if (one.file, one.line) in wanted:
                    return wanted[one.file, one.line]
                if one.file == test.file and one.line not in seen:
                    seen.add(one.line)
                    pending.append(one)
    return ""


def _path_to_launches(chain: Chain) -> dict[tuple[str, int], str]:
    """Functions of C++ between the entry and the launches; a test of those tests the entry."""
    entries = {
        (one.file, one.line): one.symbol for one in chain.entries if isinstance(one, Function)
    }
    launching = {one.function for one in chain.launches}
    above: list[tuple[int, str, int, str]] = []
    native = {(one.file, one.line) for one in chain.functions}
    found = dict(entries)
    for step in chain.steps:
        above = [one for one in above if one[0] < step.depth]
        above.append((step.depth, step.file, step.line, step.symbol))
        if step.symbol in launching:
            for _, file, line, symbol in above:
                if (file, line) in native:
                    found[file, line] = symbol
    return found
