"""C++ that Python holds in strings, to be compiled when it runs."""

from collections.abc import Iterator

from einkorn.port.cpp.index import CppIndex
from einkorn.port.python.index import argument
from einkorn.port.python.names import PythonNames
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

_ARGUMENTS = (("cpp_sources", 1), ("cuda_sources", 2), ("cpp_source", None), ("cuda_source", None))
_WORDS = ("load_inline", "cuda_sources", "cpp_sources", "cuda_source", "cpp_source")


def embed_all(cpp: CppIndex, names: PythonNames) -> list[str]:
    """Adds such sources to the index, each under the name of its Python file; returns these."""
    index = names.index
    found = []
    for file in index.sources.python_files:
        if not any(word in index.sources.text(file) for word in _WORDS):
            continue
        strings = [
            part
            for call in syntax.walk(index.module(file).root, {"call"})
            for name, position in _ARGUMENTS
            if (value := argument(call, name, position if _is_inline(call) else None)) is not None
            for part in _strings(value, file, names, depth=0)
        ]
        text = _only(index.sources.text(file), strings)
        if "(" in text:
            cpp.embed(file, text)
            found.append(file)
    return found


def _is_inline(call: Node) -> bool:
    callee = syntax.child(call, "function")
    return callee is not None and syntax.text_of(callee).rsplit(".", 1)[-1] == "load_inline"


def _strings(node: Node, file: str, names: PythonNames, depth: int) -> Iterator[Node]:
    """The literals of this file that a value is made of."""
    if depth > 8:
        return
    if node.type == "identifier":
        module = names.index.module(file)
        values = list(module.assigned.get(syntax.text_of(node), []))
        for function in module.functions:
            if function.node.start_byte <= node.start_byte < function.node.end_byte:
                values += names.assigned_in(function).get(syntax.text_of(node), [])
        for value in values:
            yield from _strings(value, file, names, depth + 1)
    elif node.type == "string":
        yield node
    elif node.type in ("list", "tuple", "concatenated_string", "binary_operator", "call"):
        parts = node.named_children
        if node.type == "call":  # source.replace(...), "...".format(...)
            callee = syntax.child(node, "function")
            owner = syntax.child(callee, "object") if callee is not None else None
            parts = [owner] if owner is not None else []
        for part in parts:
            yield from _strings(part, file, names, depth + 1)


def _only(text: str, strings: list[Node]) -> str:
    """The text with blanks for all but the contents of the strings."""
    data = text.encode("utf-8", "replace")
    kept = bytearray(byte if byte == 0x0A else 0x20 for byte in data)
    for string in strings:
        for part in syntax.children(string, "string_content"):
            for one in [part, *syntax.walk(part, {"escape_sequence"})]:
                content = data[one.start_byte : one.end_byte]
                if one.type == "escape_sequence" and content.startswith(b"\\n"):
                    content = b"  "  # a new line, in a text whose lines are those of the file
                kept[one.start_byte : one.end_byte] = content
    return kept.decode("utf-8", "replace")
