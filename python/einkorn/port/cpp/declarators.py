"""Names, parameters and types of C++ declarations, out of their declarators."""

import dataclasses
import re

from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node


@dataclasses.dataclass(frozen=True)
class Parameter:
    name: str  # "" where the declaration names none
    type: str
    default: str = ""


def components(name: Node) -> list[str]:
    """ "a::b" and "X<T>::f" taken apart, without template arguments."""
    parts: list[str] = []
    pending = [name]
    while pending:
        node = pending.pop()
        if node.type in ("qualified_identifier", "nested_namespace_specifier"):
            pending += [one for one in node.named_children[::-1]]
        elif node.type in ("template_type", "template_function", "template_method"):
            inner = syntax.child(node, "name")
            pending += [inner] if inner is not None else []
        elif node.type == "dependent_name":
            pending += node.named_children[::-1]
        elif node.type != "template_argument_list":
            parts.append(re.sub(r"\s+", "", syntax.text_of(node)))
    return [part for part in parts if part]


def function_declarator(node: Node) -> Node | None:
    """Under pointers and references of the returned type; None where a variable is declared."""
    inner = syntax.child(node, "declarator")
    while inner is not None and inner.type not in ("function_declarator", "operator_cast"):
        value = syntax.child(inner, "value")
        is_deleted = value is not None and value.type == "delete_expression"
        if is_deleted or inner.type in (
            "pointer_declarator",
            "reference_declarator",
            "attributed_declarator",
        ):
            inner = syntax.child(inner, "declarator") or next(
                (one for one in inner.named_children if "declarator" in one.type), None
            )
        else:
            return None
    if inner is None:
        return None
    named = syntax.child(inner, "declarator")
    if named is not None and named.type == "parenthesized_declarator":  # a pointer to a function
        return None
    return inner


def name_of(declarator: Node) -> list[str]:
    if declarator.type == "operator_cast":
        kind = syntax.child(declarator, "type")
        return ["operator" + (syntax.text_of(kind) if kind is not None else "")]
    name = syntax.child(declarator, "declarator")
    while name is not None and name.type == "function_declarator":  # MACRO(x)(y) {
        name = syntax.child(name, "declarator")
    return components(name) if name is not None else []


def parameters_of(declarator: Node) -> list[Parameter]:
    listed = syntax.child(declarator, "parameters")
    if listed is None:  # an operator_cast holds its declarator one deeper
        return []
    found = []
    for node in listed.named_children:
        if "parameter_declaration" in node.type:
            found.append(_parameter(node))
        elif node.type in ("variadic_parameter", "..."):
            found.append(Parameter("", "..."))
    return [] if [one.type for one in found] == ["void"] and not found[0].name else found


def _parameter(node: Node) -> Parameter:
    default = syntax.child(node, "default_value")
    declarator = syntax.child(node, "declarator")
    name = None
    if declarator is not None:
        name = next(syntax.walk(declarator, {"identifier", "field_identifier"}), None)
    whole = syntax.text_of(node)
    if default is not None:
        whole = re.sub(r"\s*=\s*$", "", whole[: len(whole) - len(syntax.text_of(default))])
    spelt = syntax.text_of(name) if name is not None else ""
    kind = re.sub(rf"\s*\b{re.escape(spelt)}\b(?=[^\w]*(\[.*\])?$)", "", whole) if spelt else whole
    return Parameter(spelt, kind.strip(), syntax.text_of(default) if default is not None else "")


def template_parameters_of(template: Node | None) -> list[str]:
    if template is None:
        return []
    return [syntax.text_of(one) for one in template.named_children if one.type != "comment"]


def returned_by(node: Node, declarator: Node) -> str:
    trailing = next(iter(syntax.children(declarator, "trailing_return_type")), None)
    if trailing is not None:
        return syntax.text_of(trailing).removeprefix("->").strip()
    kind = syntax.child(node, "type")
    if kind is None:
        return ""
    suffix = ""
    inner = syntax.child(node, "declarator")
    while inner is not None and inner != declarator:
        suffix += {"pointer_declarator": "*", "reference_declarator": "&"}.get(inner.type, "")
        inner = syntax.child(inner, "declarator") or next(
            (one for one in inner.named_children if "declarator" in one.type), None
        )
    qualifiers = [syntax.text_of(one) for one in syntax.children(node, "type_qualifier")]
    const = "const " if "const" in qualifiers else ""
    return const + syntax.text_of(kind) + suffix
