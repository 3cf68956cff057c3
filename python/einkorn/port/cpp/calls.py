"""What a C++ function calls: in its own text, in lambdas, in the arguments and bodies of macros."""

import dataclasses
import re
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from einkorn.port.cpp import macros as cpp_macros
from einkorn.port.cpp import names as cpp_names
from einkorn.port.cpp.functions import Function
from einkorn.port.cpp.tokens import Macro, names
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

_KINDS = names("call_expression new_expression declaration expression_statement field_initializer")
# A macro that calls macros is looked through so deep; recursion in it ends there too.
_DEEPEST_MACRO = 4
# A cast, or something that only the running program knows.
_NO_NAMES = names("primitive_type call_expression parenthesized_expression lambda_expression")
_CASTS = names("static_cast reinterpret_cast const_cast dynamic_cast bit_cast")


@dataclasses.dataclass(frozen=True)
class Call:
    callee: str  # as written: "Foo<T>::launch", "x.data_ptr<float>"
    name: str  # the last identifier: "launch", "data_ptr"; "operator()" of an object called at once
    template_arguments: tuple[str, ...]
    arguments: tuple[str, ...]
    file: str
    line: int
    # `callee` with local aliases and the types of local variables put in: "GEMM<Config>::launch"
    # where the function says `using G = GEMM<Config>;`, "Foo::run" for v.run() with `Foo v`.
    target: str = ""
    macro: str = ""  # the macro that brings the call, where it is not written in the function


class Macros(Protocol):
    def macros_named(self, name: str, near: str = "") -> list[Macro]: ...
    def aliases_in(self, file: str) -> list[Node]: ...


def calls_of(function: Function, index: Macros) -> list[Call]:
    """In the order of the text. Kernel launches by <<<>>> are none; their arguments' calls are."""
    names = cpp_names.LocalNames(function, index.aliases_in(function.file))
    found = []
    for use in uses_of(function, index):
        if call := _call(use, function.file, names):
            found.append(call)
    return found


class Use(NamedTuple):
    """A node at which something may be called."""

    node: Node
    line: int  # in the function's file, of the macro's use where a macro brings it
    macro: str = ""


def uses_of(function: Function, index: Macros) -> Iterator[Use]:
    """The function's calls, constructions and statements; macros of the sources looked through."""
    for part in parts_of(function):
        yield from _uses_below(part, function.file, index, via=())


def parts_of(function: Function) -> list[Node]:
    """The nodes whose text runs when the function does: initialisers of members, and the body."""
    kinds = ("field_initializer_list", "compound_statement", "try_statement")
    return syntax.children(function.node, *kinds)


def _uses_below(
    part: Node, file: str, index: Macros, via: tuple[str, ...], at: int = 0
) -> Iterator[Use]:
    for node in syntax.find_cpp(part, _KINDS):
        line = at or syntax.line_of(node)
        yield Use(node, line, via[0] if via else "")
        name, arguments = macro_use(node)
        if not name or name in via or len(via) >= _DEEPEST_MACRO:
            continue
        for macro in index.macros_named(name, file):
            for expanded in cpp_macros.expansions(macro, arguments):
                yield from _uses_below(expanded, file, index, (*via, name), line)


def macro_use(node: Node) -> tuple[str, tuple[str, ...] | None]:
    """The name that may be a macro's, and what is given to it; ("", None) where none may be."""
    if node.type == "call_expression":
        callee = syntax.child(node, "function")
        if callee is None or callee.type != "identifier":
            return "", None
        return syntax.text_of(callee), arguments_of(syntax.child(node, "arguments"))
    if node.type == "expression_statement":  # LAUNCH; or LAUNCH
        inner = node.named_children
        if len(inner) == 1 and inner[0].type == "identifier":
            return syntax.text_of(inner[0]), None
    if node.type == "declaration":  # LAUNCH followed by a statement without ';' between
        kind = syntax.child(node, "type")
        if kind is not None and re.fullmatch(r"[A-Z][A-Z0-9_]{3,}", syntax.text_of(kind)):
            return syntax.text_of(kind), None
    return "", None


