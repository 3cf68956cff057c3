"""The Python of a surveyed repository: functions, classes, imports, calls; read, never imported."""

import pathlib
import re
from collections.abc import Iterator

from einkorn.port.cpp.index import Call
from einkorn.port.python.module import (
    PyClass,
    PyFunction,
    PyModule,
    decorators_of,
    module_name,
    read_module,
)
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node
from einkorn.port.sources.tree import SourceTree

__all__ = [
    "PyClass",
    "PyFunction",
    "PyModule",
    "PythonIndex",
    "argument",
    "call_nodes",
    "call_of",
    "decorators_of",
    "module_name",
    "string_of",
]

# Never one of the repository's own, though a folder of it may be called so.
_OTHERS = {"cuda", "cupy", "cutlass", "jax", "numpy", "torch", "triton", "tvm", "tvm_ffi"}


class PythonIndex:
    """Reads each file when something in it is first asked for."""

    def __init__(self, sources: SourceTree) -> None:
        self.sources = sources
        self._modules: dict[str, PyModule] = {}
        self._by_name = _files_by_module(sources.python_files)

    def module(self, file: str) -> PyModule:
        """All about one file; an unreadable one is an empty module."""
        if file not in self._modules:
            self._modules[file] = read_module(file, self.sources.text(file))
        return self._modules[file]

    def functions_in(self, file: str) -> list[PyFunction]:
        """Functions and methods, nested ones too, in the order of the text."""
        return self.module(file).functions

    def imports(self, file: str) -> dict[str, str]:
        """Local name to absolute dotted name."""
        return self.module(file).imports

    def named(self, name: str) -> list[PyFunction]:
        """Functions whose dotted symbol ends with `name`, which may be qualified."""
        last = name.rsplit(".", 1)[-1]
        return [
            function
            for file in self.sources.containing(last, self.sources.python_files)
            for function in self.functions_in(file)
            if function.symbol == name or function.symbol.endswith("." + name)
        ]

    def calls(self, function: PyFunction) -> list[Call]:
        """The calls in the function's body, in the order of the text; those of lambdas as well."""
        return [call_of(node, function.file) for node in call_nodes(function.node)]

    def file_of_module(self, dotted: str) -> str | None:
        """The file of a module or package, by its absolute name; nothing where it isn't here."""
        return self._by_name.get(dotted)

    def has_package(self, dotted: str) -> bool:
        """Whether a folder or file of that name is in the repository."""
        return dotted in self._by_name or any(
            name.startswith(dotted + ".") for name in self._by_name
        )


def call_nodes(node: Node) -> Iterator[Node]:
    """`call` nodes in a body, without those of functions and classes that it defines."""
    body = syntax.child(node, "body") or node
    yield from syntax.walk(body, {"call"}, {"function_definition", "class_definition"})


def call_of(node: Node, file: str) -> Call:
    callee = syntax.child(node, "function")
    arguments = syntax.child(node, "arguments")
    written = syntax.text_of(callee) if callee is not None else ""
    base = callee
    while base is not None and base.type == "subscript":  # kernel[grid](...)
        base = syntax.child(base, "value")
    name = re.findall(r"\w+", syntax.text_of(base)) if base is not None else []
    given = [] if arguments is None else _arguments(arguments)
    return Call(written, name[-1] if name else "", (), tuple(given), file, syntax.line_of(node))


def _arguments(node: Node) -> list[str]:
    if node.type != "argument_list":  # f(x for x in y)
        return [syntax.text_of(node)]
    return [syntax.text_of(one) for one in node.named_children if one.type != "comment"]


def argument(call: Node, name: str, position: int | None = None) -> Node | None:
    """The value of a call's argument, by its keyword or its position."""
    arguments = syntax.child(call, "arguments")
    if arguments is None:
        return None
    positional = []
    for one in arguments.named_children:
        if one.type == "keyword_argument":
            key = syntax.child(one, "name")
            if key is not None and syntax.text_of(key) == name:
                return syntax.child(one, "value")
        elif one.type != "comment":
            positional.append(one)
    if position is not None and position < len(positional):
        return positional[position]
    return None


def string_of(node: Node | None) -> str | None:
    """The value of a string literal; parts of f-strings in braces stay as written."""
    if node is None:
        return None
    if node.type == "parenthesized_expression":
        return string_of(node.named_children[0]) if node.named_children else None
    if node.type == "concatenated_string":
        parts = [string_of(one) for one in node.named_children if one.type == "string"]
        return "".join(part or "" for part in parts)
    if node.type != "string":
        return None
    kinds = ("string_content", "interpolation")
    return "".join(syntax.raw_text_of(one) for one in syntax.children(node, *kinds))


def _files_by_module(files: list[str]) -> dict[str, str]:
    """By the name below the root, and by that below the folder that is on the path of imports."""
    found: dict[str, str] = {}
    ordered = sorted(files, key=lambda one: (one.count("/"), one))
    for file in ordered:
        found.setdefault(module_name(file), file)
    packages = {one.removesuffix("/__init__.py") for one in files if one.endswith("/__init__.py")}
    for file in ordered:
        folder = pathlib.PurePosixPath(file).parent
        while str(folder) in packages:
            folder = folder.parent
        name = module_name(pathlib.PurePosixPath(file).relative_to(folder).as_posix())
        if name.partition(".")[0] not in _OTHERS:
            found.setdefault(name, file)
    return found
