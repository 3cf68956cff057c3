"""What the local variables of a C++ function are set to, by the blocks that they live in."""

import dataclasses
import re

from einkorn.port.cpp.calls import Use
from einkorn.port.cpp.functions import Function
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

_ASSIGNMENTS = frozenset(("assignment_expression", "init_declarator"))
_BLOCKS = {"compound_statement", "function_definition", "lambda_expression", "for_statement"}
_AROUND_NAMES = {  # kernel_t table[], void (*kernel)(float*)
    *("array_declarator", "pointer_declarator", "reference_declarator", "function_declarator"),
    "parenthesized_declarator",
}
_ANYWHERE = 1 << 62


@dataclasses.dataclass(frozen=True)
class _Set:
    """That a variable is set: seen from `start` to `end` of its tree, by the text at `at`."""

    tree: int
    start: int
    end: int
    at: int
    declares: bool
    value: Node


def _tree(node: Node) -> int:
    """Tells the trees of macros from the file's."""
    root = node
    for root in syntax.ancestors(node):  # noqa: B007
        pass
    return root.id


class Variables:
    """The assignments of one function, macros looked through."""

    def __init__(self, function: Function, uses: list[Use]) -> None:
        self.fields: dict[str, list[tuple[str, Node]]] = {}  # of a variable: path and value
        self._set: dict[str, list[_Set]] = {}
        self._node = function.node
        for part in [function.node, *(use.node for use in uses if use.macro)]:
            tree = _tree(part)
            for node in syntax.find_cpp(part, _ASSIGNMENTS):
                self._add(node, tree)

    def assigned(self, node: Node) -> list[Node]:
        """What the variable that `node` names is set to, by the declaration seen from there."""
        if node.type == "template_function":  # of a variable template
            named = syntax.child(node, "name")
            return member_values(self._node, syntax.text_of(named)) if named is not None else []
        if node.type != "identifier":
            return []
        tree, found = _tree(node), self._set.get(syntax.text_of(node), [])
        if not found:
            return member_values(self._node, syntax.text_of(node))
        seen = [one for one in found if one.tree == tree] or found
        at = node.start_byte if seen and seen[0].tree == tree else None
        visible = [one for one in seen if at is None or one.start <= at < one.end]
        declared = [one for one in visible if one.declares and (at is None or one.at < at)]
        start = max((one.start for one in declared), default=0)
        return [one.value for one in visible if at is None or one.start >= start]

    def values_of(self, node: Node) -> list[Node]:
        """Of the variable in `x`, `&x`, `&x[0]`."""
        name = next(syntax.walk(node, {"identifier"}), None)
        return self.assigned(name) if name is not None else []

    def _add(self, node: Node, tree: int) -> None:
        if node.type == "init_declarator":
            left, right = syntax.child(node, "declarator"), syntax.child(node, "value")
            left = next(syntax.walk(left, {"identifier"}), None) if left is not None else None
        else:
            left, right = syntax.child(node, "left"), syntax.child(node, "right")
        if left is None or right is None:
            return
        text = syntax.text_of(left)
        if left.type == "identifier":
            block = next((one for one in syntax.ancestors(node) if one.type in _BLOCKS), node)
            begin, end = block.start_byte, block.end_byte
            declares = node.type == "init_declarator"
            if not declares:
                begin, end = self._declared_in(text, tree, node.start_byte) or (begin, end)
            one = _Set(tree, begin, end, node.start_byte, declares, right)
            self._set.setdefault(text, []).append(one)
        elif left.type == "field_expression":  # attrs[0].val.clusterDim.x: the elements' as one
            owner, _, field = re.sub(r"\[[^\]]*\]", "", text).replace("->", ".").partition(".")
            self.fields.setdefault(owner, []).append((field, right))

    def _declared_in(self, name: str, tree: int, at: int) -> tuple[int, int] | None:
        """The block of the declaration that an assignment is to; None for one without a value."""
        blocks = [
            (one.start, one.end)
            for one in self._set.get(name, [])
            if one.tree == tree and one.declares and one.start <= at < one.end
        ]
        return max(blocks, default=(0, _ANYWHERE))


def member_values(function: Node, name: str) -> list[Node]:
    """What a variable of the classes and namespaces around a function is set to.

    Templates of variables as well: `template <typename T> constexpr auto kernel = run<4, T>;`.
    """
    found: list[Node] = []
    for above in syntax.ancestors(function):
        if above.type not in ("field_declaration_list", "declaration_list", "translation_unit"):
            continue
        members = syntax.children(above, "field_declaration", "declaration")
        for template in syntax.children(above, "template_declaration"):
            members += syntax.children(template, "field_declaration", "declaration")
        for member in members:
            declared = syntax.child(member, "declarator")
            value = syntax.child(member, "default_value")
            if declared is not None and declared.type == "init_declarator":
                value = syntax.child(declared, "value")
                declared = syntax.child(declared, "declarator")
            while declared is not None and declared.type in _AROUND_NAMES:
                inner = syntax.child(declared, "declarator")
                declared = inner or next(iter(declared.named_children), None)
            if declared is not None and value is not None and syntax.text_of(declared) == name:
                found.append(value)
        if found:
            break
    return found
