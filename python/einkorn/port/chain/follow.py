"""The true path from a function that users call down to the kernels it launches."""

import dataclasses

from einkorn.port.chain.cpp import CallResolver, Environment, Meaning
from einkorn.port.chain.entry import entries_of, is_file
from einkorn.port.chain.native import NativeCalls
from einkorn.port.chain.python import Registered, is_extension_call, triton_launch
from einkorn.port.chain.symbols import Symbols
from einkorn.port.cpp.index import Call, CppIndex, Function
from einkorn.port.launches.find import launches_of
from einkorn.port.model import Gap, Launch, Registration, Step
from einkorn.port.python.index import PyFunction, PythonIndex, call_nodes
from einkorn.port.python.names import PythonNames
from einkorn.port.python.targets import Target, is_loader
from einkorn.port.registrations.cpp import LAMBDA
from einkorn.port.registrations.python import is_triton
from einkorn.port.sources import syntax

_DEEPEST = 64
# One function under so many different template arguments is followed; more differ in nothing new.
_MOST_ENVIRONMENTS = 12


@dataclasses.dataclass
class Chain:
    """What an entry reaches. `steps` end with the kernels; `functions` has device functions too."""

    entry: str = ""
    steps: list[Step] = dataclasses.field(default_factory=list)
    functions: list[Function] = dataclasses.field(default_factory=list)
    python: list[PyFunction] = dataclasses.field(default_factory=list)
    registrations: list[Registration] = dataclasses.field(default_factory=list)
    kernels: list[Function] = dataclasses.field(default_factory=list)
    launches: list[Launch] = dataclasses.field(default_factory=list)
    gaps: list[Gap] = dataclasses.field(default_factory=list)
    entries: list[Function | PyFunction] = dataclasses.field(default_factory=list)


def follow(
    cpp: CppIndex, python: PythonIndex, registrations: list[Registration], entry: str
) -> Chain:
    """From `entry`: a function of Python or C++, qualified or not, "file.py:function", or a file.

    Raises PortError where there is no such function. Where a call may mean several functions all
    are followed, and a gap says so.
    """
    walker = _Walker(cpp, python, registrations, entry)
    found = entries_of(cpp, python, registrations, entry)
    named = {one.symbol for one in walker.registered_first(found)}
    roots = []
    for one in sorted(found, key=lambda one: one.symbol not in named):
        if walker.has_reached(one):
            continue  # a function of one name that the first of them calls
        roots.append(one)
        if isinstance(one, PyFunction):
            walker.python(one, 0, 0)
        else:
            walker.cpp(Meaning(one), 0, 0)
    walker.chain.entries = roots
    # The methods of one class are one entry.
    owners = {(one.symbol.rpartition(".")[0], one.file) for one in roots}
    if len(owners) > 1 or (len(roots) > 1 and not isinstance(roots[0], PyFunction)):
        places = ", ".join(f"{one.symbol} ({one.file}:{one.line})" for one in roots[:8])
        if not is_file(entry, cpp):
            walker.gap(f"'{entry}' names several functions, all followed: {places}")
    walker.add_registrations_of_entries()
    return walker.chain


