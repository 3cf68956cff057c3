"""Which functions C++ and CUDA sources define, and what each calls. Files are parsed when needed.

No preprocessor runs: both sides of an #if are seen, and a macro of the sources is looked through
where it is used. Nothing needs to compile.
"""

import collections
import dataclasses
import re

from einkorn.port.cpp import calls as cpp_calls
from einkorn.port.cpp import functions as cpp_functions
from einkorn.port.cpp import recovery as cpp_recovery
from einkorn.port.cpp import repair as cpp_repair
from einkorn.port.cpp import tokens as cpp_tokens
from einkorn.port.cpp.calls import Call
from einkorn.port.cpp.declarators import Parameter
from einkorn.port.cpp.functions import Function
from einkorn.port.cpp.tokens import Macro
from einkorn.port.model import Gap
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node
from einkorn.port.sources.tree import SourceTree

__all__ = ["Call", "CppIndex", "Function", "Macro", "Parameter", "plain_symbol"]

# What stands for nothing but specifiers: "#define MY_INLINE __forceinline__ __device__".
_ONLY_SPECIFIERS = re.compile(
    r"(?:\s|\\\n|\b(?:__\w+__|inline|static|extern|constexpr|virtual|noexcept|const|__forceinline"
    r"|__inline|__restrict|__noinline|\"C\")(?:\s*\((?:[^()]|\([^()]*\))*\))?"
    r"|\[\[[^\]]*\]\]|__declspec\([^()]*\)|__attribute__\s*\(\(.*?\)\)|_Pragma\([^()]*\))*"
)
# Of an error region; a smaller one hides no function.
_SMALLEST_HIDING_BYTES = 24


@dataclasses.dataclass
class _File:
    root: Node
    raw: bytes
    functions: list[Function] | None = None
    calls: dict[int, list[Call]] = dataclasses.field(default_factory=dict)


