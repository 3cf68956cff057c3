"""Expressions from the syntax trees of C++ and Python."""

import dataclasses

from einkorn.port.conditions.expressions import Expr, attribute, name
from einkorn.port.sources.syntax import Node, parse_cpp, parse_python, text_of, walk

_SPELT = {"and": "&&", "or": "||", "not": "!", "is": "==", "is not": "!=", "<>": "!="}
_DEEPEST = 60  # of nodes within nodes; conditions have some ten
_CASTS = {"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"}


def from_cpp(node: Node) -> Expr:
    """The expression that a C++ node spells; its text alone where it nests too deeply."""
    return _cpp(node) if _is_shallow(node) else Expr("other", (), text_of(node))


def from_python(node: Node) -> Expr:
    """The expression that a Python node spells; its text alone where it nests too deeply."""
    return _python(node) if _is_shallow(node) else Expr("other", (), text_of(node))


def _is_shallow(node: Node) -> bool:
    """Whether its depth is safe for functions that call themselves."""
    pending = [(node, 0)]
    while pending:
        one, depth = pending.pop()
        if depth > _DEEPEST:
            return False
        pending += [(child, depth + 1) for child in one.children]
    return True


def of_text(text: str, python: bool = False) -> Expr:
    """The expression that a text spells."""
    if python:
        root = parse_python(f"({text})\n")
        node = next((one for one in root.children if one.type == "expression_statement"), None)
        return from_python(node.children[0]) if node is not None else Expr("other", (), text)
    root = parse_cpp(f"auto e = ({text});")
    node = root.children[0].child_by_field_name("declarator") if root.children else None
    value = node.child_by_field_name("value") if node is not None else None
    return from_cpp(value) if value is not None else Expr("other", (), text)


def _named(node: Node) -> list[Node]:
    return [one for one in node.children if one.is_named and one.type != "comment"]


def _field(node: Node, field: str) -> Node | None:
    return node.child_by_field_name(field)


def _other(node: Node, python: bool) -> Expr:
    convert = _python if python else _cpp
    return Expr("other", tuple(convert(one) for one in _named(node)), text_of(node))


def _cpp(node: Node) -> Expr:
    kind = node.type
    if kind in ("number_literal", "char_literal", "true", "false"):
        return Expr("number", (), text_of(node))
    if kind in ("parenthesized_expression", "condition_clause", "type_descriptor"):
        inner = _named(node)
        if len(inner) == 1 and kind != "type_descriptor":
            return _cpp(inner[0])
        return name(text_of(node))
    if kind == "field_expression":
        return _cpp_field(node)
    if kind == "subscript_expression":
        base, indices = _field(node, "argument"), _field(node, "indices")
        found = [_cpp(one) for one in _named(indices)] if indices is not None else []
        return Expr("index", (_or_text(base, node), *found))
    if kind in ("binary_expression", "assignment_expression"):
        left, right, operator = (_field(node, one) for one in ("left", "right", "operator"))
        op = text_of(operator) if operator is not None else "?"
        return Expr(_SPELT.get(op, op), (_or_text(left, node), _or_text(right, node)))
    if kind in ("unary_expression", "pointer_expression"):
        argument, operator = _field(node, "argument"), _field(node, "operator")
        op = text_of(operator) if operator is not None else "-"
        op = {"-": "neg", "*": "deref", "&": "addr"}.get(op, _SPELT.get(op, op))
        return Expr(op, (_or_text(argument, node),))
    return _cpp_compound(node, kind)


def _cpp_compound(node: Node, kind: str) -> Expr:
    if kind == "conditional_expression":
        fields = ("condition", "consequence", "alternative")
        return Expr("?", tuple(_or_text(_field(node, one), node) for one in fields))
    if kind == "cast_expression":
        to, value = _field(node, "type"), _field(node, "value")
        return Expr("cast", (_or_text(value, node),), text_of(to) if to is not None else "")
    if kind == "call_expression":
        return _cpp_call(node)
    if kind in ("initializer_list", "argument_list"):
        return Expr("list", tuple(_cpp(one) for one in _named(node)))
    if kind == "initializer_pair":
        value, at = _field(node, "value"), _field(node, "designator")
        word = text_of(at).lstrip(".") if at is not None else ""
        return Expr("keyword", (_or_text(value, node),), word)
    if kind in ("identifier", "qualified_identifier", "this", "null", "nullptr", "type_identifier"):
        return name(text_of(node))
    if kind in ("template_function", "field_identifier", "primitive_type", "template_type"):
        return name(text_of(node))
    if kind == "lambda_expression":
        return _cpp_lambda(node)
    return _other(node, python=False)


