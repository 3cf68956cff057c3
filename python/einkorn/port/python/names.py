"""What a Python expression may stand for: followed through imports, assignments and returns.

No types are inferred beyond that, and nothing runs: what can't be told stands for nothing.
"""

import dataclasses
from typing import Literal

from einkorn.port.python.index import PyClass, PyFunction, PyModule, PythonIndex, argument
from einkorn.port.python.targets import Target, assignments, is_loader, made, of_function
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

# Of names that lead to names; cyclic imports and recursive functions end here.
_DEEPEST = 16
# Methods of torch.nn.Module that return the module itself.
_FLUENT = {
    *("bfloat16", "cpu", "cuda", "double", "eval", "float", "half", "requires_grad_", "to"),
    *("train", "type", "xpu"),
}
# What hands on the function that it is given first.
_TRANSPARENT = {"partial", "compile", "jit", "wraps", "cache", "lru_cache", "staticmethod"}


class PythonNames:
    """Evaluates expressions of an index's files. `function` is the one that an expression is in."""

    def __init__(self, index: PythonIndex) -> None:
        self.index = index
        self._locals: dict[tuple[str, int], dict[str, list[Node]]] = {}
        # Values under evaluation stand for nothing in themselves: x = x.view(-1).
        self._known: dict[tuple[str, int, int, int], list[Target]] = {}

    def evaluate(
        self, node: Node, file: str, function: PyFunction | None, depth: int = 0
    ) -> list[Target]:
        """All that `node` may stand for, without repetition; [] where that can't be told."""
        if depth > _DEEPEST:
            return []
        scope = -1 if function is None else function.node.start_byte
        key = (file, node.start_byte, node.end_byte, scope)
        if key not in self._known:
            self._known[key] = []
            found = self._value(node, file, function, depth)
            self._known[key] = list(dict.fromkeys(found))
        return self._known[key]

    def _value(
        self, node: Node, file: str, function: PyFunction | None, depth: int
    ) -> list[Target]:
        kind = node.type
        if kind == "identifier":
            return self._name(syntax.text_of(node), file, function, depth)
        if kind == "call":
            return self._result(node, file, function, depth)
        if kind == "attribute":
            base, name = syntax.child(node, "object"), syntax.child(node, "attribute")
            owners = self.evaluate(base, file, function, depth + 1) if base is not None else []
            word = syntax.text_of(name) if name is not None else ""
            return [one for owner in owners for one in self.attribute(owner, word, depth + 1)]
        parts: list[Node] = []
        if kind in ("conditional_expression", "boolean_operator", "parenthesized_expression"):
            parts = node.named_children
            if kind == "conditional_expression" and len(parts) == 3:
                parts = [parts[0], parts[2]]
        elif kind == "subscript" and (value := syntax.child(node, "value")) is not None:
            parts = [value]
        return [one for part in parts for one in self.evaluate(part, file, function, depth + 1)]

    def callee(self, call: Node, file: str, function: PyFunction | None) -> list[Target]:
        """What a call runs: functions here, and what is external or made by a loader."""
        node = syntax.child(call, "function")
        found: list[Target] = []
        for target in self.evaluate(node, file, function) if node is not None else []:
            found.extend(self.runs(target))
        return list(dict.fromkeys(found))

    def runs(self, target: Target) -> list[Target]:
        """What calling `target` runs: a class its __init__, an instance its forward."""
        if target.kind == "class":
            return self._methods(target, ("__init__",), first=True)
        if target.kind == "instance":
            return self._methods(target, ("forward", "__call__"), first=True)
        return [] if target.kind == "module" else [target]

    def attribute(self, owner: Target, name: str, depth: int = 0) -> list[Target]:
        """`owner.name`."""
        if depth > _DEEPEST:
            return []
        if owner.kind == "external":
            return [Target("external", f"{owner.dotted}.{name}")]
        if owner.kind == "made":
            if not owner.path and (given := self._given(owner, name)) is not None:
                return self.evaluate(given, owner.file, owner.inside, depth + 1)
            return [dataclasses.replace(owner, path=f"{owner.path}.{name}" if owner.path else name)]
        if owner.kind == "module":
            return self.absolute(f"{owner.dotted}.{name}", depth + 1)
        if owner.owner is not None:
            return self._member(owner.owner, owner, name, depth)
        return []

    def _given(self, owner: Target, name: str) -> Node | None:
        """What a SimpleNamespace(name=...) holds."""
        if owner.node is None or not owner.dotted.endswith("SimpleNamespace"):
            return None
        return argument(owner.node, name)

    def absolute(self, dotted: str, depth: int = 0) -> list[Target]:
        """What an absolute dotted name stands for; external where it leads out of here."""
        if depth > _DEEPEST:
            return []
        parts = dotted.split(".")
        for count in range(len(parts), 0, -1):
            name = ".".join(parts[:count])
            file = self.index.file_of_module(name)
            if file is None:
                continue
            if count > 1 and (bound := self._bound_over(name, depth)):
                found = bound  # the package gives the name of its module to something else
                for part in parts[count:]:
                    found = [one for owner in found for one in self._part_of(owner, part, depth)]
                if found:
                    return found
            found = [Target("module", name, file)]
            for part in parts[count:]:
                found = [one for owner in found for one in self._part_of(owner, part, depth + 1)]
            return found
        return [Target("external", dotted)]

    def _bound_over(self, module: str, depth: int) -> list[Target]:
        """What a package binds under the name of one of its modules, by an import, say."""
        package, _, name = module.rpartition(".")
        file = self.index.file_of_module(package)
        if file is None or not file.endswith("__init__.py"):
            return []
        read = self.index.module(file)
        if name not in read.top and read.imports.get(name, module) == module:
            return []
        return self._global(read, name, depth + 1)

    def _part_of(self, owner: Target, name: str, depth: int) -> list[Target]:
        if owner.kind != "module":
            return self.attribute(owner, name, depth)
        module = self.index.module(owner.file)
        found = self._global(module, name, depth)
        if found:
            return found
        below = self.index.file_of_module(f"{owner.dotted}.{name}")
        if below is not None:
            return [Target("module", f"{owner.dotted}.{name}", below)]
        return [Target("external", f"{owner.dotted}.{name}")]  # an extension module, say

    def _name(self, name: str, file: str, function: PyFunction | None, depth: int) -> list[Target]:
        module = self.index.module(file)
        scope = function
        while scope is not None:
            if name in ("self", "cls") and (owner := self._class_of(scope, module)) is not None:
                return [Target("instance", owner.symbol, owner.file, owner.line, owner=owner)]
            values = self.assigned_in(scope).get(name)
            if values is not None:
                return [
                    one for value in values for one in self.evaluate(value, file, scope, depth + 1)
                ]
            nested = f"{scope.symbol}.{name}"
            inner = [one for one in module.functions if one.symbol == nested]
            if inner:
                return [of_function(one) for one in inner]
            scope = self.around(scope)
        return self._global(module, name, depth)

    def _global(self, module: PyModule, name: str, depth: int) -> list[Target]:
        if depth > _DEEPEST:
            return []
        found: list[Target] = []
        if name in module.top:
            found.extend(
                of_function(one)
                for one in module.functions
                if one.symbol == f"{module.name}.{name}"
            )
        if name in module.classes:
            owner = module.classes[name]
            found.append(Target("class", owner.symbol, owner.file, owner.line, owner=owner))
        for value in module.assigned.get(name, []):
            found.extend(self.evaluate(value, module.file, None, depth + 1))
        if name in module.imports and module.imports[name] != f"{module.name}.{name}":
            found.extend(self.absolute(module.imports[name], depth + 1))
        elif name in module.imports:  # from . import name: the submodule of that name
            below = self.index.file_of_module(module.imports[name])
            kind: Literal["module", "external"] = "module" if below else "external"
            found.append(Target(kind, module.imports[name], below or ""))
        if not found:
            for star in module.star_imports:
                file = self.index.file_of_module(star)
                if file is not None and file != module.file:
                    found.extend(self._global(self.index.module(file), name, depth + 1))
        return found

    def _result(
        self, call: Node, file: str, function: PyFunction | None, depth: int
    ) -> list[Target]:
        """What a call returns."""
        callee = syntax.child(call, "function")
        if callee is None:
            return []
        if is_loader(call):
            return [made(call, file, syntax.text_of(callee))]
        found = self._fluent(callee, file, function, depth)
        for target in self.evaluate(callee, file, function, depth + 1):
            if target.kind == "class":
                found.append(dataclasses.replace(target, kind="instance"))
            elif target.kind in ("external", "made"):
                first = argument(call, "func", 0)
                if target.full.rsplit(".", 1)[-1] in _TRANSPARENT and first is not None:
                    found.extend(self.evaluate(first, file, function, depth + 1))
                else:
                    found.append(made(call, file, target.full, function))
            elif target.function is not None:
                found.extend(self._returned(target.function, depth + 1))
        return found

    def _fluent(
        self, callee: Node, file: str, function: PyFunction | None, depth: int
    ) -> list[Target]:
        """The module whose `.to(...)` or the like is called."""
        owner, name = syntax.child(callee, "object"), syntax.child(callee, "attribute")
        if owner is None or name is None or syntax.text_of(name) not in _FLUENT:
            return []
        found = self.evaluate(owner, file, function, depth + 1)
        return [one for one in found if one.kind == "instance"]

    def _returned(self, function: PyFunction, depth: int) -> list[Target]:
        inside = {"function_definition", "class_definition", "lambda"}
        return [
            one
            for node in syntax.walk(function.node, {"return_statement"}, inside)
            for value in node.named_children
            for one in self.evaluate(value, function.file, function, depth + 1)
        ]

    def _member(self, owner: PyClass, of: Target, name: str, depth: int) -> list[Target]:
        if name in owner.methods:
            return [of_function(owner.methods[name])]
        found: list[Target] = []
        module = self.index.module(owner.file)
        for base in owner.bases:
            for target in self.evaluate(base, owner.file, None, depth + 1):
                if target.owner is not None and target.owner is not owner:
                    found.extend(self._member(target.owner, of, name, depth + 1))
        for method in owner.methods.values():
            for value in self.assigned_in(method).get(f"self.{name}", []):
                found.extend(self.evaluate(value, owner.file, method, depth + 1))
        for node in syntax.walk(owner.node, {"assignment"}, {"function_definition"}):
            left, right = syntax.child(node, "left"), syntax.child(node, "right")
            if left is not None and right is not None and syntax.text_of(left) == name:
                found.extend(self.evaluate(right, module.file, None, depth + 1))
        if not found and name == "apply":  # of torch.autograd.Function: runs both, in time
            return self._methods(of, ("forward", "backward"), first=False)
        return found

    def _methods(self, of: Target, names: tuple[str, ...], first: bool) -> list[Target]:
        found: list[Target] = []
        for name in names:
            if of.owner is not None and not (first and found):
                found.extend(one for one in self._member(of.owner, of, name, 1) if one.function)
        return found

    def assigned_in(self, function: PyFunction) -> dict[str, list[Node]]:
        """Local names, and fields of `self`, to the values that they are given."""
        key = (function.file, function.node.start_byte)
        if key not in self._locals:
            self._locals[key] = assignments(function.node)
        return self._locals[key]

    def _class_of(self, function: PyFunction, module: PyModule) -> PyClass | None:
        owner = function.symbol.removeprefix(module.name + ".").rpartition(".")[0]
        return module.classes.get(owner)

    def around(self, function: PyFunction) -> PyFunction | None:
        """The function that another is defined in."""
        module = self.index.module(function.file)
        around = function.symbol.rpartition(".")[0]
        return next((one for one in module.functions if one.symbol == around), None)
