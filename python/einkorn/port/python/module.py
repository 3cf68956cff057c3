"""What one Python file defines: functions, classes, imports, names given at the top level."""

import dataclasses
import pathlib
import re

from einkorn.port.cpp.index import Parameter
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

# Where the path to a package begins, in repositories that keep their packages below the root.
_SOURCE_FOLDERS = {"src", "python", "lib"}
_SCOPES = frozenset({"function_definition", "class_definition", "lambda"})
# Definitions and imports stand below these only; walking expressions would take most of the time.
_HOLDS_STATEMENTS = {
    *("module", "block", "function_definition", "class_definition", "decorated_definition"),
    *("if_statement", "elif_clause", "else_clause", "try_statement", "except_clause", "ERROR"),
    *("except_group_clause", "finally_clause", "with_statement", "for_statement"),
    *("while_statement", "match_statement", "case_clause"),
}


@dataclasses.dataclass
class PyFunction:
    name: str
    symbol: str  # "package.module.Class.function"
    file: str
    line: int  # of `def`
    end_line: int
    parameters: list[Parameter]
    decorators: list[str]  # as written, without "@"
    node: Node  # the function_definition

    def is_method(self) -> bool:
        return enclosing_class(self.node) is not None

    def is_public(self) -> bool:
        return not any(part.startswith("_") for part in self.symbol.split(".")[-2:])


@dataclasses.dataclass
class PyClass:
    name: str
    symbol: str
    file: str
    line: int
    bases: list[Node]
    methods: dict[str, PyFunction]
    node: Node


@dataclasses.dataclass
class PyModule:
    """What one file defines, under the names at its top level."""

    file: str
    name: str  # dotted
    root: Node
    functions: list[PyFunction]  # nested ones and methods as well, in the order of the text
    top: dict[str, PyFunction]
    classes: dict[str, PyClass]
    imports: dict[str, str]  # local name -> absolute dotted name; those in functions as well
    star_imports: list[str]
    assigned: dict[str, list[Node]]  # name -> the values assigned at the top level


def read_module(file: str, text: str) -> PyModule:
    root = syntax.parse_python(text)
    module = PyModule(file, module_name(file), root, [], {}, {}, {}, [], {})
    pending: list[tuple[Node, bool]] = [(root, True)]  # and whether it is at the top level
    while pending:
        node, top = pending.pop()
        kind = node.type
        if kind in ("import_statement", "import_from_statement"):
            _read_import(node, module)
        elif kind == "expression_statement":
            if top:
                _read_assignment(node, module)
        elif kind in _HOLDS_STATEMENTS:
            if kind == "class_definition":
                _read_class(node, module)
            elif kind == "function_definition":
                _read_function(node, module)
            inner = top and kind not in _SCOPES
            pending += [(one, inner) for one in reversed(node.named_children)]
    return module


def _read_assignment(statement: Node, module: PyModule) -> None:
    for node in syntax.children(statement, "assignment"):
        left, right = syntax.child(node, "left"), syntax.child(node, "right")
        if left is not None and right is not None and left.type == "identifier":
            module.assigned.setdefault(syntax.text_of(left), []).append(right)


def _read_class(node: Node, module: PyModule) -> None:
    name = syntax.child(node, "name")
    if name is None:
        return
    bases = syntax.child(node, "superclasses")
    read = PyClass(
        syntax.text_of(name),
        _symbol(node, module),
        module.file,
        syntax.line_of(node),
        [one for one in bases.named_children if one.type != "keyword_argument"] if bases else [],
        {},
        node,
    )
    module.classes.setdefault(read.symbol.removeprefix(module.name + "."), read)


def _read_function(node: Node, module: PyModule) -> None:
    name = syntax.child(node, "name")
    if name is None:
        return
    function = PyFunction(
        syntax.text_of(name),
        _symbol(node, module),
        module.file,
        syntax.line_of(node),
        node.end_point[0] + 1,
        _parameters(syntax.child(node, "parameters")),
        [syntax.text_of(one) for one in decorators_of(node)],
        node,
    )
    module.functions.append(function)
    owner = function.symbol.removeprefix(module.name + ".").rpartition(".")[0]
    if not owner:
        module.top[function.name] = function
    elif owner in module.classes:
        module.classes[owner].methods[function.name] = function


def _parameters(node: Node | None) -> list[Parameter]:
    found = []
    for one in node.named_children if node is not None else []:
        named = syntax.child(one, "name") or (one.named_children[0] if one.named_children else one)
        if one.type == "comment" or not re.fullmatch(r"\**\w+", syntax.text_of(named)):
            continue
        kind, default = syntax.child(one, "type"), syntax.child(one, "value")
        stars = {"list_splat_pattern": "*", "dictionary_splat_pattern": "**"}.get(one.type, "")
        found.append(
            Parameter(
                stars + syntax.text_of(named),
                syntax.text_of(kind) if kind is not None else "",
                syntax.text_of(default) if default is not None else "",
            )
        )
    return found


def _symbol(node: Node, module: PyModule) -> str:
    parts = []
    above: Node | None = node
    while above is not None:
        name = syntax.child(above, "name") if above.type in _SCOPES else None
        if name is not None:
            parts.append(syntax.text_of(name))
        above = above.parent
    return ".".join([module.name, *reversed(parts)])


def enclosing_class(node: Node) -> Node | None:
    for above in syntax.ancestors(node):
        if above.type in _SCOPES:
            return above if above.type == "class_definition" else None
    return None


def _read_import(node: Node, module: PyModule) -> None:
    source = syntax.child(node, "module_name")
    prefix = "" if source is None else _absolute(syntax.text_of(source), module)
    if syntax.children(node, "wildcard_import"):
        module.star_imports.append(prefix)
    for one in node.children_by_field_name("name"):
        name, alias = syntax.child(one, "name") or one, syntax.child(one, "alias")
        dotted = syntax.text_of(name)
        target = f"{prefix}.{dotted}" if prefix else dotted
        if alias is not None:
            module.imports[syntax.text_of(alias)] = target
        elif source is None:  # import a.b binds a
            module.imports[dotted.partition(".")[0]] = dotted.partition(".")[0]
        else:
            module.imports[dotted] = target


def _absolute(written: str, module: PyModule) -> str:
    dots = len(written) - len(written.lstrip("."))
    if not dots:
        return written
    package = module.name.split(".")
    if not module.file.endswith("__init__.py"):
        package = package[:-1]
    package = package[: len(package) - (dots - 1)]
    return ".".join([*package, *filter(None, [written[dots:]])])


def module_name(file: str) -> str:
    """The dotted name under which a file is imported, folders such as src/ left out."""
    parts = list(pathlib.PurePosixPath(file).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    while len(parts) > 1 and parts[0] in _SOURCE_FOLDERS:
        parts.pop(0)
    return ".".join(parts) or "__init__"


def decorators_of(function: Node) -> list[Node]:
    """The expressions after "@"."""
    above = function.parent
    if above is None or above.type != "decorated_definition":
        return []
    return [one.named_children[0] for one in syntax.children(above, "decorator")]