class CppIndex:
    """The C++ of a tree. What can't be made out is told in `sources.gaps`."""

    def __init__(self, sources: SourceTree) -> None:
        self.sources = sources
        self._files: dict[str, _File] = {}
        self._macros: dict[str, dict[str, Macro]] = {}
        self._macros_by_name: dict[str, list[Macro]] | None = None
        self._specifiers: frozenset[str] | None = None
        self._kernel_names: frozenset[str] | None = None
        self._aliases: dict[str, list[Node]] = {}
        self._named: dict[str, list[Function]] = {}
        self._files_of_word: dict[str, list[str]] | None = None
        self._embedded: dict[str, str] = {}

    def embed(self, file: str, text: str) -> None:
        """Adds the C++ that a file of another language holds in strings.

        `text` is as long as the file's own, with blanks for all that is not C++: places stay true.
        To be called before anything is looked up.
        """
        self._embedded[file] = text
        self._files.pop(file, None)
        self._named.clear()
        self._files_of_word = None
        self._kernel_names = None

    def text(self, file: str) -> str:
        """The C++ of a file."""
        return self._embedded.get(file) or self.sources.text(file)

    def root(self, file: str) -> Node:
        """The syntax tree of a file, kept. Its bytes are where they are in the file's own text."""
        return self._file(file).root

    def raw(self, file: str) -> bytes:
        """The file's text as the tree counts it: what a node's `start_byte` points into."""
        return self._file(file).raw

    def functions_in(self, file: str) -> list[Function]:
        """Functions, methods and kernels that the file declares or defines, in its order.

        Bodies of macros such as PYBIND11_MODULE count as functions of that name.
        """
        entry = self._file(file)
        if entry.functions is None:
            entry.functions = cpp_functions.functions_of(entry.root, file, entry.raw, self)
            if entry.root.has_error:
                self._recover(file, entry, entry.functions)
        return entry.functions

    def named(self, symbol: str) -> list[Function]:
        """All functions that `symbol` may mean; definitions first, then by file and line.

        The last component has to be the same. Qualifiers fit if one list of them ends in the other:
        "f", "kernels::f" and "outer::kernels::f" all find outer::kernels::f. Where none fits
        so, those whose enclosing class is the one asked for. Several may come: all are meant.
        """
        plain = plain_symbol(symbol)
        if plain not in self._named:
            self._named[plain] = self._find(plain)
        return self._named[plain]

    def calls(self, function: Function) -> list[Call]:
        """What the function calls, in the order of the text; of lambdas and macros in it too."""
        entry = self._file(function.file)
        key = function.node.id
        if key not in entry.calls:
            entry.calls[key] = cpp_calls.calls_of(function, self)
        return entry.calls[key]

    def macros_in(self, file: str) -> dict[str, Macro]:
        """The macros that the file defines."""
        if file not in self._macros:
            self._macros[file] = cpp_tokens.macros_of(self.sources.text(file), file)
        return self._macros[file]

    def macros_named(self, name: str, near: str = "") -> list[Macro]:
        """Definitions of a macro: that of the file `near` if it has one, else all that differ."""
        if near and name in self.macros_in(near):
            return [self.macros_in(near)[name]]
        if self._macros_by_name is None:
            self._macros_by_name = collections.defaultdict(list)
            for file in self.sources.cpp_files:
                for macro in self.macros_in(file).values():
                    self._macros_by_name[macro.name].append(macro)
        bodies = {macro.body: macro for macro in reversed(self._macros_by_name.get(name, []))}
        return list(bodies.values())[::-1]

    def files_with(self, word: str) -> list[str]:
        """The C++ files whose text holds an identifier; quick, however often it is asked."""
        if self._files_of_word is None:
            self._files_of_word = collections.defaultdict(list)
            for file in (*self.sources.cpp_files, *self._embedded):
                for one in self.sources.words(file):
                    self._files_of_word[one].append(file)
        return self._files_of_word.get(word, [])

    def kernel_names(self) -> frozenset[str]:
        """The last components of what is declared __global__ anywhere, told from the text alone."""
        if self._kernel_names is None:
            marks = {"__global__"} | {
                macro.name
                for file in self.files_with("__global__")
                for macro in self.macros_in(file).values()
                if "__global__" in macro.body and macro.parameters is None
            }
            self._kernel_names = frozenset(
                name
                for mark in marks
                for file in self.files_with(mark)
                for name in cpp_functions.names_behind(self.sources.text(file), mark)
            )
        return self._kernel_names

    def aliases_in(self, file: str) -> list[Node]:
        """The `using A = B;` and typedefs of a file."""
        if file not in self._aliases:
            kinds = frozenset(("alias_declaration", "type_definition"))
            self._aliases[file] = syntax.find_cpp(self.root(file), kinds)
        return self._aliases[file]

    def specifiers(self) -> frozenset[str]:
        """Macros of the tree that stand for specifiers or attributes only."""
        if self._specifiers is None:
            self._specifiers = frozenset(
                macro.name
                for file in self.sources.cpp_files
                for macro in self.macros_in(file).values()
                if macro.parameters is None
                and len(macro.name) > 2
                and len(macro.body) < 200
                and _ONLY_SPECIFIERS.fullmatch(cpp_tokens.without_comments(macro.body))
                and (macro.body.strip() or macro.name.isupper())
            )
        return self._specifiers

    def _file(self, file: str) -> _File:
        if file not in self._files:
            self._files[file] = self._parse(file)
        return self._files[file]

    def _parse(self, file: str) -> _File:
        text = self.text(file)
        root = syntax.parse_cpp(text)
        raw = text.encode("utf-8", "replace")
        if root.has_error:
            mended = cpp_repair.repaired(text, self.specifiers())
            better = syntax.parse_cpp(mended.text)
            if _extent_of_errors(better) <= _extent_of_errors(root):
                root = better
                for line in mended.left_out:
                    what = "a branch of an #if that splits a statement, not read: another one is"
                    self.sources.gaps.append(Gap(what, file, line))
        return _File(root, raw)

    def _recover(self, file: str, entry: _File, functions: list[Function]) -> None:
        """Adds what the parser lost outside of functions; tells what stays lost."""
        errors = [one for one in _outer_errors(entry.root) if b"(" in (one.text or b"")]
        if not errors:
            return
        text = self.text(file)
        known = [(re.sub(r"^operator.*", "operator", one.name), one.line) for one in functions]
        for lost in cpp_recovery.definitions_by_brackets(text):
            if any(name == lost.name and abs(line - lost.line) < 3 for name, line in known):
                continue
            alone = cpp_recovery.only(text, lost.start, lost.end)
            root = syntax.parse_cpp(cpp_repair.repaired(alone, self.specifiers()).text)
            found = cpp_functions.functions_of(root, file, entry.raw, self, lost.scope)
            found = [one for one in found if one.name == lost.name and one.is_definition]
            functions += found
            if not found:
                what = f"the parser could not make out {lost.name}"
                self.sources.gaps.append(Gap(what, file, lost.line))
        functions.sort(key=lambda one: one.node.start_byte)
        for node in errors:
            line = syntax.line_of(node)
            if not any(one.line <= line <= one.end_line for one in functions if one.is_definition):
                shown = syntax.text_of(node)
                if re.fullmatch(r"[A-Z][A-Z0-9_]+ ?\([^;{}]*\)", shown):  # a macro without ';'
                    continue
                what = f"not understood by the parser: {shown[:60]}{'…' * (len(shown) > 60)}"
                self.sources.gaps.append(Gap(what, file, line))

    def _find(self, plain: str) -> list[Function]:
        components = plain.split("::")
        name = components[-1]
        word = re.findall(r"\w+", name)[:1] or [name]
        found = [
            function
            for file in self.files_with(word[0])
            if cpp_functions.may_declare(self.sources.text(file), name)
            for function in self.functions_in(file)
            if function.name == name
        ]
        fitting = [one for one in found if _fits(one.symbol.split("::"), components)]
        if not fitting and len(components) > 1:
            # A namespace that an alias, a using or a macro names otherwise.
            fitting = [one for one in found if one.symbol.split("::")[-2:-1] == components[-2:-1]]
        return sorted(fitting, key=lambda one: (not one.is_definition, one.file, one.line))


