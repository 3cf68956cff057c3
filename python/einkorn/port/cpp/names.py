"""What names mean inside one function: its aliases, the types of its variables and parameters."""

import re

from einkorn.port.cpp.functions import Function
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

_HOLDERS = re.compile(r"^(?:std::)?(?:unique_ptr|shared_ptr|optional|reference_wrapper)<(.*)>$")
_DECLARATIONS = frozenset(("declaration", "parameter_declaration"))
# An alias of an alias is followed so far; one that names itself ends there.
_LONGEST_CHAIN = 8


class LocalNames:
    """Aliases of the function, then of its file; variables of the function."""

    def __init__(self, function: Function, aliases: list[Node]) -> None:
        self.aliases: dict[str, str] = {}
        self.variables: dict[str, str] = {}
        self.values: dict[str, Node] = {}  # what a variable is first set to
        for node in aliases:
            self._add_alias(node, overwrite=_contains(function.node, node))
        for parameter in function.parameters:
            if parameter.name:
                self.variables[parameter.name] = parameter.type
        for node in syntax.find_cpp(function.node, _DECLARATIONS):
            self._add_variable(node)

    def resolved(self, name: str) -> str:
        """`name` with the alias that it begins with put in, as long as there is one."""
        for _ in range(_LONGEST_CHAIN):
            found = re.match(r"(\w+)", name)
            if found is None or found[1] not in self.aliases:
                break
            longer = self.aliases[found[1]] + name[found.end() :]
            if longer == name or longer.startswith(name):
                break
            name = longer
        return name

    def target(self, callee: Node, written: str) -> str:
        """What a callee names: with its aliases resolved, a variable replaced by its class."""
        if callee.type == "field_expression":
            owner, field = syntax.child(callee, "argument"), syntax.child(callee, "field")
            if owner is None or field is None:
                return written
            kind = self.type_of(owner)
            member = last_name(field)
            if kind and member is not None:
                return f"{kind}::{syntax.text_of(member)}"
            return written
        if callee.type == "identifier" and written in self.variables:
            kind = self.type_of(callee)
            return f"{kind}::operator()" if kind else written
        return self.resolved(written)

    def type_of(self, node: Node) -> str:
        """The class of a variable or of an object made on the spot; "" where it can't be told."""
        kind = ""
        if node.type == "identifier":
            kind = self.variables.get(syntax.text_of(node), "")
        elif node.type in ("compound_literal_expression", "call_expression"):
            maker = syntax.child(node, "type") or syntax.child(node, "function")
            text = syntax.text_of(maker) if maker is not None else ""
            kind = text if re.match(r"(\w+::)*[A-Z]\w*[a-z]\w*(<.*>)?$", text) else ""
        kind = re.sub(r"\b(const|volatile|typename|struct|class|static)\b|[*&]", " ", kind).strip()
        held = _HOLDERS.match(kind)
        kind = held[1].strip() if held else kind
        return "" if kind in ("auto", "") else self.resolved(kind)

    def _add_alias(self, node: Node, overwrite: bool) -> None:
        name = syntax.child(node, "name") or syntax.child(node, "declarator")
        kind = syntax.child(node, "type")
        if name is None or kind is None or name.type not in ("type_identifier", "identifier"):
            return
        text = syntax.text_of(name)
        if overwrite or text not in self.aliases:
            self.aliases[text] = re.sub(r"\btypename\s+", "", syntax.text_of(kind))

    def _add_variable(self, node: Node) -> None:
        kind = syntax.child(node, "type")
        if kind is None:
            return
        for declarator in node.children_by_field_name("declarator"):
            name = next(syntax.walk(declarator, {"identifier"}), None)
            if name is None:
                continue
            text = syntax.text_of(name)
            value = syntax.child(declarator, "value")
            if value is not None and text not in self.values:
                self.values[text] = value
            spelt = syntax.text_of(kind)
            if spelt == "auto" and value is not None:
                spelt = self.type_of(value) or "auto"
            self.variables.setdefault(text, spelt)


def last_name(node: Node) -> Node | None:
    """The node of a name's last component: an identifier or a template_function with arguments."""
    while True:
        if node.type in ("field_expression",):
            inner = syntax.child(node, "field")
        elif node.type == "qualified_identifier":
            inner = syntax.child(node, "name") or next(iter(node.named_children[::-1]), None)
        elif node.type in ("dependent_name", "type_descriptor"):
            inner = syntax.child(node, "type") or next(iter(node.named_children[::-1]), None)
        elif node.type in ("template_function", "template_method", "template_type"):
            inner = syntax.child(node, "name")
            if inner is not None and inner.type == "qualified_identifier":
                node = inner
                continue
        else:
            named = ("identifier", "field_identifier", "type_identifier", "destructor_name")
            return node if node.type in (*named, "operator_name", "namespace_identifier") else None
        if inner is None:
            return None
        node = inner


def template_arguments(last: Node) -> tuple[str, ...]:
    """Those right behind the name that `last_name` gave."""
    above = last.parent
    if above is None or above.type not in ("template_function", "template_method", "template_type"):
        return ()
    listed = syntax.child(above, "arguments")
    if listed is None:
        return ()
    return tuple(syntax.text_of(one) for one in listed.named_children if one.type != "comment")


def _contains(outer: Node, inner: Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte
