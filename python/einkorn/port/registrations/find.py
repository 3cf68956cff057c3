"""How native functions are made known to Python, and Python functions to frameworks."""

import re

from einkorn.port.cpp.index import CppIndex, Function
from einkorn.port.model import Registration
from einkorn.port.python.index import PyFunction, PythonIndex
from einkorn.port.python.names import PythonNames
from einkorn.port.registrations import cpp as registrations_cpp
from einkorn.port.registrations import python as registrations_python
from einkorn.port.registrations.embedded import embed_all
from einkorn.port.registrations.extensions import Extensions
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

_LIBRARY = re.compile(r"\b(?:CDLL|PyDLL|WinDLL|OleDLL|LoadLibrary|dlopen)$")


def registrations_of(
    cpp: CppIndex, python: PythonIndex, files: list[str] | None = None
) -> list[Registration]:
    """All kinds, by file and line; of `files` only where given. Gaps are added to the tree's."""
    names = PythonNames(python)
    wanted = None if files is None else set(files)
    found: list[Registration] = []
    extensions = Extensions(python)
    for file in (*cpp.sources.cpp_files, *embed_all(cpp, names)):
        if wanted is None or file in wanted:
            found += registrations_cpp.registrations_in(cpp, file, extensions)
    for file in python.sources.python_files:
        if wanted is None or file in wanted:
            found += registrations_python.registrations_in(names, file)
    found += [one for one in _ctypes(cpp, names) if wanted is None or one.file in wanted]
    return sorted(dict.fromkeys(found), key=lambda one: (one.file, one.line))


def _ctypes(cpp: CppIndex, names: PythonNames) -> list[Registration]:
    """Functions of C linkage that Python takes from a library it has opened."""
    index = names.index
    openers = ("CDLL", "LoadLibrary", "PyDLL", "WinDLL", "dlopen")
    if not any(index.sources.containing(word, index.sources.python_files) for word in openers):
        return []
    used = {
        file: frozenset(re.findall(r"\.\s*([A-Za-z_]\w*)", index.sources.text(file)))
        for file in index.sources.python_files
    }
    exported = _exported(cpp, frozenset[str]().union(*used.values()))
    found: dict[str, Registration] = {}
    for file in index.sources.python_files:
        if not exported.keys() & used[file]:
            continue
        module = index.module(file)
        for node in syntax.walk(module.root, {"attribute"}):
            last = syntax.child(node, "attribute")
            name = syntax.text_of(last) if last is not None else ""
            if name not in exported or name in found:
                continue
            inside = _function_around(node, names, file)
            targets = names.evaluate(node, file, inside)
            if any(one.path == name and _LIBRARY.search(one.dotted) for one in targets):
                function = exported[name]
                found[name] = Registration(
                    "ctypes", syntax.text_of(node), function.symbol, function.file, function.line
                )
    return list(found.values())


def _function_around(node: Node, names: PythonNames, file: str) -> PyFunction | None:
    for above in syntax.ancestors(node):
        if above.type == "function_definition":
            found = (one for one in names.index.functions_in(file) if one.node == above)
            return next(found, None)
    return None


def _exported(cpp: CppIndex, words: frozenset[str]) -> dict[str, Function]:
    """Definitions with C linkage, said where they are or where they are declared.

    Of the names in `words` only: a file with no such name is not parsed.
    """
    declared: set[str] = set()
    for file in cpp.sources.cpp_files:
        text = cpp.sources.text(file)
        if 'extern "C"' in text and words & _behind_linkage(text):
            for function in cpp.functions_in(file):
                if has_c_linkage(function):
                    declared.add(function.name)
    found = {}
    for name in sorted(declared):
        definitions = [one for one in cpp.named(name) if one.is_definition and one.symbol == name]
        if definitions:
            found[name] = definitions[0]
    return found


def _behind_linkage(text: str) -> set[str]:
    """What may be functions of C linkage: names before brackets, one or those of a block."""
    found: set[str] = set()
    for match in re.finditer(r'extern "C"\s*(\{?)', text):
        if not match[1]:
            head = re.split(r"[;{]", text[match.end() : match.end() + 4000], maxsplit=1)[0]
            found.update(re.findall(r"(\w+)\s*\(", head))
            continue
        depth, start = 1, match.end()
        for bracket in re.finditer(r"[{}]", text[match.end() :]):
            at = match.end() + bracket.start()
            if depth == 1:
                found.update(re.findall(r"(\w+)\s*\(", text[start:at]))
            depth += 1 if bracket[0] == "{" else -1
            start = at + 1
            if depth == 0:
                break
        else:
            if depth == 1:
                found.update(re.findall(r"(\w+)\s*\(", text[start:]))
    return found


def has_c_linkage(function: Function) -> bool:
    """Whether it stands in an extern "C"."""
    return any(
        above.type == "linkage_specification" and '"C"' in syntax.raw_text_of(above)[:16]
        for above in syntax.ancestors(function.node)
    )
