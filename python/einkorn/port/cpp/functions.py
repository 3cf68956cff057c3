"""The functions that a C++ syntax tree declares and defines, with their full names."""

import dataclasses
import re
from typing import Protocol

from einkorn.port.cpp import declarators as cpp_declarators
from einkorn.port.cpp.declarators import Parameter
from einkorn.port.cpp.tokens import Macro, names
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

_CLASSES = {"class_specifier", "struct_specifier", "union_specifier"}
# Below these, declarations may stand.
_CONTAINERS = {
    "translation_unit",
    "declaration_list",
    "linkage_specification",
    "preproc_if",
    "preproc_ifdef",
    "preproc_else",
    "preproc_elif",
    "preproc_elifdef",
    "field_declaration_list",
    "friend_declaration",
    "type_definition",
    "ERROR",
}
_NOT_NAMES = names(
    "if for while switch catch return else do sizeof decltype alignas noexcept requires"
)
_NOT_TYPES = re.compile(r"\b(return|else|throw|new|delete|case|goto|co_return|and|or|not)\s*$")


@dataclasses.dataclass
class Function:
    symbol: str  # "outer::kernels::gemm", "Tensor::allocate", "Run::operator()"
    name: str  # the last component
    file: str
    line: int
    end_line: int
    parameters: list[Parameter]
    template_parameters: list[str]  # as written: "typename T", "int N = 4"
    returns: str
    is_kernel: bool  # __global__
    is_device: bool  # __device__, or a macro that says so
    is_definition: bool
    node: Node  # the function_definition; of a declaration, the whole declaration

    @property
    def body(self) -> Node | None:
        """The block; None for a declaration, `= default` and `= delete`."""
        return self.node.child_by_field_name("body") if self.is_definition else None


class MacroSource(Protocol):
    def macros_named(self, name: str, near: str = "") -> list[Macro]: ...


@dataclasses.dataclass(frozen=True)
class _Scope:
    names: tuple[str, ...] = ()
    template: Node | None = None  # the template_parameter_list right before


def functions_of(
    root: Node, file: str, raw: bytes, macros: MacroSource, scope: tuple[str, ...] = ()
) -> list[Function]:
    """All of one file, in its order. `raw` is the file's own text, byte for byte as in the tree.

    `scope`: the namespaces and classes around the text that `root` is the tree of.
    """
    found: list[Function] = []
    pending: list[tuple[Node, _Scope]] = [(root, _Scope(scope))]
    while pending:
        node, around = pending.pop()
        kind = node.type
        if kind == "function_definition":
            function = _function(node, around, file, raw, macros, is_definition=True)
            if function is not None:
                found.append(function)
            inner = function.symbol.split("::") if function else around.names
            pending += _local_classes(node, _Scope(tuple(inner)))
        elif kind in ("declaration", "field_declaration"):
            if function := _function(node, around, file, raw, macros, is_definition=False):
                found.append(function)
            pending += [(one, _Scope(around.names)) for one in syntax.children(node, *_CLASSES)]
        elif kind == "template_declaration":
            template = syntax.child(node, "parameters")
            pending += [(one, _Scope(around.names, template)) for one in node.named_children[::-1]]
        elif kind == "namespace_definition" or kind in _CLASSES:
            names = around.names + _scope_names(node)
            body = syntax.child(node, "body")
            pending += [(body, _Scope(names))] if body is not None else []
        elif kind in _CONTAINERS:
            pending += [(one, _Scope(around.names)) for one in node.named_children[::-1]]
    return sorted(found, key=lambda one: one.node.start_byte)


def may_declare(text: str, name: str) -> bool:
    """Whether `text` may declare a function of this name. Cheap, and never wrongly no.

    A call is told from a declaration by what stands behind the closing bracket.
    """
    pattern = re.escape(name)
    if name.startswith("operator"):
        pattern = r"operator\s*" + r"\s*".join(map(re.escape, name[len("operator") :].strip()))
    for found in re.finditer(rf"{pattern}\s*(?:<[^;{{}}]{{0,400}}?>\s*)?\(", text):
        before = text[max(0, found.start() - 60) : found.start()]
        if before[-1:].isalnum() or before.endswith("_"):
            continue
        before = before.rstrip()
        if before.endswith((".", "->", "=", "(", ",")) or _NOT_TYPES.search(before):
            continue
        behind = _behind_bracket(text, found.end())
        if behind is None or re.match(
            r"[{#]|:(?!:)|//|/\*|->|=\s*(0|default|delete)|\[\[|&&?\s*[{;]|[A-Za-z_]", behind
        ):
            return True
        if behind.startswith(";") and re.search(r"[\w*&>]$", before):
            return True
    return False


