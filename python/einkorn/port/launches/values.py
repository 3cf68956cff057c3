"""What the variables around a launch hold: kernels, configurations, attributes."""

import re
from collections.abc import Iterable

from einkorn.port.cpp import names as cpp_names
from einkorn.port.cpp.calls import Use
from einkorn.port.cpp.functions import Function
from einkorn.port.cpp.variables import Variables
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

# The order of members of the structures that launches are configured by.
_MEMBERS = {
    "cudaLaunchConfig_t": ("grid", "block", "shared", "stream", "attrs", "numAttrs"),
    "ClusterLaunchParams": ("grid", "block", "cluster", "shared", "stream"),
}
_ROLES = (
    ("shared", re.compile(r"smem|shared|shmem", re.IGNORECASE)),
    ("grid", re.compile(r"grid|num_?blocks|blocks$|gdim", re.IGNORECASE)),
    ("block", re.compile(r"block|threads|bdim|cta", re.IGNORECASE)),
    ("stream", re.compile(r"stream|device", re.IGNORECASE)),
)
_SETS_ATTRIBUTE = {"cudaFuncSetAttribute", "cuFuncSetAttribute", "hipFuncSetAttribute"}
_CASTS = ("reinterpret_cast", "static_cast", "const_cast")
# A variable set from a variable is followed so far.
_LONGEST_CHAIN = 4
_NOTHING = ("nullptr", "NULL", "0", "{}", "{nullptr}")
_MAKES = re.compile(r"(?:std::)?make_(?:pair|tuple)\b")
_LOOKUPS = ("at", "find")  # of std::map and the like
_DEEPEST_CHOICE = 100  # of ?: in ?:


def parts(node: Node | None) -> list[Node]:
    """The arguments below an argument list."""
    if node is None:
        return []
    return [one for one in node.named_children if one.type != "comment"]


def roles(names: list[str]) -> dict[int, str]:
    """Which parameters are grid, block, shared memory and stream, by their names."""
    found: dict[int, str] = {}
    for at, name in enumerate(names):
        for role, pattern in _ROLES:
            if role not in found.values() and pattern.search(name):
                found[at] = role
                break
    return found


def launched(node: Node, values: "Values") -> str:
    """The name of what a call launches as written; "" where it launches nothing."""
    callee = syntax.child(node, "function") if node.type == "call_expression" else None
    if callee is None:
        return ""
    if syntax.children(node, "kernel_call_syntax"):
        return syntax.text_of(callee)
    last = cpp_names.last_name(callee)
    name = syntax.text_of(last) if last is not None else ""
    arguments = parts(syntax.child(node, "arguments"))
    if re.fullmatch(r"(cuda|cu|hip)Launch\w*Kernel\w*|launch_kernel_on_cluster", name):
        at = 1 if "Ex" in name or name.startswith("launch") else 0
        return values.plain(arguments[at]) if len(arguments) > at else ""
    return ""