def _cpp_lambda(node: Node) -> Expr:
    """[](Tensor t) { return value; }: what it returns, with t as the word; others have no value."""
    body, head = _field(node, "body"), _field(node, "declarator")
    statements = _named(body) if body is not None else []
    if len(statements) == 1 and statements[0].type == "return_statement" and head is not None:
        names = list(walk(head, {"identifier"}))
        values = _named(statements[0])
        if len(values) == 1 and len(names) == 1:
            return Expr("lambda", (_cpp(values[0]),), text_of(names[0]))
    return Expr("other", (), "[lambda]")


def _or_text(node: Node | None, around: Node) -> Expr:
    return _cpp(node) if node is not None else Expr("other", (), text_of(around))


def _cpp_field(node: Node) -> Expr:
    base, field = _field(node, "argument"), _field(node, "field")
    word = text_of(field) if field is not None else ""
    return attribute(_or_text(base, node), word.removeprefix("template "))


def _cpp_call(node: Node) -> Expr:
    callee, arguments = _field(node, "function"), _field(node, "arguments")
    values = tuple(_cpp(one) for one in _named(arguments)) if arguments is not None else ()
    if callee is None:
        return _other(node, python=False)
    function = _cpp(callee)
    template = ""
    if function.op in ("name", "attribute") and function.word.endswith(">"):
        plain, _, template = function.word[:-1].partition("<")
        function = dataclasses.replace(function, word=plain)
    if function.word in _CASTS and len(values) == 1:
        return Expr("cast", values, template)
    return Expr("call", (function, *values), template)


def _python(node: Node) -> Expr:
    kind = node.type
    if kind in ("integer", "float", "true", "false"):
        return Expr("number", (), text_of(node))
    if kind == "parenthesized_expression":
        return _python(_named(node)[0]) if _named(node) else _other(node, python=True)
    if kind == "attribute":
        base, word = _field(node, "object"), _field(node, "attribute")
        if base is not None and word is not None:
            return attribute(_python(base), text_of(word))
    if kind == "subscript":
        base = _field(node, "value")
        if base is not None:
            indices = [_python(one) for one in node.children_by_field_name("subscript")]
            return Expr("index", (_python(base), *indices))
    if kind in ("binary_operator", "boolean_operator"):
        left, right, operator = (_field(node, one) for one in ("left", "right", "operator"))
        if left is not None and right is not None and operator is not None:
            op = text_of(operator)
            return Expr(_SPELT.get(op, op), (_python(left), _python(right)))
    if kind == "comparison_operator":
        return _python_comparison(node)
    if kind in ("not_operator", "unary_operator"):
        argument = _field(node, "argument")
        op = "!" if kind == "not_operator" else "~" if text_of(node).startswith("~") else "neg"
        if argument is not None:
            return Expr(op, (_python(argument),))
    return _python_compound(node, kind)


def _python_compound(node: Node, kind: str) -> Expr:
    if kind == "conditional_expression" and len(_named(node)) == 3:
        then, condition, other = (_python(one) for one in _named(node))
        return Expr("?", (condition, then, other))
    if kind == "call":
        callee, arguments = _field(node, "function"), _field(node, "arguments")
        if callee is not None and arguments is not None:
            values = (_python(one) for one in _named(arguments))
            return Expr("call", (_python(callee), *values))
    if kind == "keyword_argument":
        word, value = _field(node, "name"), _field(node, "value")
        if word is not None and value is not None:
            return Expr("keyword", (_python(value),), text_of(word))
    if kind in ("tuple", "list", "set", "expression_list"):
        return Expr("list", tuple(_python(one) for one in _named(node)))
    if kind in ("identifier", "none"):
        return name(text_of(node))
    return _other(node, python=True)


def _python_comparison(node: Node) -> Expr:
    """`a < b < c` is `a < b and b < c`."""
    operands = [_python(one) for one in _named(node)]
    words = " ".join(text_of(one) for one in node.children if not one.is_named)
    joined = words.replace("is not", "!=").replace("not in", "not_in").replace("is", "==").split()
    pairs = [
        Expr("not in" if op == "not_in" else _SPELT.get(op, op), (operands[i], operands[i + 1]))
        for i, op in enumerate(joined[: len(operands) - 1])
    ]
    result = pairs[0] if pairs else _other(node, python=True)
    for one in pairs[1:]:
        result = Expr("&&", (result, one))
    return result
