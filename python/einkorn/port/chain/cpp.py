"""Which functions a C++ call may mean, with the template arguments that its caller was given."""

import dataclasses
import re

from einkorn.port.chain.classes import Classes
from einkorn.port.chain.includes import Visible
from einkorn.port.chain.lambdas import Lambdas
from einkorn.port.chain.names import (
    split_qualified,
    substituted,
    template_levels,
    without_arguments,
)
from einkorn.port.cpp.index import Call, CppIndex, Function, plain_symbol
from einkorn.port.cpp.variables import member_values
from einkorn.port.sources import syntax

Environment = tuple[tuple[str, str], ...]  # template parameter, the argument's text
THIS = "this"  # in an environment: the class of the object, where a method is of a base of it
# A template argument longer than this is a nest of types that decides no call.
_LONGEST_ARGUMENT = 400
_DEEPEST_SELECTOR = 2  # of functions that choose a kernel by other functions


@dataclasses.dataclass(frozen=True)
class Meaning:
    """A function that is called, and what its template parameters are there."""

    function: Function = dataclasses.field(hash=False, compare=False)
    environment: Environment = ()


@dataclasses.dataclass
class Resolution:
    meanings: list[Meaning]
    ambiguous: bool = False  # two definitions fit that are no overloads of one another
    undefined: bool = False  # declared in the repository, defined nowhere in it