def plain_symbol(symbol: str) -> str:
    """Without template arguments, "::" in front, "&" and spaces: "&ns::f<int>" is "ns::f"."""
    depth, kept = 0, []
    symbol = symbol.strip().lstrip("&").strip()
    if "operator" in symbol:
        return re.sub(r"\s+", "", symbol).removeprefix("::")
    for character in symbol:
        depth += character == "<"
        if depth == 0:
            kept.append(character)
        depth -= character == ">" and depth > 0
    plain = re.sub(r"\s+", " ", "".join(kept)).strip()
    plain = re.sub(r"\b(template|typename)\b ?", "", plain)
    return re.sub(r"\s*::\s*", "::", plain).removeprefix("::")


def _fits(known: list[str], asked: list[str]) -> bool:
    length = min(len(known), len(asked))
    return known[-length:] == asked[-length:]


def _outer_errors(root: Node) -> list[Node]:
    """Error regions that may hide a function: large, and inside none that was understood."""
    found, pending = [], [root]
    while pending:
        node = pending.pop()
        if node.is_error and node.end_byte - node.start_byte >= _SMALLEST_HIDING_BYTES:
            found.append(node)
        elif node.has_error:
            whole = node.type == "function_definition" and syntax.child(node, "body") is not None
            pending += [] if whole else node.children
    return found


def _extent_of_errors(root: Node) -> int:
    """In bytes; a token that the parser had to make up counts for one."""
    extent, pending = 0, [root]
    while pending:
        node = pending.pop()
        if node.is_error or node.is_missing:
            extent += max(1, node.end_byte - node.start_byte)
        elif node.has_error:
            pending += node.children
    return extent
