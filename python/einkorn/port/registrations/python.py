"""Registrations that Python makes: custom ops, Triton kernels, sources compiled on use."""

import re
from collections.abc import Iterator

from einkorn.port.model import Gap, Registration
from einkorn.port.python.index import PyFunction, argument, decorators_of, string_of
from einkorn.port.python.names import PythonNames
from einkorn.port.registrations.extensions import sources_of
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

_WORDS = re.compile(
    r"custom_op|triton_op|register_fake|register_kernel|impl_abstract|torch\.library|Library\("
    r"|\.jit\b|import\s+(?:.*\W)?jit\b|load_inline|cpp_extension|cuda_wrappers|cpp_wrappers"
    r"|register_global_func|register_func"
)
_CALLED = re.compile(
    r"custom_op|triton_op|register_|impl_abstract|torch\.library|Library\(|load_inline"
    r"|cpp_extension|cuda_wrappers|cpp_wrappers"
)
_OPS = {"custom_op", "triton_op"}
# Of an op that is defined elsewhere. What stands for the op in tracing comes with it.
_PARTS = {
    *("register_fake", "impl_abstract", "register_kernel", "register_autograd", "register_vmap"),
    *("register_torch_dispatch", "impl", "register_autocast"),
}
_HELPERS = {"register_custom_op", "direct_register_custom_op"}  # of vLLM and SGLang
SHAPE_ONLY = re.compile(r"register_fake|impl_abstract|fake_impl|\bMeta\b|register_vmap")


def registrations_in(names: PythonNames, file: str) -> list[Registration]:
    """Those of one file, in the order of the text. What is no literal is told in the gaps."""
    if not _WORDS.search(names.index.sources.text(file)):
        return []
    found: list[Registration] = []
    module = names.index.module(file)
    for function in module.functions:
        for decorator in decorators_of(function.node):
            found += _decorated(decorator, function, names)
    found += _triton(names, file)
    called = _CALLED.search(names.index.sources.text(file))
    for call in syntax.walk(module.root, {"call"}) if called else ():
        if call.parent is not None and call.parent.type == "decorator":
            continue
        found += _called(call, file, names)
    return sorted(found, key=lambda one: one.line)


def _decorated(decorator: Node, function: PyFunction, names: PythonNames) -> Iterator[Registration]:
    call = decorator if decorator.type == "call" else None
    callee = syntax.child(call, "function") if call is not None else decorator
    if callee is None:
        return
    word = re.split(r"\W", syntax.text_of(callee))[-1]
    public = None
    if word in _OPS and call is not None:
        public = string_of(argument(call, "name", 0))
    elif word in _HELPERS:
        public = string_of(argument(call, "op_name")) if call is not None else None
        first = string_of(argument(call, "name", 0)) if call is not None else None
        public = first if public is None and first and "::" in first else public
        public = public or function.name
    elif word in _PARTS:
        public = _op_of_part(callee, call, function.file, names)
    elif word in ("register_global_func", "register_func"):
        public = (string_of(argument(call, "func_name", 0)) if call else None) or function.name
        yield _at("tvm_ffi", public, function.symbol, function.file, decorator)
        return
    if public is not None:
        yield _at("torch_custom_op", public, function.symbol, function.file, decorator)


def _op_of_part(callee: Node, call: Node | None, file: str, names: PythonNames) -> str | None:
    """The op of `@register_fake("ns::op")`, `@op.register_fake` or `@impl(library, "op")`."""
    first = argument(call, "qualname", 0) if call is not None else None
    literal = string_of(first)
    if literal is not None and "::" in literal:
        return literal
    if first is not None and literal is None and call is not None:
        name = string_of(argument(call, "name", 1))
        space = _library_of(first, file, names)
        if name is not None and space is not None:
            return f"{space}::{name.partition('(')[0]}"
    owner = syntax.child(callee, "object")
    for target in names.evaluate(owner, file, None) if owner is not None else []:
        for decorator in decorators_of(target.function.node) if target.function else []:
            made_by = syntax.child(decorator, "function")
            if made_by is not None and re.split(r"\W", syntax.text_of(made_by))[-1] in _OPS:
                return string_of(argument(decorator, "name", 0))
    return None


def _library_of(node: Node, file: str, names: PythonNames) -> str | None:
    for target in names.evaluate(node, file, None):
        if target.kind == "made" and target.full.endswith("Library") and target.text:
            return target.text
    return None


def _called(call: Node, file: str, names: PythonNames) -> Iterator[Registration]:
    callee = syntax.child(call, "function")
    if callee is None:
        return
    word = re.split(r"\W", syntax.text_of(callee))[-1]
    if word in ("define", "impl", "register_fake", *_OPS, *_HELPERS, *_PARTS):
        yield from _op_called(call, callee, word, file, names)
    elif word == "load_inline":
        yield from _load_inline(call, file, names)
    elif word == "load" and argument(call, "sources") is not None:
        yield _loaded(call, file)
    if any(argument(call, key) is not None for key in ("cuda_wrappers", "cpp_wrappers")):
        for key in ("cuda_wrappers", "cpp_wrappers"):
            yield from _load_jit(call, key, file, names)


