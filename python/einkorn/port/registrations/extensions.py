"""Under which name the C++ of a repository is built into a module that Python imports."""

import re

from einkorn.port.python.index import PythonIndex, argument, module_name, string_of
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

_IMPORT = re.compile(
    r"(?:^|[:;])[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import\b[ \t]*(\([^)]*\)|[^\n]*)"
    r"|import[ \t]+([^\n#]+))",
    re.MULTILINE,
)


class Extensions:
    """Names from build scripts, from `load` calls, and from imports of what is no file here."""

    def __init__(self, python: PythonIndex) -> None:
        self._python = python
        self._built: list[tuple[str, list[str], str]] | None = None
        self._imported: list[str] | None = None

    def name_for(self, file: str) -> str:
        """The last part of the name of the module built of `file`; "" where none is told."""
        if self._built is None:
            self._built = _built(self._python)
        for name, sources, _ in self._built:
            if any(file == one or file.endswith("/" + one.lstrip("./")) for one in sources):
                return name.rsplit(".", 1)[-1]
        scripts = [name for name, _, script in self._built if script.endswith("setup.py")]
        if len(set(scripts)) == 1:
            return scripts[0].rsplit(".", 1)[-1]
        if self._imported is None:
            self._imported = _imported(self._python)
        return self._imported[0].rsplit(".", 1)[-1] if len(self._imported) == 1 else ""


def _built(python: PythonIndex) -> list[tuple[str, list[str], str]]:
    """Name, sources and script of each extension."""
    found = []
    for file in python.sources.python_files:
        text = python.sources.text(file)
        if "Extension(" not in text and "cpp_extension" not in text:
            continue
        for call in syntax.walk(python.module(file).root, {"call"}):
            callee = syntax.child(call, "function")
            word = syntax.text_of(callee).rsplit(".", 1)[-1] if callee is not None else ""
            name = string_of(argument(call, "name", 0))
            if name is None or not (word.endswith("Extension") or word == "load"):
                continue
            sources = argument(call, "sources", 1)
            found.append((name, sources_of(sources) if sources is not None else [], file))
    return found


def sources_of(node: Node) -> list[str]:
    """Paths in an expression: the literals of one member, joined as "/" joins them."""
    members = node.named_children if node.type in ("list", "tuple") else [node]
    found = []
    for member in members:
        parts = [string_of(one) or "" for one in syntax.walk(member, {"string"}, {"string"})]
        path = "/".join(part.strip("/") for part in parts if part)
        if path:
            found.append(path)
    return found


def _imported(python: PythonIndex) -> list[str]:
    known: dict[str, bool] = {}
    targets = {
        target: None
        for file in python.sources.python_files
        if _may_import_missing(file, python, known)
        for target in python.imports(file).values()
    }
    return [one for one in dict.fromkeys(_missing_module(one, python) for one in targets) if one]


def _may_import_missing(file: str, python: PythonIndex, known: dict[str, bool]) -> bool:
    """Whether to parse the file at all, told from the text; `known` keeps what was found out."""

    def is_missing(dotted: str) -> bool:
        if dotted not in known:
            known[dotted] = bool(_missing_module(dotted, python))
        return known[dotted]

    own = module_name(file).split(".")
    for base, names, modules in _IMPORT.findall(python.sources.text(file).replace("\\\n", " ")):
        if any(is_missing(module) for module in re.findall(r"[\w.]+", modules)):
            return True
        dots = len(base) - len(base.lstrip("."))
        package = own[: len(own) - dots + file.endswith("__init__.py")] if dots else []
        full = ".".join([*package, *filter(None, base.lstrip(".").split("."))])
        if base and any(is_missing(f"{full}.{name}") for name in re.findall(r"\w+", names)):
            return True
    return False


def _missing_module(dotted: str, index: PythonIndex) -> str:
    """The module that `dotted` needs and that is not here, though the package around it is."""
    parts = dotted.split(".")
    for count in range(1, len(parts)):
        package = index.file_of_module(".".join(parts[:count]))
        if package is None or not package.endswith("__init__.py"):
            return ""
        below = ".".join(parts[: count + 1])
        if index.file_of_module(below) is None:
            module = index.module(package)
            known = {*module.top, *module.classes, *module.assigned}
            if parts[count] in known or index.has_package(below):
                return ""
            if parts[count] in module.imports and module.imports[parts[count]] != below:
                return ""
            return "" if module.star_imports else below
    return ""