class _Walker:
    """Goes down once per function, or per function and template arguments."""

    def __init__(
        self, cpp: CppIndex, python: PythonIndex, registrations: list[Registration], entry: str
    ) -> None:
        self.index = cpp
        self.names = PythonNames(python)
        self.registered = Registered(registrations, python)
        self.native = NativeCalls(self.names, registrations)
        self.resolver = CallResolver(cpp)
        self.symbols = Symbols(cpp, self.names, self.resolver.visible)
        self.chain = Chain(entry)
        self._seen: dict[tuple[str, int], set[Environment]] = {}
        self._launched: set[Launch] = set()

    def gap(self, what: str, file: str = "", line: int = 0) -> None:
        one = Gap(what, file, line)
        if one not in self.chain.gaps:
            self.chain.gaps.append(one)

    def _enter(
        self, key: tuple[str, int], environment: Environment, depth: int
    ) -> tuple[bool, bool]:
        """Whether to go on, and whether it is the first time here."""
        known = self._seen.setdefault(key, set())
        first = not known
        if environment in known or len(known) >= _MOST_ENVIRONMENTS or depth > _DEEPEST:
            return False, False
        known.add(environment)
        return True, first

    def registered_first(self, found: list[Function | PyFunction]) -> list[Function | PyFunction]:
        """Those that are registered, or are methods that a class is used by."""
        return [
            one for one in found if isinstance(one, PyFunction) or self.registered.to({one.symbol})
        ]

    def has_reached(self, function: Function | PyFunction) -> bool:
        return (function.file, function.line) in self._seen

    def python(self, function: PyFunction, called_at: int, depth: int) -> None:
        go_on, first = self._enter((function.file, function.line), (), depth)
        if not go_on:
            return
        if first:
            self._step(function, called_at, depth)
            self.chain.python.append(function)
            for one in self.registered.as_python(function):
                if one not in self.chain.registrations:
                    self.chain.registrations.append(one)
        for call in sorted(call_nodes(function.node), key=lambda one: one.end_byte):
            self._python_call(call, function, depth)

    def _python_call(self, call: syntax.Node, caller: PyFunction, depth: int) -> None:
        callee = syntax.child(call, "function")
        line = syntax.line_of(call)
        launched = callee is not None and callee.type == "subscript"
        if is_loader(call):
            return  # how sources are compiled is no part of the path
        targets = self.names.callee(call, caller.file, caller)
        if self._native_call(call, caller, targets, depth):
            return
        for target in targets:
            if target.function is not None:
                if launched and is_triton(target.function):
                    self._launch(triton_launch(call, target.function, caller))
                self.python(target.function, line, depth + 1)
                continue
            found = self.registered.of(target)
            for one in found:
                self._registration(one, target.file or caller.file, line, depth)
            if not found and is_extension_call(target, self.names.index):
                self.gap(f"{target.full}: registered nowhere here", caller.file, line)

    def _native_call(
        self, call: syntax.Node, caller: PyFunction, targets: list[Target], depth: int
    ) -> bool:
        """Whether it calls a module that was loaded, of which the functions are then followed."""
        found = self.native.of(call, caller.file, caller, targets)
        line = syntax.line_of(call)
        if found is None or (found.by_name and any(self.registered.of(one) for one in targets)):
            return False
        places = ", ".join(f"{one.file}:{one.line}" for one in found.registrations[:8])
        callee = syntax.child(call, "function")
        shown = syntax.text_of(callee) if callee is not None else ""
        if found.by_name:
            self.gap(f"{shown}: followed by its name alone, to {places}", caller.file, line)
        elif len(found.registrations) > 1:
            what = f"{shown} may mean several of the sources loaded; all followed: {places}"
            self.gap(what, caller.file, line)
        for one in found.registrations:
            self._registration(one, caller.file, line, depth, found.sources)
        return True

    def _registration(
        self,
        one: Registration,
        file: str,
        line: int,
        depth: int,
        sources: frozenset[str] = frozenset(),
    ) -> None:
        if one not in self.chain.registrations:
            self.chain.registrations.append(one)
        if one.symbol == LAMBDA:
            self._lambda(one, line, depth)
            return
        if "(" in one.symbol or self.registered.is_shape_only(one):
            return  # a schema, a constructor, a stand-in
        functions = self.symbols.functions_of(one, sources)
        if len({(f.symbol, f.file) for f in functions}) > 1:
            places = ", ".join(f"{f.file}:{f.line}" for f in functions[:8])
            self.gap(f"{one.symbol} may mean several; all followed: {places}", one.file, one.line)
        for function in functions:
            if isinstance(function, PyFunction):
                self.python(function, line, depth + 1)
            else:
                self.cpp(Meaning(function), line, depth + 1)
        if not functions and one.symbol:
            self.gap(
                f"{one.public_name} leads to {one.symbol}, defined nowhere here", one.file, one.line
            )

    def _lambda(self, one: Registration, line: int, depth: int) -> None:
        """The calls of a lambda that is registered on the spot."""
        for function in self.index.functions_in(one.file):
            if not function.line <= one.line <= function.end_line:
                continue
            lambdas = syntax.walk(function.node, {"lambda_expression"})
            inside = [
                (syntax.line_of(node), node.end_point[0] + 1)
                for node in lambdas
                if syntax.line_of(node) in range(one.line, one.line + 4)
            ]
            for call in self.index.calls(function):
                if inside and inside[0][0] <= call.line <= inside[0][1]:
                    self._cpp_call(call, function, (), depth)

    def cpp(
        self,
        meaning: Meaning,
        called_at: int,
        depth: int,
        on_device: bool = False,
        below_kernel: bool = False,
    ) -> None:
        function, environment = meaning.function, meaning.environment
        go_on, first = self._enter((function.file, function.line), environment, depth)
        if not go_on:
            return
        if first:
            # What a kernel template is given to run is a step of the path as well.
            if not on_device or (function.name == "operator()" and below_kernel):
                self._step(function, called_at, depth)
            self.chain.functions.append(function)
        on_device = on_device or function.is_kernel
        launches = [] if on_device else launches_of(self.index, function)
        calls = self.index.calls(function)
        # In the order of the text: a kernel is launched where it stands among the calls.
        both: list[tuple[int, Call | Launch]] = [(one.line, one) for one in calls]
        both += [(one.line, one) for one in launches]
        for _, one in sorted(both, key=lambda pair: pair[0]):
            if isinstance(one, Launch):
                given = dict(environment).get(one.kernel)  # template <auto kernel> void launch()
                launch = dataclasses.replace(one, kernel=given) if given else one
                self._launch(launch)
                self._kernel(launch, function, environment, depth)
            else:
                self._cpp_call(one, function, environment, depth, on_device)

    def _cpp_call(
        self,
        call: Call,
        caller: Function,
        environment: Environment,
        depth: int,
        on_device: bool = False,
    ) -> None:
        found = self.resolver.called(call, caller, environment)
        if found.ambiguous:
            places = ", ".join(
                f"{one.function.file}:{one.function.line}" for one in found.meanings[:8]
            )
            self.gap(
                f"{call.callee} may mean several; all followed: {places}", call.file, call.line
            )
        if found.undefined and not found.meanings:
            self.gap(f"{call.callee}: declared, defined nowhere here", call.file, call.line)
        for meaning in found.meanings:
            self.cpp(meaning, call.line, depth + 1, on_device, caller.is_kernel)

    def _kernel(
        self, launch: Launch, launcher: Function, environment: Environment, depth: int
    ) -> None:
        found = self.resolver.kernel(launch.kernel, launcher, environment)
        if not found.meanings:  # named where a function chooses it that the launcher calls
            found = self.resolver.chosen_kernel(launch.kernel, launcher, environment)
        if not found.meanings:
            self.gap(f"the kernel {launch.kernel} is not defined here", launch.file, launch.line)
        for meaning in found.meanings:
            if meaning.function not in self.chain.kernels:
                self.chain.kernels.append(meaning.function)
            self.cpp(meaning, launch.line, depth + 1)

    def _launch(self, launch: Launch) -> None:
        if launch not in self._launched:
            self._launched.add(launch)
            self.chain.launches.append(launch)

    def _step(self, function: Function | PyFunction, called_at: int, depth: int) -> None:
        self.chain.steps.append(
            Step(function.symbol, function.file, function.line, called_at, depth)
        )

    def add_registrations_of_entries(self) -> None:
        """Under which names an entry of C++ is called from Python."""
        symbols = {one.symbol for one in self.chain.entries if isinstance(one, Function)}
        for one in self.registered.to(symbols):
            if one not in self.chain.registrations:
                self.chain.registrations.append(one)