def _op_called(
    call: Node, callee: Node, word: str, file: str, names: PythonNames
) -> Iterator[Registration]:
    first, second = argument(call, "name", 0), argument(call, "fn", 1)
    function = second or argument(call, "func") or argument(call, "op_func")
    if word in _HELPERS:
        public = string_of(argument(call, "op_name", 0))
        if public is not None and (body := argument(call, "op_func", 1)) is not None:
            yield _at("torch_custom_op", public, _symbol(body, file, names), file, call)
            if (fake := argument(call, "fake_impl")) is not None:
                yield _at("torch_custom_op", public, _symbol(fake, file, names), file, fake)
        return
    literal = string_of(first)
    if literal is None:
        return
    owner = syntax.child(callee, "object")
    space = _library_of(owner, file, names) if owner is not None else None
    name = literal.partition("(")[0].strip()
    if space is None and "::" not in name:
        return
    public = name if "::" in name else f"{space}::{name}"
    if word == "define":
        schema = literal if "(" in literal else name + (string_of(second) or "")
        yield _at("torch_custom_op", public, schema, file, call)
    elif function is not None and function.type != "string":
        yield _at("torch_custom_op", public, _symbol(function, file, names), file, call)


def _symbol(node: Node, file: str, names: PythonNames) -> str:
    targets = names.evaluate(node, file, None)
    return targets[0].full if targets else syntax.text_of(node)


def _load_inline(call: Node, file: str, names: PythonNames) -> Iterator[Registration]:
    listed = argument(call, "functions", 3)
    name = string_of(argument(call, "name", 0))
    for value in _literals(listed, file, names):
        function = string_of(value)
        if function is not None:
            public = f"{name}.{function}" if name else function
            yield _at("load_inline", public, function, file, value)
    if listed is not None and not list(_literals(listed, file, names)):
        what = f"functions that are no literals: {syntax.text_of(listed)[:60]}"
        names.index.sources.gaps.append(Gap(what, file, syntax.line_of(call)))


def _literals(node: Node | None, file: str, names: PythonNames) -> Iterator[Node]:
    """The members of a list, the keys of a dict; through a name that the file assigns."""
    if node is None:
        return
    if node.type == "identifier":
        for value in names.index.module(file).assigned.get(syntax.text_of(node), []):
            yield from _literals(value, file, names) if value.type != "identifier" else ()
    elif node.type in ("list", "tuple", "set"):
        for one in node.named_children:
            if one.type != "comment":
                yield one
    elif node.type == "dictionary":
        for pair in syntax.children(node, "pair"):
            key = syntax.child(pair, "key")
            if key is not None:
                yield key
    elif node.type in ("string", "concatenated_string"):
        yield node


def _loaded(call: Node, file: str) -> Registration:
    """torch.utils.cpp_extension.load: a module whose functions the sources register."""
    sources = argument(call, "sources")
    found = sources_of(sources) if sources is not None else []
    name = string_of(argument(call, "name", 0)) or "load"
    return _at("load_inline", name, ", ".join(found), file, call)


def _load_jit(call: Node, key: str, file: str, names: PythonNames) -> Iterator[Registration]:
    """`cuda_wrappers=[("public", f"function<{arguments}>")]`."""
    listed = argument(call, key)
    if listed is None:
        return
    pairs = [one for one in _literals(listed, file, names) if one.type == "tuple"]
    literal = False
    for pair in pairs:
        texts = [string_of(one) for one in pair.named_children]
        if len(texts) >= 2 and texts[0] is not None and texts[1] is not None:
            literal = True
            yield _at("load_jit", texts[0], texts[1], file, pair)
    if not literal and listed.type != "identifier":
        what = f"wrappers that are no literals: {syntax.text_of(listed)[:60]}"
        names.index.sources.gaps.append(Gap(what, file, syntax.line_of(call)))


def is_triton(function: PyFunction) -> bool:
    """Whether a decorator compiles it with Triton."""
    for decorator in decorators_of(function.node):
        callee = syntax.child(decorator, "function") if decorator.type == "call" else decorator
        text = syntax.text_of(callee) if callee is not None else ""
        if re.fullmatch(r"(?:triton|gluon|tl)(?:\.\w+)*\.jit", text):
            return True
    return False


def _triton(names: PythonNames, file: str) -> Iterator[Registration]:
    """Kernels; what only other kernels call is a part of those."""
    module = names.index.module(file)
    kernels = [one for one in module.functions if is_triton(one) or _imported_jit(one, names)]
    called = {
        call.name for one in kernels for call in names.index.calls(one) if call.name != one.name
    }
    for kernel in kernels:
        if kernel.name not in called:
            yield Registration("triton", kernel.name, kernel.symbol, file, kernel.line)


def _imported_jit(function: PyFunction, names: PythonNames) -> bool:
    imported = names.index.imports(function.file).get("jit", "")
    return imported.startswith("triton.") and any(
        re.match(r"jit\b", one) for one in function.decorators
    )


def _at(kind: str, public: str, symbol: str, file: str, node: Node) -> Registration:
    return Registration(kind, public, symbol, file, syntax.line_of(node))  # type: ignore[arg-type]
