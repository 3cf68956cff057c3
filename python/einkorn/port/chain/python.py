"""Which registrations a Python call leads to, and what Triton kernels it launches."""

import re

from einkorn.port.model import Launch, Registration
from einkorn.port.python.index import PyFunction, PythonIndex, argument
from einkorn.port.python.targets import Target
from einkorn.port.registrations.python import SHAPE_ONLY
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

_OPENED = re.compile(r"\b(?:CDLL|PyDLL|WinDLL|LoadLibrary|dlopen)$")
_COMPILED = re.compile(r"\bload_inline$|\bload_jit$")
# Options of Triton's launches, beside the kernel's own parameters.
_OPTIONS = ("num_stages", "num_ctas", "maxnreg")


class Registered:
    """The registrations of a repository, by what calls spell."""

    def __init__(self, registrations: list[Registration], python: PythonIndex) -> None:
        self._python = python
        self._all = registrations
        self._by_last: dict[str, list[Registration]] = {}
        for one in registrations:
            last = re.split(r"::|\.", one.public_name)[-1]
            self._by_last.setdefault(last, []).append(one)

    def of(self, target: Target) -> list[Registration]:
        """Those that a call of `target` leads to; without stand-ins for tracing."""
        if target.kind not in ("external", "made"):
            return []
        full = target.full
        if full.startswith("torch.ops."):
            return self._torch(full)
        if target.kind == "made":
            found = self._made(target)
            if found or re.search(r"\bload(_inline|_jit)?$", target.dotted):
                return found
            if target.dotted.endswith("import_module") and target.text:
                full = f"{target.text}.{target.path}"
        return self._bound(full)

    def to(self, symbols: set[str]) -> list[Registration]:
        """Those that lead to one of the functions named, which are fully qualified."""
        found = []
        for one in self._all:
            plain = re.sub(r"<.*?>(?=::|$)", "", one.symbol)
            if any(symbol == plain or symbol.endswith("::" + plain) for symbol in symbols):
                found.append(one)
        return found

    def as_python(self, function: PyFunction) -> list[Registration]:
        """Under which names a function of Python is registered itself, with their schemas."""
        own = [
            one
            for one in self._all
            if one.symbol == function.symbol and not self.is_shape_only(one)
        ]
        names = {one.public_name for one in own}
        return [
            one
            for one in self._all
            if one in own or (one.public_name in names and "(" in one.symbol)
        ]

    def public(self, name: str) -> list[Registration]:
        """Those of a public name, which may lack the module in front."""
        last = re.split(r"::|\.", name)[-1]
        return [
            one
            for one in self._by_last.get(last, [])
            if one.public_name == name
            or re.search(rf"(?:^|[.:]){re.escape(name)}$", one.public_name)
        ]

    def is_shape_only(self, registration: Registration) -> bool:
        """Whether it gives only the shapes of an op's results, for tracing."""
        if registration.kind != "torch_custom_op":
            return False
        lines = self._python.sources.text(registration.file).splitlines()
        at = lines[registration.line - 1] if registration.line <= len(lines) else ""
        return bool(SHAPE_ONLY.search(at))

    def _torch(self, full: str) -> list[Registration]:
        parts = full.split(".")[2:]
        if len(parts) < 2:
            return []
        name = f"{parts[0]}::{parts[1]}"
        names = {name, f"{name}.{parts[2]}" if len(parts) > 2 else name}
        exact = [
            one
            for one in self._by_last.get(parts[1], [])
            if one.public_name.partition(".")[0] in names and not self.is_shape_only(one)
        ]
        if exact:
            return exact
        return [  # helpers that register under a name put their own namespace before it
            one
            for one in self._by_last.get(parts[1], [])
            if one.kind == "torch_custom_op" and one.public_name == parts[1]
        ]

    def _made(self, target: Target) -> list[Registration]:
        """Of what a loader returned: what that loader registers; else by the function's name."""
        last = target.path.rsplit(".", 1)[-1]
        if target.dotted.endswith("get_global_func"):
            return [one for one in self._all if one.public_name == target.text]
        if not last:
            return []
        named = self._by_last.get(last, [])
        if _OPENED.search(target.dotted):
            return [one for one in named if one.kind == "ctypes"]
        here = [
            one
            for one in self._all
            if one.file == target.file and target.first <= one.line <= target.last
        ]
        modules = {one.public_name for one in here if one.kind == "load_inline"}
        loaded = [one for one in named if one.public_name.partition(".")[0] in modules]
        if loaded:
            return loaded
        found = [one for one in here if one in named]
        if not found and re.search(r"load_module$|\bload$", target.dotted):
            found = [one for one in named if one.kind == "tvm_ffi"]
        return found

    def _bound(self, full: str) -> list[Registration]:
        """`package._C.ops.f` is what a module `_C` registers as `_C.ops.f`."""
        found = []
        for one in self._by_last.get(full.rsplit(".", 1)[-1], []):
            if one.kind != "pybind":
                continue
            known = full == one.public_name or full.endswith("." + one.public_name)
            if known or self._is_extension(full, one.public_name.partition(".")[2]):
                found.append(one)
        return found

    def _is_extension(self, full: str, tail: str) -> bool:
        """Whether `full` is `tail` of a module that only the built package has."""
        if not tail or not full.endswith("." + tail):
            return False
        module = full[: -len(tail) - 1]
        package = module.rpartition(".")[0]
        return self._python.file_of_module(module) is None and (
            package != "" and self._python.file_of_module(package) is not None
        )


def is_extension_call(target: Target, python: PythonIndex) -> bool:
    """Whether it calls into a package of this repository that has no such module in Python."""
    parts = target.full.split(".")
    if target.kind != "external" or len(parts) < 2:
        return False
    return python.file_of_module(parts[0]) is not None


def triton_launch(call: Node, kernel: PyFunction, caller: PyFunction) -> Launch:
    """`kernel[grid](...)`."""
    callee = syntax.child(call, "function")
    value = syntax.child(callee, "value") if callee is not None else None
    grid = callee.children_by_field_name("subscript") if callee is not None else []
    warps = argument(call, "num_warps")
    attributes = []
    for option in _OPTIONS:
        if (given := argument(call, option)) is not None:
            attributes.append(f"{option} = {syntax.text_of(given)}")
    for decorator in kernel.decorators:
        if re.search(r"\b(autotune|heuristics)\b", decorator):
            attributes.append(decorator)
    return Launch(
        kernel=syntax.text_of(value) if value is not None else kernel.name,
        file=caller.file,
        line=syntax.line_of(call),
        grid=", ".join(_shown(one, caller) for one in grid),
        block=f"num_warps = {syntax.text_of(warps)}" if warps is not None else "",
        attributes=tuple(attributes),
        function=caller.symbol,
    )


def _shown(node: Node, caller: PyFunction) -> str:
    """A local variable as "name = value"."""
    text = syntax.text_of(node)
    if node.type != "identifier":
        return text
    body = syntax.child(caller.node, "body")
    for one in syntax.walk(body, {"assignment"}) if body is not None else []:
        left, right = syntax.child(one, "left"), syntax.child(one, "right")
        if left is not None and right is not None and syntax.text_of(left) == text:
            return f"{text} = {syntax.text_of(right)}"
    return text
