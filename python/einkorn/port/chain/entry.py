"""Which functions the entry of a survey names."""

import difflib
import re

from einkorn.port.chain.python import Registered
from einkorn.port.cpp.index import CppIndex, Function
from einkorn.port.errors import PortError
from einkorn.port.model import Registration
from einkorn.port.python.index import PyFunction, PythonIndex


def entries_of(
    cpp: CppIndex, python: PythonIndex, registrations: list[Registration], entry: str
) -> list[Function | PyFunction]:
    """The functions that an entry names: of Python if there are any, else of C++."""
    file, _, name = entry.rpartition(":")
    if file.endswith(":") or not is_file(file, cpp):
        file, name = "", entry
    if is_file(entry, cpp):
        file, name = entry, ""
    found: list[Function | PyFunction] = []
    if file and not name:
        found = _public_functions(cpp, python, file)
    else:
        found = list(_named_python(python, name, file) or _named_cpp(cpp, name, file))
    if not found and not file:
        for one in Registered(registrations, python).public(entry):
            found += _named_python(python, one.symbol, "") or _named_cpp(cpp, one.symbol, "")
    if not found:
        raise PortError(
            "op", "a function or a file of the repository", f"'{entry}'", _near(cpp, python, entry)
        )
    return list({(one.file, one.line): one for one in found}.values())


def is_file(name: str, cpp: CppIndex) -> bool:
    return name in cpp.sources.files


def _public_functions(cpp: CppIndex, python: PythonIndex, file: str) -> list[Function | PyFunction]:
    if file.endswith(".py"):
        module = python.module(file)
        return [one for one in module.functions if one.name in module.top and one.is_public()]
    return [
        one
        for one in cpp.functions_in(file)
        if one.is_definition and not (one.is_device or one.is_kernel or one.name.isupper())
    ]


def _named_python(python: PythonIndex, name: str, file: str) -> list[PyFunction]:
    if "::" in name:
        return []
    found = [one for one in python.named(name) if not file or one.file == file]
    if not found:
        found = [one for one in _run_by(python, name) if not file or one.file == file]
    own = [one for one in found if not python.sources.is_test(one.file)]
    top = [one for one in own if one.name in python.module(one.file).top]
    return top or own or found


def _run_by(python: PythonIndex, name: str) -> list[PyFunction]:
    """What using a class runs: of an autograd function both ways, of a module its call."""
    both = python.named(f"{name}.forward")
    files = {one.file for one in both}
    both += [one for one in python.named(f"{name}.backward") if one.file in files]
    return both or python.named(f"{name}.__call__")


def _named_cpp(cpp: CppIndex, name: str, file: str) -> list[Function]:
    if not re.search(r"\w", name) or "(" in name:
        return []
    found = [one for one in cpp.named(name) if one.is_definition and one.file == (file or one.file)]
    return [one for one in found if not cpp.sources.is_test(one.file)] or found


def _near(cpp: CppIndex, python: PythonIndex, entry: str) -> str:
    """A hint with names that are alike."""
    last = re.split(r"[:.]+", entry)[-1].lower()
    words = {
        function.name
        for file in python.sources.python_files
        if not python.sources.is_test(file) and last[:4] in python.sources.text(file).lower()
        for function in python.functions_in(file)
    }
    words |= {
        word
        for file in cpp.sources.cpp_files
        for word in cpp.sources.words(file)
        if last[:4] in word.lower()
    }
    alike = difflib.get_close_matches(last, sorted(words), 5, 0.6)
    return f"alike: {', '.join(alike)}" if alike else "name it as its source does"
