"""Calls from Python of native functions by an attribute of a value that can't be told."""

import dataclasses
import re

from einkorn.port.model import Registration
from einkorn.port.python.index import PyFunction, argument, string_of
from einkorn.port.python.loaders import LoadedSources
from einkorn.port.python.names import PythonNames
from einkorn.port.python.targets import Target
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

_NATIVE = ("tvm_ffi", "pybind", "torch_library")
# Methods of containers, strings, files, arrays and tensors: names too common to go by.
_COMMON = {
    *(name for kind in (list, dict, set, str, bytes, int, float) for name in dir(kind)),
    *("abs", "add", "add_", "all", "any", "argmax", "argmin", "backward", "bfloat16", "bool"),
    *("build", "call", "clamp", "clone", "close", "compile", "contiguous", "copy_", "cpu"),
    *("cuda", "data_ptr", "detach", "dim", "div", "div_", "double", "empty", "eval", "exp"),
    *("expand", "fill_", "flatten", "flush", "forward", "gather", "half", "init", "item"),
    *("launch", "load", "log", "lower", "matmul", "max", "mean", "min", "mm", "mul", "mul_"),
    *("ndim", "neg", "new_empty", "new_zeros", "norm", "numel", "open", "parameters"),
    *("permute", "plan", "pow", "read", "record", "release", "repeat", "reshape", "reset"),
    *("result", "round", "run", "scatter", "scatter_", "select", "send", "set", "shape"),
    *("sigmoid", "sin", "size", "softmax", "sort", "split", "sqrt", "squeeze", "start", "std"),
    *("stop", "store", "stride", "sub", "sub_", "submit", "sum", "synchronize", "t", "tanh"),
    *("test", "to", "tolist", "topk", "train", "transpose", "type", "unsqueeze", "var"),
    *("view", "wait", "write", "zero_"),
}
_OPENS = re.compile(r"load|build|compile|module|jit|import|library|extension", re.IGNORECASE)
# Values of which the kind is seen: none of them is a native module.
_TOLD = {
    *("binary_operator", "string", "concatenated_string", "list", "dictionary", "tuple", "set"),
    *("integer", "float", "comparison_operator", "list_comprehension", "unary_operator"),
    *("dictionary_comprehension", "generator_expression", "set_comprehension", "lambda"),
}


@dataclasses.dataclass(frozen=True)
class NativeCall:
    """What a call leads to; `sources` are those that the loader of its value names."""

    registrations: tuple[Registration, ...]
    sources: frozenset[str] = frozenset()
    by_name: bool = False  # nothing but the name says so


class NativeCalls:
    """Leads calls to registrations: by the sources that went into a module, else by the name."""

    def __init__(self, names: PythonNames, registrations: list[Registration]) -> None:
        self._names = names
        self._sources = LoadedSources(names)
        self._by_last: dict[str, list[Registration]] = {}
        for one in registrations:
            if one.kind in _NATIVE and "(" not in one.symbol:
                last = re.split(r"::|\.", one.public_name)[-1]
                self._by_last.setdefault(last, []).append(one)
        self._methods: dict[str, bool] = {}

    def of(
        self, call: Node, file: str, function: PyFunction | None, targets: list[Target]
    ) -> NativeCall | None:
        """None where the call has nothing to do with a native module, as far as can be told."""
        callee = syntax.child(call, "function")
        if callee is None or any(one.kind not in ("made", "external") for one in targets):
            return None
        for owner, name, inside in self._members(callee, function, file):
            named = self._by_last.get(name, [])
            if not named or self._is_told(owner, file, inside):
                continue
            sources = self._sources.of(owner, file, inside)
            loaded = [one for one in named if is_among(one.file, sources)]
            if loaded:
                return NativeCall(tuple(loaded), sources)
            if not self._is_common(name):
                return NativeCall(tuple(named), sources, by_name=True)
        return None

    def _members(
        self, callee: Node, function: PyFunction | None, file: str
    ) -> list[tuple[Node, str, PyFunction | None]]:
        """The owner and the name of a callee `owner.name`, or of what a variable is set to."""
        if callee.type == "attribute":
            owner, name = syntax.child(callee, "object"), syntax.child(callee, "attribute")
            if owner is None or name is None:
                return []
            return [(owner, syntax.text_of(name), function)]
        if callee.type == "call":  # getattr(module, "name")
            word = syntax.child(callee, "function")
            first, text = argument(callee, "", 0), string_of(argument(callee, "", 1))
            if word is None or syntax.text_of(word) != "getattr" or first is None or not text:
                return []
            return [(first, text, function)]
        if callee.type != "identifier":
            return []
        local, scope = syntax.text_of(callee), function
        while scope is not None:
            values = self._names.assigned_in(scope).get(local)
            if values is not None:
                break
            scope = self._names.around(scope)
        else:
            values = self._names.index.module(file).assigned.get(local, [])
        kinds = ("attribute", "call")
        return [
            found
            for value in values
            if value.type in kinds
            for found in self._members(value, scope, file)
        ]

    def _is_told(self, owner: Node, file: str, function: PyFunction | None) -> bool:
        """Whether the value is known to be something else than a native module."""
        while owner.type == "parenthesized_expression" and owner.named_children:
            owner = owner.named_children[0]
        if owner.type in _TOLD or syntax.text_of(owner) in ("self", "cls", "super()"):
            return True
        if owner.type == "identifier" and function is not None:
            values = self._names.assigned_in(function).get(syntax.text_of(owner), [])
            if values and all(value.type in _TOLD for value in values):
                return True
        targets = self._names.evaluate(owner, file, function)
        return bool(targets) and not any(
            one.kind == "made" and _OPENS.search(one.full) for one in targets
        )

    def _is_common(self, name: str) -> bool:
        """Whether containers, or classes of this repository, have a method of that name."""
        if name in _COMMON or name.startswith("__"):
            return True
        if name not in self._methods:
            index = self._names.index
            pattern = re.compile(rf"^[ \t]+(?:async )?def {re.escape(name)}\b", re.MULTILINE)
            self._methods[name] = any(
                name in owner.methods
                for file in index.sources.containing(name, index.sources.python_files)
                if pattern.search(index.sources.text(file))
                for owner in index.module(file).classes.values()
            )
        return self._methods[name]


def is_among(file: str, sources: frozenset[str]) -> bool:
    """Whether a file is one of those of which the ends of the paths are given."""
    return any(("/" + file).endswith("/" + one) for one in sources)