class Values(Variables):
    """What a launch in one function may be given."""

    def __init__(self, function: Function, names: cpp_names.LocalNames, uses: list[Use]) -> None:
        super().__init__(function, uses)
        self.names = names
        self.attributes: list[tuple[list[str], str]] = []
        for use in uses:
            self._add_attribute(use.node)

    def plain(self, node: Node) -> str:
        """A kernel's expression without casts, brackets and '&'."""
        text = re.sub(r"\b(typename|template)\s+", "", syntax.text_of(_bare(node)))
        return re.sub(r"<\s+", "<", text)

    def is_kernel_name(self, name: str) -> bool:
        """Whether it may name a kernel; here nothing is known of what others declare."""
        return bool(re.match(r"[A-Za-z_]", name))

    def selected(self, call: Node) -> list[str]:
        """The kernels that a call may return; here nothing is known of other functions."""
        return []

    def kernels(self, node: Node, depth: int = 0) -> list[str]:
        """The kernels that an expression may name: what a variable is set to, both sides of ?:."""
        inner = _bare(node)
        if depth < _DEEPEST_CHOICE and (values := self._choices(inner)):
            return _unique(one for value in values for one in self.kernels(value, depth + 1))
        if found := self._in_table(inner, depth) or (
            self.selected(inner) if inner.type == "call_expression" else []
        ):
            return found
        name, held = self.plain(node), self.assigned(inner)
        if not held or depth >= _LONGEST_CHAIN:
            return [name]
        found = _unique(one for value in held for one in self.kernels(value, depth + 1))
        return [one for one in found if one not in _NOTHING] or [name]

    def _choices(self, node: Node) -> list[Node]:
        """The sides of ?:, and what a lambda returns that is called here."""
        if node.type == "conditional_expression":
            sides = (syntax.child(node, "consequence"), syntax.child(node, "alternative"))
            return [one for one in sides if one is not None]
        callee = syntax.child(node, "function") if node.type == "call_expression" else None
        if callee is None:
            return []
        makers = [callee] if callee.type == "lambda_expression" else self.assigned(callee)
        bodies = [syntax.child(one, "body") for one in makers if one.type == "lambda_expression"]
        return [one for body in bodies if body is not None for one in returned_by(body)]

    def _in_table(self, node: Node, depth: int) -> list[str]:
        """Of a table `t[i]`, `t[i].kernel`, `t.at(i)`, `t.find(i)->second`, a field `p.kernel`."""
        if depth >= _LONGEST_CHAIN:
            return []
        made = node if node.type == "initializer_list" else None
        if node.type == "compound_literal_expression":  # Choice{&kernel, bytes}
            made = syntax.child(node, "value")
        elif node.type == "call_expression" and _MAKES.match(syntax.text_of(node)):
            made = syntax.child(node, "arguments")
        if made is not None:
            return self._listed([made], depth)
        table: Node | None = node
        while table is not None and table.type != "identifier":
            if table.type in ("subscript_expression", "field_expression"):
                table = syntax.child(table, "argument")
            elif table.type == "call_expression":
                callee = syntax.child(table, "function")
                field = syntax.child(callee, "field") if callee is not None else None
                if callee is None or field is None or syntax.text_of(field) not in _LOOKUPS:
                    return []
                table = syntax.child(callee, "argument")
            else:
                return []
        if table is None or table is node:
            return []
        if node.type == "field_expression":
            path = re.sub(r"\[[^\]]*\]", "", syntax.text_of(node)).replace("->", ".")
            name = path.rpartition(".")[2]
            set_to = [v for field, v in self.fields.get(syntax.text_of(table), []) if field == name]
            if set_to:
                return _unique(one for value in set_to for one in self.kernels(value, depth + 1))
        held = self.assigned(table)
        found = self._listed([one for one in held if one.type == "initializer_list"], depth)
        for value in held:  # auto it = table.find(i)
            found += self._in_table(_bare(value), depth + 1)
            if value.type == "call_expression" and node.type == "field_expression":
                found += self.selected(value)
        return _unique(found)

    def _listed(self, lists: list[Node], depth: int) -> list[str]:
        """The kernels in braces, in braces within them, and on the right of their names."""
        found: list[str] = []
        for one in (part for listed in lists for part in parts(listed)):
            if one.type == "initializer_list":
                found += self._listed([one], depth)
            else:
                value = one.named_children[-1] if one.type == "initializer_pair" else one
                found += [k for k in self.kernels(value, depth + 1) if self.is_kernel_name(k)]
        return _unique(found)

    def shown(self, node: Node) -> str:
        """As written; of a local variable also what it is set to."""
        text = syntax.text_of(node)
        held = self.assigned(node)
        if not held:
            return text
        kind = self.names.variables.get(text, "")
        kind = "" if kind == "auto" else kind
        made = ("argument_list", "initializer_list")
        values = _unique((kind if one.type in made else "") + syntax.text_of(one) for one in held)
        return f"{text} = {' or '.join(values)}"

    def kind_of(self, callee: Node) -> bool:
        """Whether the callee is a variable that was made with arguments: it may hold a launcher."""
        kinds = ("argument_list", "initializer_list", "call_expression")
        return any(one.type in kinds for one in self.assigned(callee))

    def construction(self, maker: Node) -> tuple[str, list[Node]] | None:
        """The class and the arguments that a launcher object was made with."""
        name = syntax.text_of(maker)
        if held := self.assigned(maker):
            value = held[0]
            if value.type in ("argument_list", "initializer_list"):
                return self.names.resolved(self.names.variables.get(name, "")), parts(value)
            maker = value
        if maker.type == "call_expression":
            callee = syntax.child(maker, "function")
            arguments = parts(syntax.child(maker, "arguments"))
        elif maker.type == "compound_literal_expression":
            callee, arguments = syntax.child(maker, "type"), parts(syntax.child(maker, "value"))
        else:
            return None
        if callee is None or callee.type == "field_expression":
            return None
        return self.names.resolved(syntax.text_of(callee)), arguments

    def configuration(self, config: Node) -> dict[str, str]:
        """grid, block, shared, stream of a configuration object; only those that are set here."""
        name = self.plain(config)
        kind = self.names.variables.get(name, "").split("::")[-1]
        members = _MEMBERS.get(kind, _MEMBERS["cudaLaunchConfig_t"])
        found: dict[str, str] = {}
        for value in self.values_of(config):
            for at, one in enumerate(parts(value) if value.type == "initializer_list" else []):
                if one.type == "initializer_pair":
                    field = syntax.text_of(one.named_children[0]).lstrip(".")
                    self._set_field(found, field, one.named_children[-1])
                elif at < len(members):
                    found[members[at]] = self.shown(one)
        for field, value in self.fields.get(name, []):
            self._set_field(found, field, value)
        return found

    def launch_attributes(self, config: Node) -> tuple[str, ...]:
        """Those of the array that the configuration points to, and a cluster's shape."""
        name = self.plain(config)
        found = []
        if cluster := self.configuration(config).get("cluster"):
            found.append(f"cluster = {cluster}")
        arrays = [value for field, value in self.fields.get(name, []) if field == "attrs"]
        for value in self.values_of(config):
            if value.type == "initializer_list" and len(parts(value)) > 4:
                arrays.append(parts(value)[4])
        for array in arrays:
            found += self._array(array)
        return tuple(found)

    def attributes_of(self, kernel: str) -> tuple[str, ...]:
        """What cudaFuncSetAttribute sets for this kernel in the function."""
        return tuple(_unique(text for names, text in self.attributes if kernel in names))

    def _array(self, array: Node) -> list[str]:
        name = next((syntax.text_of(one) for one in syntax.walk(array, {"identifier"})), "")
        found: list[str] = []
        for field, value in self.fields.get(name, []):
            if field == "id":
                found.append(syntax.text_of(value))
            elif field.startswith("val.") and found:
                found[-1] += f", {field.removeprefix('val.')} = {syntax.text_of(value)}"
        for value in self.values_of(array):
            found += [syntax.text_of(one) for one in parts(value)]
        return found

    def _set_field(self, found: dict[str, str], field: str, value: Node) -> None:
        cluster = "cluster" in field.lower()
        role = "cluster" if cluster else next(iter(roles([field]).values()), "")
        if role:
            found[role] = self.shown(value)

    def _add_attribute(self, node: Node) -> None:
        callee = syntax.child(node, "function") if node.type == "call_expression" else None
        last = cpp_names.last_name(callee) if callee is not None else None
        if last is None or syntax.text_of(last) not in _SETS_ATTRIBUTE:
            return
        arguments = parts(syntax.child(node, "arguments"))
        if len(arguments) > 2:
            what, value = syntax.text_of(arguments[1]), self.shown(arguments[2])
            self.attributes.append((self.kernels(arguments[0]), f"{what} = {value}"))


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def returned_by(body: Node) -> list[Node]:
    """The values of its return statements, but for those of lambdas in it."""
    returns = syntax.walk(body, {"return_statement"}, {"lambda_expression"})
    return [one.named_children[0] for one in returns if one.named_children]


def _bare(node: Node) -> Node:
    """An expression without casts, brackets and '&'."""
    while True:
        inner = None
        if node.type in ("pointer_expression", "cast_expression"):
            inner = syntax.child(node, "argument") or syntax.child(node, "value")
        elif node.type == "parenthesized_expression" and node.named_children:
            inner = node.named_children[0]
        elif node.type == "call_expression":
            callee = syntax.child(node, "function")
            arguments = parts(syntax.child(node, "arguments"))
            name = syntax.text_of(callee).split("<")[0] if callee is not None else ""
            inner = arguments[0] if name in _CASTS and len(arguments) == 1 else None
        if inner is None:
            return node
        node = inner
