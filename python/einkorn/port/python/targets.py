"""What an expression of Python may stand for, and where names get their values."""

import dataclasses
from typing import Literal

from einkorn.port.python.index import PyClass, PyFunction, argument
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

# Arguments that only calls have that compile sources.
_LOADER_ARGUMENTS = ("cuda_wrappers", "cpp_wrappers", "cuda_sources", "cpp_sources", "cuda_files")


@dataclasses.dataclass(frozen=True)
class Target:
    """One thing that an expression may stand for."""

    kind: Literal["function", "class", "instance", "module", "external", "made"]
    dotted: str  # "package.module.name"; of what is made, the name of what was called
    file: str = ""  # of what is made: where the call is
    first: int = 0
    last: int = 0
    text: str = ""  # of what is made: its first argument if that is a string
    path: str = ""  # attributes taken of what is made, joined by dots
    function: PyFunction | None = dataclasses.field(default=None, compare=False)
    owner: PyClass | None = dataclasses.field(default=None, compare=False)
    # Of what is made: the call, and the function that it is in.
    node: Node | None = dataclasses.field(default=None, compare=False)
    inside: PyFunction | None = dataclasses.field(default=None, compare=False)

    @property
    def full(self) -> str:
        return f"{self.dotted}.{self.path}" if self.path else self.dotted


def of_function(function: PyFunction) -> Target:
    return Target("function", function.symbol, function.file, function.line, function=function)


def is_loader(call: Node) -> bool:
    """Whether a call compiles sources that it names, however the function is called."""
    return any(argument(call, name) is not None for name in _LOADER_ARGUMENTS)


def made(call: Node, file: str, callee: str, inside: PyFunction | None = None) -> Target:
    """The value of a call that is not looked into."""
    first = argument(call, "name", 0)
    text = ""
    if first is not None and first.type == "string":
        text = syntax.text_of(first).strip("rbfu").strip("\"'")
    line, last = syntax.line_of(call), call.end_point[0] + 1
    return Target("made", callee, file, line, last, text, node=call, inside=inside)


def assignments(function: Node) -> dict[str, list[Node]]:
    """Name or `self.name` to what is assigned to it; defaults of parameters too."""
    found: dict[str, list[Node]] = {}
    inside = {"function_definition", "class_definition"}
    for node in syntax.walk(function, {"assignment", "named_expression", "as_pattern"}, inside):
        if node.type == "as_pattern":
            continue
        left = syntax.child(node, "left") or syntax.child(node, "name")
        right = syntax.child(node, "right") or syntax.child(node, "value")
        if left is None or right is None:
            continue
        if left.type == "pattern_list" and right.type == "expression_list":
            pairs = zip(left.named_children, right.named_children, strict=False)
        else:
            pairs = zip([left], [right], strict=True)
        for name, value in pairs:
            if name.type in ("identifier", "attribute"):
                found.setdefault(syntax.text_of(name), []).append(value)
    parameters = syntax.child(function, "parameters")
    for one in parameters.named_children if parameters is not None else []:
        name_node = syntax.child(one, "name") or one
        default = syntax.child(one, "value")
        word = syntax.text_of(
            name_node.named_children[0] if name_node.named_children else name_node
        )
        if default is not None and default.type in ("identifier", "attribute"):
            found.setdefault(word, []).append(default)
        else:
            found.setdefault(word, [])  # hides what is global under that name
    return found
