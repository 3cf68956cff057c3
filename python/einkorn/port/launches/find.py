"""Where a function launches kernels, and with what grid, block, shared memory and stream.

A launch is told where the kernel is named: a helper that launches what it is given is looked
through, and the launch is that of its caller.
"""

from collections.abc import Callable, Iterator

from einkorn.port.cpp import names as cpp_names
from einkorn.port.cpp.calls import Use, arguments_of, uses_of
from einkorn.port.cpp.functions import Function
from einkorn.port.cpp.index import CppIndex, plain_symbol
from einkorn.port.launches import values as launch_values
from einkorn.port.launches.selectors import SelectedValues
from einkorn.port.launches.values import Values
from einkorn.port.model import Gap, Launch
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

# Of the runtime's and the driver's functions: where the kernel stands, then grid, block, shared
# memory and stream; three numbers each where the driver takes x, y and z.
_DIRECT: dict[str, tuple[int, slice, slice, int, int]] = {
    "cudaLaunchKernel": (0, slice(1, 2), slice(2, 3), 4, 5),
    "cudaLaunchCooperativeKernel": (0, slice(1, 2), slice(2, 3), 4, 5),
    "hipLaunchKernel": (0, slice(1, 2), slice(2, 3), 4, 5),
    "hipLaunchKernelGGL": (0, slice(1, 2), slice(2, 3), 3, 4),
    "cuLaunchKernel": (0, slice(1, 4), slice(4, 7), 7, 8),
    "cuLaunchCooperativeKernel": (0, slice(1, 4), slice(4, 7), 7, 8),
}
# These take a configuration object and the kernel.
_CONFIGURED = {
    "cudaLaunchKernelEx": (0, 1),
    "cudaLaunchKernelExC": (0, 1),
    "cuLaunchKernelEx": (0, 1),
    "launch_kernel_on_cluster": (0, 1),  # cutlass
}
_ADAPTER_CALLS = {"run", "operator()"}


def launches_of(index: CppIndex, function: Function) -> list[Launch]:
    """The launches in the function's own text and in macros it uses, in their order.

    `kernel` is as written, a variable replaced by what it is set to: one Launch for each kernel
    that it may hold. `grid` and the others are as written, "name = value" for a local variable.
    """
    return _Launches(index, function).found()


