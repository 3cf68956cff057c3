"""What C++ files define, and which of it is reached by name from where one begins.

By names only: overloads are not told apart, and a name that is reached reaches all of that name.
So nothing that is needed is called unused, but something called used may not be needed.
"""

import collections
import dataclasses
import re

from einkorn.port.cpp import declarators as cpp_declarators
from einkorn.port.cpp import tokens as cpp_tokens
from einkorn.port.cpp.functions import Function
from einkorn.port.cpp.index import CppIndex
from einkorn.port.cpp.tokens import names
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

_TYPES = names(
    "class_specifier struct_specifier union_specifier enum_specifier alias_declaration"
    " type_definition concept_definition template_instantiation namespace_alias_definition"
)
_GUARD = re.compile(r"_(H|HH|HPP|HXX|CUH|INC|INL)_*$|^_*[A-Z0-9_]+_INCLUDED_*$")


@dataclasses.dataclass
class Definition:
    symbol: str  # as in the source, with namespaces for functions
    name: str  # the word that others reach it by
    first: int  # lines, from 1, both included
    last: int
    words: set[str]  # what its text names, without that of `inner`
    inner: list["Definition"] = dataclasses.field(default_factory=list)  # members with a body
    reached: bool = False
    function: Function | None = None  # where it is one
    always: bool = False  # reached as soon as what holds it is: constructors, operators


def definitions_in(index: CppIndex, file: str) -> list[Definition]:
    """Functions, types, constants and macros of a file, each one that is in no other."""
    raw = index.raw(file)
    found: list[tuple[int, int, Definition]] = []
    for function in index.functions_in(file):
        node = _with_template(function.node)
        found.append((node.start_byte, node.end_byte, _of_function(function, node)))
    for node in syntax.find_cpp(index.root(file), _TYPES):
        if definition := _of_type(node):
            outer = _with_template(node)
            found.append((outer.start_byte, outer.end_byte, definition))
    for node in constants_of(index.root(file)):
        found.append((node.start_byte, node.end_byte, _of_constant(node)))
    top = _nested(found, raw)
    for macro in index.macros_in(file).values():
        if macro.body.strip() or not _GUARD.search(macro.name):
            last = macro.line + macro.body.rstrip().count("\n")
            words = cpp_tokens.words_of(macro.body)
            top.append(Definition(macro.name, macro.name, macro.line, last, words))
    return top


def instantiating_files(index: CppIndex, files: set[str], used: list[Function] | None) -> set[str]:
    """Units outside of `files` that instantiate, explicitly, a template that `used` belongs to."""
    names = {one for function in used or [] for one in function.symbol.split("::")[-2:]}
    found = set()
    for file in index.files_with("template"):
        if file in files or not names & index.sources.words(file):
            continue
        text = index.sources.text(file)
        if not re.search(r"^\s*template\s+(?!<)", text, re.MULTILINE) or index.sources.is_test(
            file
        ):
            continue
        kinds = frozenset(("template_instantiation",))
        for node in syntax.find_cpp(index.root(file), kinds):
            if names & set(re.findall(r"\w+", syntax.text_of(node).split("<")[0])):
                found.add(file)
    return found


def device_functions(
    index: CppIndex, files: list[str], functions: list[Function]
) -> list[Function]:
    """Kernels and __device__ functions of `files` that `functions` reach by name, in any number of
    steps; those among `functions` too. More than run, never less: it is for finding atomics.
    """
    reach = Reach(index, files, [], functions)
    found = [one for one in functions if one.is_device or one.is_kernel]
    pending = [one for file in files for one in reach.definitions[file][::-1]]
    while pending:
        definition = pending.pop()
        if definition.reached:
            pending += definition.inner[::-1]
            one = definition.function
            if one and one.is_definition and (one.is_device or one.is_kernel):
                found.append(one)
    places = {(one.file, one.line, one.symbol): one for one in found}
    return [places[at] for at in sorted(places)]


