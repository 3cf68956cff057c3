"""What expressions of a contract's source say of the names of arguments.

Names reach a check as string literals, through parameters, constants, variables that are made from
a literal (`const Memory x("x", args.x)`), loops over lists of these, and structs that hold several.
A variable stands for its name; a struct's member for its own, as "pair.gate".
"""

import re

from einkorn.port.sources.syntax import Node, raw_text_of, walk
from einkorn.port.verify.model import OpFolder, Tree
from einkorn.port.verify.syntax import (
    arity,
    declared_name,
    name_of,
    parameter_names,
    parts_of,
    plain,
    string_of,
)

Names = dict[str, str]


class Sources:
    """The functions, structs and constants of a contract and its helpers."""

    def __init__(self, tree: Tree, op: OpFolder, files: list[str]) -> None:
        self.op = op.op
        self.functions: dict[str, list[tuple[str, Node]]] = {}
        self.members: dict[str, list[str]] = {}  # of a struct, in order
        self.constants: Names = {}
        for file in files:
            root = tree.syntax(file)
            for function in walk(root, {"function_definition"}):
                self.functions.setdefault(name_of(function), []).append((file, function))
            for struct in walk(root, {"struct_specifier", "class_specifier"}):
                name, body = struct.child_by_field_name("name"), struct.child_by_field_name("body")
                if name is not None and body is not None:
                    self.members[raw_text_of(name)] = _members(body)
            for found in re.finditer(r'string_view (k\w+) = "([^"\\]*)"', tree.text(file)):
                self.constants[found[1]] = found[2]
        self.constants["kName"] = op.op

    def called(self, callee: str, count: int) -> list[tuple[str, Node]]:
        """Functions that a call of so many arguments may mean; `callee` is "f", "a::f" or "o.f"."""
        name = re.split(r"::|\.|->", callee)[-1]
        member = "." in callee or "->" in callee
        out = []
        for file, function in self.functions.get(name, []):
            least, most = arity(function)
            own = "::" in declared_name(function) or _in_struct(function)
            if least <= count <= most and own == member:
                out.append((file, function))
        return out

    def resolve(self, node: Node | None, names: Names) -> str | None:
        """The text that an expression gives, None where only a run could tell."""
        if node is None:
            return None
        text = raw_text_of(node)
        if text in names:
            return names[text]
        if node.type in ("string_literal", "concatenated_string", "raw_string_literal"):
            return string_of(node)
        if node.type in ("identifier", "type_identifier", "qualified_identifier"):
            return self.constants.get(text.rsplit("::", 1)[-1])
        if node.type == "field_expression":
            # The name of an argument is a member of what stands for it.
            owner = node.child_by_field_name("argument")
            return names.get(raw_text_of(owner)) if owner is not None else None
        if node.type == "pointer_expression":
            return self.resolve(node.child_by_field_name("argument"), names)
        if node.type in ("compound_literal_expression", "initializer_list", "call_expression"):
            literal = next(walk(node, {"string_literal"}), None)
            return string_of(literal) if literal is not None else None
        return None

    def declare(self, variable: str, kind: str, given: Node, names: Names) -> None:
        """Makes `variable` stand for the name in its initialiser, and its members for theirs."""
        struct = re.sub(r"^const |&|\*", "", kind).strip().rsplit("::", 1)[-1]
        members = self.object_of(given, names, struct)
        for member, value in members.items():
            names[f"{variable}.{member}"] = value
        if members:
            return
        values = [self.resolve(plain(one), names) for one in given.named_children]
        if given.type not in ("argument_list", "initializer_list", "parameter_list"):
            values = [self.resolve(given, names)]
        known = next((value for value in values if value is not None), None)
        if known is not None:
            names[variable] = known

    def object_of(self, node: Node, names: Names, struct: str = "") -> Names:
        """The names that the members of a struct stand for: of a braced list, or of a call of a
        function that returns one. {} for everything else.
        """
        if node.type in ("initializer_list", "argument_list") and struct in self.members:
            elements = parts_of(node)
            found = zip(self.members[struct], elements, strict=False)
            resolved = {member: self.resolve(one, names) for member, one in found}
            members = {member: value for member, value in resolved.items() if value is not None}
            # With one name or none it is the name of the whole.
            return members if len(members) > 1 else {}
        callee, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if node.type != "call_expression" or callee is None or given is None:
            return {}
        arguments = parts_of(given)
        for _, function in self.called(_bare(callee), len(arguments)):
            values = [self.resolve(one, names) for one in arguments]
            inner = bound(function, values)
            returned = function.child_by_field_name("type")
            kind = raw_text_of(returned).rsplit("::", 1)[-1] if returned is not None else ""
            for one in walk(function, {"return_statement"}):
                for listed in one.named_children:
                    if members := self.object_of(listed, inner, kind):
                        return members
        return {}


def bound(function: Node, values: list[str | None]) -> Names:
    """The parameters that are known, by name."""
    given = zip(parameter_names(function), values, strict=False)
    return {name: value for name, value in given if name and value is not None}


def _bare(callee: Node) -> str:
    return re.sub(r"<.*>$", "", raw_text_of(callee), flags=re.DOTALL)


def _members(body: Node) -> list[str]:
    out = []
    for field in body.named_children:
        if field.type == "field_declaration":
            kind = field.child_by_field_name("type")
            for one in field.named_children:
                if one != kind:
                    names = walk(one, {"field_identifier"}, {"function_declarator"})
                    out += [raw_text_of(name) for name in names]
    return out


def _in_struct(function: Node) -> bool:
    above = function.parent
    return above is not None and above.type == "field_declaration_list"