class _Launches:
    def __init__(self, index: CppIndex, function: Function) -> None:
        self.index = index
        self.function = function
        self.values = SelectedValues(index, function)
        self.uses, self.names = self.values.uses, self.values.names

    def found(self) -> list[Launch]:
        launches: list[Launch] = []
        seen: set[Launch] = set()
        for use in self.uses:
            if use.node.type != "call_expression":
                continue
            for launch in self._at(use):
                if launch not in seen:
                    seen.add(launch)
                    launches.append(launch)
        return launches

    def _at(self, use: Use) -> Iterator[Launch]:
        callee = syntax.child(use.node, "function")
        if callee is None:
            return
        if configured := syntax.children(use.node, "kernel_call_syntax"):
            given = [self.values.shown(one) for one in launch_values.parts(configured[0])]
            yield from self._launches(use, callee, *given)
            return
        arguments = launch_values.parts(syntax.child(use.node, "arguments"))
        last = cpp_names.last_name(callee)
        name = syntax.text_of(last) if last is not None else ""
        if name in _DIRECT and len(arguments) > max(_DIRECT[name][3:]):
            yield from self._direct(use, name, arguments)
        elif name in _CONFIGURED and len(arguments) > 1:
            config, kernel = _CONFIGURED[name]
            yield from self._configured(use, arguments[config], arguments[kernel])
        elif callee.type == "call_expression" or self.values.kind_of(callee):
            yield from self._object(use, callee, arguments)
        elif name and self._adapter(callee):
            yield from self._adapter_launch(use, callee, name)
        elif last is not None:
            yield from self._helper(use, name, syntax.text_of(callee), arguments)

    def _launches(
        self, use: Use, kernel: Node, *given: str, more: tuple[str, ...] = ()
    ) -> Iterator[Launch]:
        grid, block, shared, stream = (*given, *("", "", "0", "")[len(given) :])[:4]
        for name in self.values.kernels(kernel):
            if name in {one.name for one in self.function.parameters}:
                what = f"launches the kernel it is given as '{name}': see where it is called"
                self.index.sources.gaps.append(Gap(what, self.function.file, use.line))
                continue
            attributes = (*self.values.attributes_of(name), *more)
            yield Launch(
                name, self.function.file, use.line, grid, block, shared or "0", stream,
                attributes, self.function.symbol,
            )  # fmt: skip

    def _direct(self, use: Use, name: str, arguments: list[Node]) -> Iterator[Launch]:
        kernel, grid, block, shared, stream = _DIRECT[name]
        shown: Callable[[slice], str] = lambda part: ", ".join(  # noqa: E731
            self.values.shown(one) for one in arguments[part]
        )
        more = ("cooperative",) if "Cooperative" in name else ()
        given = [shown(grid), shown(block)]
        given += [self.values.shown(arguments[one]) for one in (shared, stream)]
        yield from self._launches(use, arguments[kernel], *given, more=more)

    def _configured(self, use: Use, config: Node, kernel: Node) -> Iterator[Launch]:
        fields = self.values.configuration(config)
        given = [fields.get(one, "") for one in ("grid", "block", "shared", "stream")]
        yield from self._launches(use, kernel, *given, more=self.values.launch_attributes(config))

    def _object(self, use: Use, callee: Node, arguments: list[Node]) -> Iterator[Launch]:
        """Launcher(grid, block, stream).option(x)(kernel, ...), or a variable that holds one."""
        options: list[str] = []
        maker = callee
        while maker.type == "call_expression":
            inner = syntax.child(maker, "function")
            if inner is None:
                return
            if inner.type == "field_expression":
                option = cpp_names.last_name(inner)
                owner = syntax.child(inner, "argument")
                given = ", ".join(arguments_of(syntax.child(maker, "arguments")))
                options.insert(0, f"{syntax.text_of(option) if option else ''}({given})")
                if owner is None:
                    return
                maker = owner
            else:
                break
        made = self.values.construction(maker)
        if made is None or not arguments:
            return
        kind, nodes = made
        given = syntax.text_of(arguments[0])
        # A template parameter is told by those who follow calls: template <auto kernel> launch().
        templated = any(one.split()[-1:] == [given] for one in self.function.template_parameters)
        if not templated and not self._is_kernel(arguments[0]):
            if "launch" in kind.lower() and len(nodes) > 1:
                what = f"which kernel {given[:60]} is can't be told"
                self.index.sources.gaps.append(Gap(what, self.function.file, use.line))
            return
        fields = self._roles(kind.split("::")[-1].split("<")[0], kind, nodes)
        given_fields = [fields.get(one, "") for one in ("grid", "block", "shared", "stream")]
        yield from self._launches(use, arguments[0], *given_fields, more=tuple(options))

    def _helper(self, use: Use, name: str, written: str, arguments: list[Node]) -> Iterator[Launch]:
        """A function of the sources that is given a kernel and launches it."""
        if name.startswith(("cuda", "cu", "hip")):
            return
        for position, argument in enumerate(arguments):
            if not self._is_kernel(argument):
                continue
            fields = self._roles(name, written, arguments)
            if self._launches_parameter(written, position) or "launch" in name.lower():
                given = [fields.get(one, "") for one in ("grid", "block", "shared", "stream")]
                yield from self._launches(use, argument, *given, more=(f"by {written}",))
            return

    def _launches_parameter(self, written: str, position: int) -> bool:
        for function in self.index.named(self.names.resolved(written)):
            if not function.is_definition or position >= len(function.parameters):
                continue
            parameter = function.parameters[position].name
            other = Values(function, self.names, [])
            for use in uses_of(function, self.index):
                if launch_values.launched(use.node, other) == parameter:
                    return True
        return False

    def _roles(self, name: str, symbol: str, nodes: list[Node]) -> dict[str, str]:
        """Which arguments are grid, block, shared memory and stream: by the parameters' names."""
        candidates = self.index.named(f"{symbol}::{name}") or self.index.named(symbol)
        for function in candidates:
            roles = launch_values.roles([one.name for one in function.parameters])
            if "grid" in roles.values() or "block" in roles.values():
                return {
                    role: self.values.shown(nodes[at])
                    for at, role in roles.items()
                    if at < len(nodes)
                }
        roles = launch_values.roles([syntax.text_of(one) for one in nodes])
        return {role: self.values.shown(nodes[at]) for at, role in roles.items()}

    def _is_kernel(self, node: Node) -> bool:
        return any(
            function.is_kernel
            for name in self.values.kernels(node)
            if plain_symbol(name).rpartition("::")[2] in self.index.kernel_names()
            for function in self.index.named(name)
        )

    def _adapter(self, callee: Node) -> str:
        """The type of a CUTLASS device-level operator that is called; "" where it is none."""
        target = self.names.target(callee, syntax.text_of(callee))
        owner = target.rpartition("::")[0]
        plain = owner.split("<")[0]
        return owner if "gemm::device::" in plain or "device::Gemm" in plain or (
            "conv::device::" in plain or plain.endswith(("UniversalAdapter", "UniversalBase"))
        ) else ""  # fmt: skip

    def _adapter_launch(self, use: Use, callee: Node, name: str) -> Iterator[Launch]:
        owner = self._adapter(callee)
        is_object = callee.type == "identifier"
        if not is_object and name not in _ADAPTER_CALLS:
            return
        arguments = arguments_of(syntax.child(use.node, "arguments"))
        stream = next((one for one in arguments if "stream" in one.lower()), "")
        more = ("grid, block and shared memory are chosen by the device adapter",)
        yield Launch(
            owner, self.function.file, use.line, "", "", "", stream, more, self.function.symbol
        )