class Reach:
    """Which definitions of `files` are reached from `used`, or from all of `entries`."""

    def __init__(
        self, index: CppIndex, files: list[str], entries: list[str], used: list[Function] | None
    ) -> None:
        self.definitions = {file: definitions_in(index, file) for file in files}
        self._waiting: dict[str, list[Definition]] = collections.defaultdict(list)
        self._words: set[str] = set()
        self._pending: list[str] = []
        for file in files:
            for definition in self.definitions[file]:
                self._waiting[definition.name].append(definition)
        if used is None:
            for file in entries:
                for definition in self.definitions.get(file, []):
                    self._reach(definition)
        for function in used or []:
            text = index.raw(function.file)[function.node.start_byte : function.node.end_byte]
            self._add(cpp_tokens.words_of(text.decode("utf-8", "replace")))
            self._add(set(function.symbol.split("::")))
        self._follow()

    def used_lines(self, file: str) -> int:
        """How many lines of a file its reached definitions have."""
        lines: set[int] = set()
        for definition in self.definitions[file]:
            _count(definition, lines)
        return len(lines)

    def unused(self, file: str) -> tuple[str, ...]:
        """The symbols of a file that are not reached; a class that is not, without its members."""
        names: set[str] = set()
        pending = list(self.definitions[file])
        reached = set()
        while pending:
            definition = pending.pop()
            if definition.reached:
                reached.add(definition.symbol)
                pending += definition.inner
            else:
                names.add(definition.symbol)
        return tuple(sorted(names - reached))

    def _follow(self) -> None:
        while self._pending:
            for definition in self._waiting.pop(self._pending.pop(), []):
                self._reach(definition)

    def _reach(self, definition: Definition) -> None:
        if definition.reached:
            return
        definition.reached = True
        self._add(definition.words)
        for inner in definition.inner:
            if inner.always or inner.name in self._words:
                self._reach(inner)
            else:
                self._waiting[inner.name].append(inner)

    def _add(self, words: set[str]) -> None:
        new = words - self._words
        self._words |= new
        self._pending += new


def _count(definition: Definition, lines: set[int]) -> None:
    if not definition.reached:
        return
    lines.update(range(definition.first, definition.last + 1))
    for inner in definition.inner:
        if not inner.reached:
            lines.difference_update(range(inner.first, inner.last + 1))
        else:
            _count(inner, lines)


def _with_template(node: Node) -> Node:
    above = node.parent
    return above if above is not None and above.type == "template_declaration" else node


def _lines(node: Node) -> tuple[int, int]:
    return syntax.line_of(node), node.end_point[0] + 1


def _of_function(function: Function, node: Node) -> Definition:
    first, last = _lines(node)
    components = function.symbol.split("::")
    always = function.name.startswith(("operator", "~")) or components[-2:-1] == [function.name]
    name = components[-2] if always and len(components) > 1 else function.name
    return Definition(function.symbol, name, first, last, set(), function=function, always=always)


def _of_type(node: Node) -> Definition | None:
    name = syntax.child(node, "name") or syntax.child(node, "declarator")
    if node.type == "template_instantiation":
        words = re.findall(r"\w+", syntax.text_of(node).split("<")[0])
        return Definition(words[-1], words[-1], *_lines(node), set()) if words else None
    if name is None or (node.type.endswith("_specifier") and syntax.child(node, "body") is None):
        return None
    symbol = re.sub(r"\s*<.*", "", syntax.text_of(name))
    plain = symbol.rpartition("::")[2]
    if node.type == "enum_specifier":  # reached by an enumerator as well, but listed by its name
        return Definition(symbol, plain, *_lines(node), set(), always=_inside_class(node))
    return Definition(symbol, plain, *_lines(_with_template(node)), set())


def _inside_class(node: Node) -> bool:
    return any(one.type == "field_declaration_list" for one in syntax.ancestors(node))


def constants_of(root: Node) -> list[Node]:
    """Variables at namespace level."""
    containers = {"namespace_definition", "declaration_list", "linkage_specification", "ERROR"}
    found: list[Node] = []
    pending = [root]
    while pending:
        node = pending.pop()
        for one in node.named_children:
            inner = one
            if one.type == "template_declaration":
                inner = one.named_children[-1]
            if inner.type == "declaration" and cpp_declarators.function_declarator(inner) is None:
                found.append(one)
            elif one.type in containers or one.type.startswith("preproc_"):
                pending.append(one)
    return found


def _of_constant(node: Node) -> Definition:
    declaration = node.named_children[-1] if node.type == "template_declaration" else node
    declarator = syntax.child(declaration, "declarator")
    name = None
    if declarator is not None:
        name = next(syntax.walk(declarator, {"identifier"}), None)
    text = syntax.text_of(name) if name is not None else ""
    return Definition(text, text, *_lines(node), set())


def _nested(found: list[tuple[int, int, Definition]], raw: bytes) -> list[Definition]:
    """Puts members into what holds them, and gives each the words of its text without theirs."""
    found.sort(key=lambda one: (one[0], -one[1]))
    top: list[Definition] = []
    open_ones: list[tuple[int, int, Definition, list[tuple[int, int]]]] = []

    def close(until: int) -> None:
        while open_ones and open_ones[-1][1] <= until:
            start, end, definition, holes = open_ones.pop()
            parts, position = [], start
            for begin, stop in holes:
                parts.append(raw[position:begin])
                position = stop
            text = b" ".join([*parts, raw[position:end]]).decode("utf-8", "replace")
            definition.words = cpp_tokens.words_of(text)

    for start, end, definition in found:
        close(start)
        if open_ones:
            open_ones[-1][2].inner.append(definition)
            open_ones[-1][3].append((start, end))
        else:
            top.append(definition)
        open_ones.append((start, end, definition, []))
    close(len(raw) + 1)
    return [one for one in top if one.name]