class CallResolver:
    """Looks calls up in an index. Nothing is said of what lies outside of the repository."""

    def __init__(self, index: CppIndex) -> None:
        self.index = index
        self.visible = Visible(index.sources)
        self.classes = Classes(index)
        self.lambdas = Lambdas(index)

    def called(self, call: Call, caller: Function, environment: Environment) -> Resolution:
        """What `call` in `caller` may run. Empty where that is not in the repository."""
        written = call.target or call.callee
        if re.match(r"this\s*->\s*", written):
            written = re.sub(r"this\s*->\s*(template\s+)?", "", written)
        if not re.fullmatch(r"(?:template |typename |~|::)*[A-Za-z_]\w*(?:.*)", written):
            return Resolution([])
        if re.match(r"[\w:<>, ]*[.()]|[\w:<>, ]*->", without_arguments(written)):
            return Resolution([])  # a member of an object whose type is not told
        found = Resolution([])
        for text in self.spellings(written, caller, environment):
            one = self._lookup(text, call, caller, dict(environment).get(THIS, ""))
            found.meanings += one.meanings
            found.ambiguous |= one.ambiguous
            found.undefined |= one.undefined
        return found

    def kernel(self, written: str, launcher: Function, environment: Environment) -> Resolution:
        """The kernel that a launch names."""
        found = Resolution([])
        local = self.lambdas.names_of(launcher)
        for text in self.spellings(local.resolved(written), launcher, environment):
            one = self._lookup(text, None, launcher, "")
            found.meanings += one.meanings
            found.ambiguous |= one.ambiguous
            found.undefined |= one.undefined
        return found

    def chosen_kernel(
        self, written: str, launcher: Function, environment: Environment
    ) -> Resolution:
        """The kernel as functions see it that the launcher calls, or that these call."""
        pending, seen = [(Meaning(launcher, environment), 0)], {(launcher.file, launcher.line)}
        while pending:
            caller, depth = pending.pop(0)
            for call in self.index.calls(caller.function):
                for one in self.called(call, caller.function, caller.environment).meanings:
                    place = (one.function.file, one.function.line)
                    if place in seen or one.function.is_kernel:
                        continue
                    seen.add(place)
                    if plain_symbol(written).rpartition("::")[2] in self.index.sources.words(
                        one.function.file
                    ):
                        found = self.kernel(written, one.function, one.environment)
                        if found.meanings:
                            return found
                    if depth < _DEEPEST_SELECTOR:
                        pending.append((one, depth + 1))
        return Resolution([])

    def spellings(self, text: str, function: Function, environment: Environment) -> list[str]:
        """`text` with template parameters put in; several where a generic lambda takes several."""
        known = {name: value for name, value in environment if name != THIS}
        text = substituted(text, known)
        first = re.match(r"(?:typename |template |::)*(\w+)", text)
        if first is None or first[1] in known:
            return [text]
        choices = self.lambdas.arguments(function).get(first[1], [])
        if not choices:
            return [text]
        return [
            text[: first.start(1)] + substituted(one, known) + text[first.end(1) :]
            for one in choices
        ]

    def _lookup(self, text: str, call: Call | None, caller: Function, this: str) -> Resolution:
        """`text` is a name with its qualifiers, aliases and template arguments resolved.

        `this` is the class of the object that `caller` runs on, where that is more than its own.
        """
        plain = plain_symbol(text)
        if not plain or plain.startswith("std::") or len(text) > 4 * _LONGEST_ARGUMENT:
            return Resolution([])
        candidates = self._fitting(plain, call, caller)
        if "::" in plain:
            this = ""
        if not candidates and "::" in plain:
            candidates = self._inherited(plain, call, caller)
            this = plain.split("::")[-2]
        if not candidates and not plain.endswith("operator()"):  # an object that is called at once
            candidates = self._fitting(plain + "::operator()", None, caller)
        ranked = self._told_apart(self._nearest(candidates, plain, caller), caller)
        definitions = [one for one in ranked if one.is_definition]
        overriding = self._overriding(ranked, this)  # which one runs, only the program knows
        if not definitions and not overriding:
            return Resolution([], undefined=bool(ranked))
        places = {(one.symbol, one.file) for one in definitions}
        symbols = {one.symbol for one in definitions}
        ambiguous = len(places) > 1 and (len(symbols) > 1 or len({f for _, f in places}) > 1)
        meanings = [
            Meaning(one, self._bound(one, text, call, caller, this))
            for one in [*definitions, *overriding]
        ]
        return Resolution(meanings, ambiguous)

    def _fitting(self, plain: str, call: Call | None, caller: Function) -> list[Function]:
        found = []
        for one in self.index.named(plain):
            if one.name.isupper() and "::" not in one.symbol and one.node.type != "declaration":
                continue  # the body of a macro such as PYBIND11_MODULE
            if call is not None and not _takes(one, len(call.arguments)):
                continue
            owner = self.classes.owner_of(one)
            free = not owner or "::" in plain or one.name == owner.rsplit("::", 1)[-1]
            if free or self._inherits(caller, owner):
                found.append(one)
        return found

    def _inherits(self, caller: Function, owner: str) -> bool:
        """Whether an unqualified name in `caller` may be a member of the class `owner`."""
        own = self.classes.owner_of(caller)
        if not own:
            return False
        return own == owner or own.startswith(owner + "::") or self._derives(caller, owner)

    def _overriding(self, functions: list[Function], this: str) -> list[Function]:
        """Definitions that override virtual ones, in classes that `this` or the owner may be."""
        found = []
        for function in functions:
            owner = self.classes.owner_of(function)
            if not owner or not re.match(r"[^{;]*\bvirtual\b", syntax.text_of(function.node)[:200]):
                continue
            for one in self.index.named(function.name):
                own = self.classes.owner_of(one).rpartition("::")[2]
                same = len(one.parameters) == len(function.parameters) and one.is_definition
                if same and own and (own == this or self._derives(one, this or owner)):
                    found.append(one)
        return found

    def _derives(self, method: Function, base: str) -> bool:
        own = self.classes.owner_of(method).rpartition("::")[2]
        return bool(own) and self.classes.derives(own, base.rpartition("::")[2])

    def _inherited(self, plain: str, call: Call | None, caller: Function) -> list[Function]:
        """Members that a class has from its bases: `plain` names them by the derived class."""
        scope, _, name = plain.rpartition("::")
        pending, seen = [scope.rpartition("::")[2]], set()
        while pending:
            one = pending.pop()
            if not one or one in seen:
                continue
            seen.add(one)
            for base in self.classes.bases_of(one):
                found = self._fitting(f"{base}::{name}", call, caller)
                if found:
                    return found
                pending.append(base.rpartition("::")[2])
        return []

    def _nearest(self, candidates: list[Function], plain: str, caller: Function) -> list[Function]:
        """Those of the same class, else file, else of what the caller's file includes.

        A function that is declared in an included header is defined elsewhere.
        """
        seen = self.visible.of(caller.file)
        own = self.classes.owner_of(caller)
        if own and (mine := [one for one in candidates if self.classes.owner_of(one) == own]):
            candidates = mine
        here = [one for one in candidates if one.file == caller.file and one.is_definition]
        if here:
            return _innermost(here, caller)
        included = [one for one in candidates if one.file in seen]
        if any(one.is_definition for one in included):
            return _innermost([one for one in included if one.is_definition], caller)
        if included:
            symbols = {one.symbol for one in _innermost(included, caller)}
            elsewhere = [one for one in candidates if one.symbol in symbols and one.is_definition]
            return elsewhere or included
        if "::" in plain:  # its include may hide behind a macro
            return [one for one in candidates if one.is_definition]
        return []

    def _told_apart(self, functions: list[Function], caller: Function) -> list[Function]:
        """Of several namespaces' functions, those that the caller uses; else those of its side."""
        if len({one.symbol.rpartition("::")[0] for one in functions}) < 2:
            return functions
        text = syntax.text_of(caller.node)
        used = re.findall(r"\busing namespace ([\w:]+)", text)
        used += re.findall(r"^using namespace ([\w:]+)", self.index.text(caller.file), re.MULTILINE)
        on_device = caller.is_kernel or caller.is_device
        found = [
            one for one in functions if any(f"::{space}::" in f"::{one.symbol}" for space in used)
        ]
        return found or [one for one in functions if one.is_device == on_device] or functions

    def _held(self, given: str, caller: Function) -> str:
        """A template argument; of a constant of the caller, its class or its file, the value."""
        if not re.fullmatch(r"[A-Za-z_]\w*", given):
            return given
        held = self.lambdas.names_of(caller).values.get(given)
        values = [held] if held is not None else member_values(caller.node, given)
        return syntax.text_of(values[0]).lstrip("&") if values else given

    def _bound(
        self, function: Function, text: str, call: Call | None, caller: Function, this: str
    ) -> Environment:
        """The template arguments that `text` gives, of the function and of its class."""
        local = self.lambdas.names_of(caller)
        bound: dict[str, str] = {}
        owner = self.classes.owner_of(function).rpartition("::")[2]
        if this and owner and owner != this and self.classes.derives(this, owner):
            bound[THIS] = this
        levels = template_levels(function)
        components = split_qualified(text)
        if components and function.name == "operator()" and components[-1][0] != "operator()":
            components.append(("operator()", []))
        for (_, arguments), parameters in zip(reversed(components), reversed(levels), strict=False):
            for name, given in zip(parameters, arguments, strict=False):
                argument = local.resolved(self._held(given, caller).removeprefix("typename "))
                if name and argument != name and len(argument) <= _LONGEST_ARGUMENT:
                    bound[name] = argument
        return tuple(sorted(bound.items()))


def _takes(function: Function, count: int) -> bool:
    parameters = function.parameters
    if any("..." in one.type or "..." in one.name for one in parameters):
        return True
    needed = sum(1 for one in parameters if not one.default)
    return needed <= count <= len(parameters)


def _innermost(candidates: list[Function], caller: Function) -> list[Function]:
    """Of those in namespaces around the caller, those in the nearest; else all."""
    scopes = caller.symbol.split("::")[:-1]
    for count in range(len(scopes), -1, -1):
        around = "::".join(scopes[:count])
        found = [one for one in candidates if one.symbol.rpartition("::")[0] == around]
        if found:
            return found
    return candidates
