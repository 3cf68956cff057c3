"""Parts of C++ syntax trees that a contract's checks are read from."""

import re

from einkorn.port.sources.syntax import Node, raw_text_of, walk

_ANY_NUMBER = 1 << 10


def message_pattern(text: str, values: list[str | None]) -> tuple[str, str]:
    """A regular expression for what fmt makes of `text`, and the same for people."""
    pattern, shown, following = "", "", 0
    for part in re.split(r"(\{\{|\}\}|\{[^{}]*\})", text):
        found = re.fullmatch(r"\{(\d*)(:[^{}]*)?\}", part)
        if part in ("{{", "}}"):
            pattern, shown = pattern + re.escape(part[0]), shown + part[0]
        elif found is None:
            pattern, shown = pattern + re.escape(part), shown + part
        else:
            at = int(found[1]) if found[1] else following
            following = at + 1
            value = values[at] if at < len(values) else None
            pattern += re.escape(value) if value is not None else ".*?"
            shown += value if value is not None else "..."
    return pattern, shown


def string_of(node: Node) -> str | None:
    """The value of a string literal, or of several in a row."""
    if node.type not in ("string_literal", "concatenated_string", "raw_string_literal"):
        return None
    escapes = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\\\": "\\", "\\'": "'"}
    parts = walk(node, {"string_content", "escape_sequence", "raw_string_content"})
    return "".join(escapes.get(raw_text_of(one), raw_text_of(one)) for one in parts)


def parts_of(listed: Node) -> list[Node]:
    """The elements of a list of arguments or in braces."""
    return [one for one in listed.named_children if one.type != "comment"]


def plain(node: Node) -> Node:
    """`rows(argument)` reads as the declaration of a function: its parameter's type is the name
    that is given.
    """
    kind = node.child_by_field_name("type") if node.type == "parameter_declaration" else None
    return kind if kind is not None else node


def name_of(function: Node) -> str:
    return declared_name(function).rsplit("::", 1)[-1]


def declared_name(function: Node) -> str:
    """With its qualifiers: "RmsNorm::match"."""
    for one in walk(function, {"function_declarator"}, {"compound_statement"}):
        name = one.child_by_field_name("declarator")
        return raw_text_of(name) if name is not None else ""
    return ""


def _parameters(function: Node) -> list[Node]:
    """Of a function or a lambda."""
    kinds = {"function_declarator", "lambda_declarator"}
    for one in walk(function, kinds, {"compound_statement"}):
        given = one.child_by_field_name("parameters")
        return parts_of(given) if given is not None else []
    return []


def parameter_names(function: Node) -> list[str]:
    """Names of a function's parameters, "" for one without."""
    names = []
    for parameter in _parameters(function):
        declarator = parameter.child_by_field_name("declarator")
        inner = walk(declarator, {"identifier"}) if declarator is not None else iter(())
        name = next(inner, None)
        names.append(raw_text_of(name) if name is not None else "")
    return names


def arity(function: Node) -> tuple[int, int]:
    """The fewest and the most arguments that a call may have."""
    kinds = [one.type for one in _parameters(function)]
    packs = sum(kind == "variadic_parameter_declaration" for kind in kinds)
    defaults = sum(kind == "optional_parameter_declaration" for kind in kinds)
    return len(kinds) - packs - defaults, _ANY_NUMBER if packs else len(kinds)


def methods(function: Node) -> set[str]:
    """Names of all members that a function calls."""
    return {raw_text_of(one) for one in walk(function, {"field_identifier"})}


def chain_of(call: Node) -> set[str]:
    """Names of the members called on a call's result, one on the other's."""
    out: set[str] = set()
    node: Node | None = call
    while node is not None and (above := node.parent) is not None:
        if above.type == "field_expression":
            field = above.child_by_field_name("field")
            out.add(raw_text_of(field) if field is not None else "")
        elif above.type != "call_expression" or above.child_by_field_name("function") != node:
            break
        node = above
    return out