def _call(use: Use, file: str, names: cpp_names.LocalNames) -> Call | None:
    node = use.node
    if node.type == "call_expression":
        return _plain_call(use, file, names)
    if node.type == "expression_statement":
        return _torn_call(use, file, names)
    if node.type in ("new_expression", "field_initializer"):
        kind = syntax.child(node, "type") or node.named_children[0]
        if kind.type == "field_identifier":  # a member, whose type is not told here
            return None
        given = syntax.children(node, "argument_list", "initializer_list")
        return _construction(use, kind, given, file, names)
    made, declarator = syntax.child(node, "type"), syntax.child(node, "declarator")
    if made is None or declarator is None or node.type != "declaration":
        return None
    if declarator.type == "init_declarator":
        value = syntax.child(declarator, "value")
        if value is not None and value.type in ("argument_list", "initializer_list"):
            return _construction(use, made, [value], file, names)
    elif declarator.type == "function_declarator":  # Foo v(a): read as one, is none in a body
        given = syntax.children(declarator, "parameter_list")
        return _construction(use, made, given, file, names)
    return None


def _plain_call(use: Use, file: str, names: cpp_names.LocalNames) -> Call | None:
    callee = syntax.child(use.node, "function")
    if (
        callee is None
        or callee.type in _NO_NAMES
        or syntax.children(use.node, "kernel_call_syntax")
    ):
        return None
    written, last = syntax.text_of(callee), cpp_names.last_name(callee)
    given: tuple[str, ...] = ()
    if callee.type == "compound_literal_expression":
        kind = syntax.child(callee, "type")
        written = f"{syntax.text_of(kind) if kind is not None else written}::operator()"
        name = "operator()"
    elif last is None:
        return None
    else:
        name, given = syntax.text_of(last), cpp_names.template_arguments(last)
    if name in _CASTS:
        return None
    arguments = arguments_of(syntax.child(use.node, "arguments"))
    target = names.target(callee, written)
    return Call(written, name, given, arguments, file, use.line, target, use.macro)


def _torn_call(use: Use, file: str, names: cpp_names.LocalNames) -> Call | None:
    """F<G<get<0>(x)>, B>(y), which the parser may end at the first '>' that could: it then reads a
    list of F<...>, ... and a comparison B > (y), which as a statement would do nothing.
    """
    parts = _listed(use.node)
    if len(parts) < 2:
        return None
    first, last = parts[0], parts[-1]
    operator, given = syntax.child(last, "operator"), syntax.child(last, "right")
    if first.type != "template_function" or operator is None or given is None:
        return None
    if syntax.text_of(operator) != ">" or given.type != "parenthesized_expression":
        return None
    name = syntax.text_of(first.named_children[0])
    arguments = tuple(syntax.text_of(one) for one in _listed(given))
    return Call(name, name, (), arguments, file, use.line, names.resolved(name), use.macro)


def _listed(node: Node) -> list[Node]:
    """What stands in it, between commas."""
    parts = []
    stack = [one for one in reversed(node.named_children) if one.type != "comment"]
    while stack:
        part = stack.pop()
        if part.type == "comma_expression":
            stack += reversed(part.named_children)
        elif part.type != "comment":
            parts.append(part)
    return parts


def _construction(
    use: Use, kind: Node, given: list[Node], file: str, names: cpp_names.LocalNames
) -> Call | None:
    last = cpp_names.last_name(kind)
    if last is None or kind.type in ("primitive_type", "placeholder_type_specifier"):
        return None
    name, written = syntax.text_of(last), syntax.text_of(kind)
    templated = cpp_names.template_arguments(last)
    arguments = arguments_of(given[0]) if given else ()
    target = names.resolved(written)
    return Call(written, name, templated, arguments, file, use.line, target, use.macro)


def arguments_of(listed: Node | None) -> tuple[str, ...]:
    """As written, without comments; () for None."""
    if listed is None:
        return ()
    return tuple(
        syntax.text_of(one)
        for one in listed.named_children
        if one.type != "comment" and not one.type.startswith("preproc_")
    )
