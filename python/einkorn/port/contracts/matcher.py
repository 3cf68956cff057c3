"""Matchers of tensors: TensorMatcher({N, 128}).with_dtype<half>().verify(x)."""

from einkorn.port.chain.names import split_arguments
from einkorn.port.conditions.expressions import Expr, attribute, name
from einkorn.port.conditions.parse import from_cpp
from einkorn.port.contracts.guards import guards_of, when
from einkorn.port.contracts.model import Requirement, Stated
from einkorn.port.sources.syntax import Node, line_of, text_of, walk

_ANY_SIZE = {"-1", "kAnySize", "details::kAnySize", "host::kAnySize"}


def matchers_of(function: Node) -> Stated:
    """What the matchers in a function ask of the tensors that they verify."""
    stated = Stated()
    for node in walk(function, {"call_expression"}):
        parent = node.parent
        if parent is not None and parent.type == "field_expression":
            continue  # the middle of a chain
        if "Matcher" not in text_of(node):
            continue
        chain = _chain(from_cpp(node))
        if chain and chain[0][0].endswith("Matcher") and any(one[0] == "verify" for one in chain):
            _read(chain, node, when(guards_of(node, function)), stated)
    if stated.sizes:
        for node in walk(function, {"call_expression"}):
            if "set_options" in text_of(node):
                _options(node, function, stated)
    return stated


_Link = tuple[str, str, tuple[Expr, ...]]  # method, template arguments, arguments


def _chain(expr: Expr) -> list[_Link]:
    """A chain of calls from its beginning: [("TensorMatcher", "", ({N, 128},)), ...]."""
    links: list[_Link] = []
    while expr.op == "call":
        callee, *arguments = expr.parts
        links.append((callee.word.rsplit("::", 1)[-1], expr.word, tuple(arguments)))
        if callee.op != "attribute":
            return links[::-1]
        expr = callee.parts[0]
    return []


def _read(chain: list[_Link], node: Node, around: str, stated: Stated) -> None:
    line, first = line_of(node), chain[0][2]
    extents = first[0].parts if first and first[0].op == "list" else first
    links = {word: (template, arguments) for word, template, arguments in chain[1:]}
    tensors = [arguments[0] for word, _, arguments in chain if word == "verify" and arguments]
    for i, tensor in enumerate(tensors):
        for condition, kind in _conditions(tensor, extents, links):
            stated.requirements.append(
                Requirement(condition, "TensorMatcher", line, around, about=kind)
            )
        if i == 0:
            _bind(tensor, extents, links, line, stated)


def _conditions(
    tensor: Expr, extents: tuple[Expr, ...], links: dict[str, tuple[str, tuple[Expr, ...]]]
) -> list[tuple[Expr, str]]:
    found = [(Expr("==", (_method(tensor, "dim"), _number(len(extents)))), "rank")]
    for i, extent in enumerate(extents):
        if str(extent) not in _ANY_SIZE:
            found.append((Expr("==", (_method(tensor, "size", _number(i)), extent)), "shape"))
    if "with_dtype" in links:
        template, arguments = links["with_dtype"]
        kinds = [name(one) for one in split_arguments(template)] or list(arguments[:1])
        if len(kinds) > 1:
            found.append(
                (Expr("in", (_method(tensor, "dtype"), Expr("list", tuple(kinds)))), "dtype")
            )
        elif kinds:
            found.append((Expr("==", (_method(tensor, "dtype"), kinds[0])), "dtype"))
    if "with_device" in links:
        template, arguments = links["with_device"]
        devices = [name(one) for one in split_arguments(template)] or list(arguments[:1])
        if len(devices) == 1:
            found.append((Expr("==", (_method(tensor, "device"), devices[0])), "device"))
        elif devices:
            listed = Expr("list", tuple(devices))
            found.append((Expr("in", (_method(tensor, "device"), listed)), "device"))
    strides = links.get("with_strides", ("", ()))[1]
    if strides:
        listed_strides = strides[0].parts if strides[0].op == "list" else strides
        for i, stride in enumerate(listed_strides):
            if str(stride) not in _ANY_SIZE:
                at = _method(tensor, "stride", _number(i))
                found.append((Expr("==", (at, stride)), "stride"))
    else:
        found.append((_method(tensor, "is_contiguous"), "stride"))
    return found


def _bind(
    tensor: Expr,
    extents: tuple[Expr, ...],
    links: dict[str, tuple[str, tuple[Expr, ...]]],
    line: int,
    stated: Stated,
) -> None:
    """The symbols of a matcher hold what the first tensor has."""
    known = {word for word, _, _ in stated.sizes}
    found = [
        (extent.word, Expr("index", (attribute(tensor, "shape"), _number(i))))
        for i, extent in enumerate(extents)
        if extent.op == "name"
    ]
    for word, property_ in (("with_dtype", "dtype"), ("with_device", "device")):
        arguments = links.get(word, ("", ()))[1]
        if arguments and arguments[0].op == "name":
            found.append((arguments[0].word, attribute(tensor, property_)))
    strides = links.get("with_strides", ("", ()))[1]
    listed = strides[0].parts if strides and strides[0].op == "list" else strides
    found += [
        (stride.word, Expr("index", (attribute(tensor, "stride"), _number(i))))
        for i, stride in enumerate(listed)
        if stride.op == "name" and stride.word not in {word for word, _ in found}
    ]
    stated.sizes += [(word, line, value) for word, value in found if word not in known]


def _options(node: Node, function: Node, stated: Stated) -> None:
    """device.set_options<kDLCUDA>() asks it of what the symbol is bound to."""
    expr = from_cpp(node)
    if expr.op != "call" or expr.parts[0].op != "attribute" or not expr.word:
        return
    symbol = expr.parts[0].parts[0]
    bound = next((value for word, _, value in stated.sizes if word == symbol.word), None)
    if expr.parts[0].word == "set_options" and bound is not None:
        options = [name(one) for one in split_arguments(expr.word)]
        condition = (
            Expr("==", (bound, options[0]))
            if len(options) == 1
            else Expr("in", (bound, Expr("list", tuple(options))))
        )
        around = when(guards_of(node, function))
        stated.requirements.append(
            Requirement(condition, "TensorMatcher", line_of(node), around, about=bound.word)
        )


def _method(tensor: Expr, word: str, *arguments: Expr) -> Expr:
    return Expr("call", (attribute(tensor, word), *arguments))


def _number(value: int) -> Expr:
    return Expr("number", (), str(value))