def names_behind(text: str, mark: str) -> set[str]:
    """The names of what a specifier such as __global__ stands before."""
    names = set()
    for found in re.finditer(rf"\b{re.escape(mark)}\b", text):
        for name in _NAME_AND_BRACKET.finditer(text, found.end(), found.end() + 2000):
            if not _ATTRIBUTE.search(name[1]):
                names.add(name[1])
                break
    return names


_NAME_AND_BRACKET = re.compile(r"\b([A-Za-z_]\w*)\s*(?:<[^;{}()]*>\s*)?\(")
_ATTRIBUTE = re.compile(r"^__\w+__$|BOUNDS|ALIGN|^alignas$|^decltype$|^std$")


def _behind_bracket(text: str, position: int) -> str | None:
    depth = 1
    for found in re.compile(r"[()]").finditer(text, position, position + 20_000):
        depth += 1 if found[0] == "(" else -1
        if depth == 0:
            return text[found.end() : found.end() + 40].lstrip()
    return None


def _local_classes(function: Node, scope: _Scope) -> list[tuple[Node, _Scope]]:
    body = syntax.child(function, "body")
    text = body.text if body is not None else None
    if body is None or not text or not re.search(rb"\b(struct|class|union)\b", text):
        return []
    classes = syntax.walk(body, _CLASSES, _CLASSES)
    return [(one, scope) for one in classes if syntax.child(one, "body") is not None]


def _scope_names(node: Node) -> tuple[str, ...]:
    name = syntax.child(node, "name")
    if name is None:  # a namespace or a class without a name
        return ()
    return tuple(cpp_declarators.components(name))


def _function(
    node: Node, scope: _Scope, file: str, raw: bytes, macros: MacroSource, is_definition: bool
) -> Function | None:
    declarator = cpp_declarators.function_declarator(node)
    if declarator is None:
        return None
    components = cpp_declarators.name_of(declarator)
    if not components or components[-1] in _NOT_NAMES:
        return None
    plain = syntax.child(node, "type") is None and not is_definition
    if plain and re.fullmatch(r"\w+", components[-1]) and components[-1] not in scope.names[-1:]:
        return None  # MACRO(x); neither a constructor nor anything else that has no type
    head = _head(node, raw)
    symbol = "::".join((*scope.names, *components))
    name_line = syntax.line_of(declarator)
    return Function(
        symbol=symbol,
        name=components[-1],
        file=file,
        line=name_line,
        end_line=node.end_point[0] + 1,
        parameters=cpp_declarators.parameters_of(declarator),
        template_parameters=cpp_declarators.template_parameters_of(scope.template),
        returns=cpp_declarators.returned_by(node, declarator),
        is_kernel=_says(head, "__global__", file, macros),
        is_device=_says(head, "__device__", file, macros),
        is_definition=is_definition,
        node=node,
    )


def _head(node: Node, raw: bytes) -> str:
    """What stands before the body, with specifiers that the tree may have had to leave out."""
    before = node.prev_sibling
    begin = before.end_byte if before is not None else 0
    if before is None and node.parent is not None and node.parent.parent is not None:
        begin = node.parent.start_byte
    body = syntax.child(node, "body")
    end = body.start_byte if body is not None else node.end_byte
    text = raw[begin:end].decode("utf-8", "replace")
    return re.sub(r"//[^\n]*|/\*(?s:.*?)\*/|^[ \t]*#(?:\\\n|[^\n])*", " ", text, flags=re.MULTILINE)


def _says(head: str, specifier: str, file: str, macros: MacroSource) -> bool:
    if specifier in head:
        return True
    wanted = specifier.strip("_").upper()
    for word in re.findall(r"\b[A-Z][A-Z0-9_]+\b", head):
        if re.search(rf"(^|_){wanted}(_|$)", word):
            return True
        if any(specifier in macro.body for macro in macros.macros_named(word, file)):
            return True
    return False
