"""The scope of one function, read from its syntax tree."""

import re
from collections.abc import Iterator

from einkorn.port.conditions.constants import Constants
from einkorn.port.conditions.expressions import Expr
from einkorn.port.conditions.parse import from_cpp, from_python
from einkorn.port.conditions.scopes import Scope
from einkorn.port.cpp.index import CppIndex, Function
from einkorn.port.python.index import PyFunction
from einkorn.port.sources.syntax import Node, children, line_of, text_of, walk

_DECLARATORS = {"pointer_declarator", "reference_declarator", "array_declarator"}


class Structs:
    """The fields of the structs of a tree, in their order."""

    def __init__(self, index: CppIndex) -> None:
        self._index = index
        self._fields: dict[str, list[str]] = {}

    def fields_of(self, written: str) -> list[str]:
        """Of the type of that name; [] where it is unknown, a scalar or has bases."""
        word = written.rsplit("::", 1)[-1].strip()
        if not re.fullmatch(r"[A-Z]\w+", word):
            return []
        if word not in self._fields:
            self._fields[word] = next(filter(None, map(_fields_in, self._definitions(word))), [])
        return self._fields[word]

    def _definitions(self, word: str) -> Iterator[Node]:
        pattern = re.compile(rf"\b(struct|class)\s+{word}\b[^;(]*\{{")
        for file in self._index.files_with(word):
            if pattern.search(self._index.sources.text(file)):
                for node in walk(self._index.root(file), {"struct_specifier", "class_specifier"}):
                    name_node = node.child_by_field_name("name")
                    if name_node is not None and text_of(name_node) == word:
                        yield node


def _fields_in(struct: Node) -> list[str]:
    body = struct.child_by_field_name("body")
    found: list[str] = []
    for member in children(body, "field_declaration") if body is not None else []:
        if not any(walk(member, {"function_declarator"})):
            found += [text_of(one) for one in walk(member, {"field_identifier"})]
    return found


def add_constants(scope: Scope, function: Function, constants: Constants) -> None:
    """Defines the named numbers that the function uses and does not define itself."""
    for node in walk(function.node, {"identifier", "qualified_identifier"}):
        word = text_of(node)
        last = word.rsplit("::", 1)[-1]
        named = last.isupper() or re.match(r"k[A-Z]", last) is not None
        if not named or word in scope.definitions or last in scope.template_parameters:
            continue
        value = constants.value_of(word, function.file)
        if value is not None and word not in scope.parameters:
            scope.define(word, 0, value)


def cpp_scope(function: Function, structs: Structs) -> Scope:
    """Parameters, locals and the fields of structs that the function fills."""
    scope = Scope([one.name for one in function.parameters if one.name])
    scope.template_parameters = [
        words[-1]
        for one in function.template_parameters
        if (words := re.findall(r"[A-Za-z_]\w*", one.partition("=")[0]))
    ]
    kinds = {"init_declarator", "assignment_expression", "for_range_loop", "declaration"}
    for node in walk(function.node, kinds):
        if any(word in scope.template_parameters for word in _declares(node)):
            continue  # for an editor's eyes, as in #ifdef __INTELLISENSE__
        if node.type == "init_declarator":
            _declared(node, scope, structs)
        elif node.type == "assignment_expression":
            _assigned(node, scope)
        elif node.type == "for_range_loop":
            _ranged(node, scope)
    return scope


def _declares(node: Node) -> list[str]:
    declarator = node.child_by_field_name("declarator")
    return [text_of(declarator)] if declarator is not None else []


def _declared(node: Node, scope: Scope, structs: Structs) -> None:
    declarator, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
    if declarator is None or value is None:
        return
    held = from_cpp(value)
    if declarator.type == "structured_binding_declarator":
        names = [text_of(one) for one in declarator.children if one.type == "identifier"]
        for i, word in enumerate(names):
            scope.define(word, line_of(node), _element(held, i))
        return
    while declarator.type in _DECLARATORS:
        inner = [one for one in declarator.children if one.is_named]
        if not inner:
            return
        declarator = inner[-1] if declarator.type != "array_declarator" else inner[0]
    word = text_of(declarator)
    if held.op == "list" and len(held.parts) == 1 and held.parts[0].op != "keyword":
        held = held.parts[0]  # int n{x.size(0)}
    if value.type == "argument_list" and held.op == "list" and held.parts:
        held = held.parts[0]  # dim3 grid(n): its first extent
    scope.define(word, line_of(node), held)
    if held.op == "list":
        _fill_fields(node, word, held, scope, structs)


def _fill_fields(node: Node, word: str, held: Expr, scope: Scope, structs: Structs) -> None:
    """`Params p = {a, b}` and `Params p{.x = a}` fill p's fields."""
    kind = node.parent.child_by_field_name("type") if node.parent is not None else None
    fields = structs.fields_of(text_of(kind)) if kind is not None else []
    for i, one in enumerate(held.parts):
        if one.op == "keyword":
            scope.define(f"{word}.{one.word}", line_of(node), one.parts[0])
        elif i < len(fields):
            scope.define(f"{word}.{fields[i]}", line_of(node), one)


def _element(held: Expr, i: int) -> Expr:
    if held.op == "list" and i < len(held.parts):
        return held.parts[i]
    return Expr("index", (held, Expr("number", (), str(i))))


def _assigned(node: Node, scope: Scope) -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None or operator is None or text_of(operator) != "=":
        return
    target = from_cpp(left)
    if target.op == "name" and target.word not in scope.parameters:
        scope.define(target.word, line_of(node), from_cpp(right))
    elif target.op == "attribute" and target.parts[0].op == "name":
        scope.define(f"{target.parts[0].word}.{target.word}", line_of(node), from_cpp(right))


def _ranged(node: Node, scope: Scope) -> None:
    declarator, right = node.child_by_field_name("declarator"), node.child_by_field_name("right")
    if declarator is not None and right is not None:
        word = next((text_of(one) for one in walk(declarator, {"identifier"})), "")
        if word:
            scope.define(word, line_of(node), Expr("each", (from_cpp(right),)))


def python_scope(function: PyFunction) -> Scope:
    """Parameters and locals of a Python function."""
    scope = Scope([one.name.lstrip("*") for one in function.parameters if one.name], python=True)
    for node in walk(function.node, {"assignment", "for_statement", "named_expression"}):
        left = node.child_by_field_name("left") or node.child_by_field_name("name")
        right = node.child_by_field_name("right") or node.child_by_field_name("value")
        if left is None or right is None:
            continue
        held = from_python(right)
        if node.type == "for_statement":
            held = Expr("each", (held,))
        if left.type == "identifier" and text_of(left) not in scope.parameters:
            scope.define(text_of(left), line_of(node), held)
        elif left.type in ("pattern_list", "tuple_pattern"):
            words = [text_of(one) for one in left.children if one.is_named]
            for i, word in enumerate(words):
                element = _element(held, i) if held.op != "each" else held
                scope.define(word, line_of(node), element)
    return scope
