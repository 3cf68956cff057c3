"""Registrations that C++ makes: pybind11 and nanobind modules, TORCH_LIBRARY, tvm-ffi."""

import re
from collections.abc import Iterator

from einkorn.port.cpp.index import CppIndex, Function
from einkorn.port.model import Gap, Registration
from einkorn.port.registrations.extensions import Extensions
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

_MODULES = {"PYBIND11_MODULE", "PYBIND11_EMBEDDED_MODULE", "NB_MODULE"}
_TORCH = re.compile(r"(?:STABLE_)?TORCH_LIBRARY(?:_FRAGMENT|_IMPL)?(?:_EXPAND)?")
_EXPORTS = {
    "TVM_FFI_DLL_EXPORT_TYPED_FUNC",
    "TVM_DLL_EXPORT_TYPED_FUNC",
    "TVM_DLL_EXPORT_PACKED_FUNC",
}
_GLOBALS = {"TVM_FFI_REGISTER_GLOBAL", "TVM_REGISTER_GLOBAL"}
_WORDS = (*_MODULES, *_EXPORTS, *_GLOBALS, "TORCH_LIBRARY", "GlobalDef", "ObjectDef")
_LIBRARY_WORD = re.compile(r"TORCH_LIBRARY|module_|\bmodule\s*&|\bLibrary\s*&")
# What a function is given to on its way to a registration.
_WRAPPERS = re.compile(
    r"(?:static|reinterpret|const|c_style)_cast|overload_cast|TORCH_FN|TORCH_BOX|wrap\w*|dispatch"
    r"|CppFunction|\w*Wrapper|make\w*|from_typed"
)
_NOT_CALLABLE = re.compile(
    r"(?:torch|c10|at)::(?:k[A-Z]\w*|DispatchKey::\w+|Tag::\w+)|\{.*\}|k[A-Z]\w+"
)
LAMBDA = "lambda"
# With what the order of the text goes by: a chain's first call is the innermost of the tree.
_Placed = tuple[int, Registration]


def registrations_in(cpp: CppIndex, file: str, extensions: Extensions) -> list[Registration]:
    """Those of one file, in the order of the text. Names that are no literals go to the gaps."""
    text = cpp.sources.text(file)
    if not any(word in text for word in _WORDS) and not _LIBRARY_WORD.search(text):
        return []
    found: list[_Placed] = []
    for function in cpp.functions_in(file):
        if not function.is_definition:
            continue
        given = [one.type or one.name for one in function.parameters]
        if function.name in _MODULES:
            name = _named(given, file, extensions)
            found += _pybind(function, name, {given[-1] if given else "m": name}, cpp)
        elif _TORCH.fullmatch(function.name):
            space = _named(given, file, extensions)
            found += _torch(function, space, given[-1] if given else "m", cpp)
        else:
            found += _in_helper(function, extensions, cpp)
    if any(word in text for word in (*_EXPORTS, *_GLOBALS, "GlobalDef", "ObjectDef")):
        found += _tvm_ffi(cpp.root(file), file)
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _named(given: list[str], file: str, extensions: Extensions) -> str:
    literal = given[0] if given else ""
    return literal if literal != "TORCH_EXTENSION_NAME" else extensions.name_for(file)


def _in_helper(function: Function, extensions: Extensions, cpp: CppIndex) -> list[_Placed]:
    """Of a function that is handed the module: void bind_ops(py::module_& m)."""
    for parameter in function.parameters:
        if re.search(r"\b(?:py|pybind11|nb|nanobind)::module_?\b", parameter.type):
            name = extensions.name_for(function.file)
            return _pybind(function, name, {parameter.name: name}, cpp)
        if re.search(r"\btorch::Library\b", parameter.type):
            return _torch(function, "", parameter.name, cpp)
    return []


def _pybind(
    function: Function, module: str, owners: dict[str, str], cpp: CppIndex
) -> list[_Placed]:
    body = function.body
    if body is None:
        return []
    for node in syntax.walk(body, {"declaration"}):
        _add_owner(node, owners)
    found = []
    for call, field, arguments in _member_calls(body):
        name = syntax.text_of(field)
        if not re.match(r"def(_static|_property\w*|_readonly|_readwrite)?$", name) or not arguments:
            continue
        owner = _owner(call, owners)
        if owner is None:
            continue
        public, symbol = _string(arguments[0]), ""
        if public is None and re.search(r"\binit\b", syntax.text_of(arguments[0])):
            public, symbol = "__init__", syntax.text_of(arguments[0])
        elif public is None:
            what = f"a name that is no literal: {syntax.text_of(call)[:60]}"
            cpp.sources.gaps.append(Gap(what, function.file, syntax.line_of(field)))
            continue
        elif len(arguments) > 1:
            symbol = callable_of(arguments[1])
        spelt = ".".join(filter(None, [owner, public]))
        one = Registration("pybind", spelt, symbol, function.file, syntax.line_of(field))
        found.append((field.start_byte, one))
    return found


def _add_owner(node: Node, owners: dict[str, str]) -> None:
    """`auto ops = m.def_submodule("ops")` and `py::class_<T> counter(m, "Counter")`."""
    declarator = syntax.child(node, "declarator")
    if declarator is None:
        return
    name = next(syntax.walk(declarator, {"identifier"}), None)
    value = syntax.child(declarator, "value")
    if name is None:
        return
    if value is not None and value.type == "call_expression":
        owner = _owner_of_value(value, owners)
        if owner is not None:
            owners[syntax.text_of(name)] = owner
    elif "class_<" in syntax.text_of(node):
        listed = value if value is not None else syntax.child(declarator, "parameters")
        given = listed.named_children if listed is not None else []
        public = next((_string(one) for one in given if _string(one) is not None), None)
        if given and public is not None:
            above = owners.get(syntax.text_of(given[0]), "")
            owners[syntax.text_of(name)] = ".".join(filter(None, [above, public]))


def _owner(call: Node, owners: dict[str, str]) -> str | None:
    """The dotted name of what a chain of `.def` begins with; None where it is no module of ours."""
    callee = syntax.child(call, "function")
    receiver = syntax.child(callee, "argument") if callee is not None else None
    while receiver is not None:
        if receiver.type == "identifier":
            return owners.get(syntax.text_of(receiver))
        if receiver.type != "call_expression":
            return None
        owner = _owner_of_value(receiver, owners)
        if owner is not None:
            return owner
        callee = syntax.child(receiver, "function")
        receiver = syntax.child(callee, "argument") if callee is not None else None
    return None


def _owner_of_value(call: Node, owners: dict[str, str]) -> str | None:
    callee, arguments = syntax.child(call, "function"), _arguments(call)
    if callee is None or not arguments:
        return None
    if callee.type == "field_expression":
        field = syntax.child(callee, "field")
        if field is None or syntax.text_of(field) != "def_submodule":
            return None
        above, public = _owner(call, owners), _string(arguments[0])
    elif re.search(r"\bclass_\s*<|\bexception\s*<", syntax.text_of(callee)) and len(arguments) > 1:
        above, public = owners.get(syntax.text_of(arguments[0])), _string(arguments[1])
    else:
        return None
    return None if public is None or above is None else ".".join(filter(None, [above, public]))


def _torch(function: Function, space: str, variable: str, cpp: CppIndex) -> list[_Placed]:
    body = function.body
    found = []
    for _, field, arguments in _member_calls(body) if body is not None else []:
        receiver = field.parent.children[0] if field.parent is not None else None
        if syntax.text_of(field) not in ("def", "impl") or not arguments or receiver is None:
            continue
        if syntax.text_of(receiver) != variable:
            continue
        line = syntax.line_of(field)
        schema = _string(arguments[0])
        if schema is None:
            what = f"an op whose name is no literal: {syntax.text_of(arguments[0])[:60]}"
            cpp.sources.gaps.append(Gap(what, function.file, line))
            continue
        name = schema.partition("(")[0].strip()
        public = name if "::" in name or not space else f"{space}::{name}"
        given = [one for one in arguments[1:] if not _NOT_CALLABLE.fullmatch(syntax.text_of(one))]
        symbol = callable_of(given[-1]) if given else schema
        one = Registration("torch_library", public, symbol, function.file, line)
        found.append((field.start_byte, one))
    return found


def _tvm_ffi(root: Node, file: str) -> list[_Placed]:
    found = []
    for node in syntax.walk(root, {"call_expression"}):
        callee, arguments = syntax.child(node, "function"), _arguments(node)
        if callee is None or not arguments:
            continue
        written = syntax.text_of(callee)
        if written in _EXPORTS and len(arguments) > 1:
            public: str | None = syntax.text_of(arguments[0])
            symbol, line = callable_of(arguments[1]), syntax.line_of(node)
        elif callee.type == "field_expression":
            field = syntax.child(callee, "field")
            base = _base(callee)
            if field is None or base is None:
                continue
            named, line = syntax.text_of(field), syntax.line_of(field)
            public = _registered_name(base, named, arguments)
            if public is None:
                continue
            symbol = callable_of(arguments[-1 if named.startswith("set_") else 1])
        else:
            continue
        one = Registration("tvm_ffi", public or "", symbol, file, line)
        found.append((node.end_byte, one))
    return found


def _registered_name(base: Node, field: str, arguments: list[Node]) -> str | None:
    maker = syntax.child(base, "function")
    word = syntax.text_of(maker) if maker is not None else ""
    if word in _GLOBALS and field.startswith("set_body"):
        given = _arguments(base)
        return _string(given[0]) if given else None
    if not re.match(r"def(_packed|_method|_static)?$", field) or len(arguments) < 2:
        return None
    public = _string(arguments[0])
    if re.search(r"\bGlobalDef$", word):
        return public
    owner = re.search(r"\bObjectDef<(.*)>$", word)
    return f"{owner[1]}.{public}" if owner and public is not None else None


def _base(node: Node) -> Node | None:
    """The call that a chain of member calls begins with."""
    inner: Node | None = node
    last = None
    while inner is not None:
        if inner.type == "call_expression":
            last = inner
            inner = syntax.child(inner, "function")
        elif inner.type == "field_expression":
            inner = syntax.child(inner, "argument")
        else:
            break
    return last


def _member_calls(body: Node) -> Iterator[tuple[Node, Node, list[Node]]]:
    """The call, the member's name and the arguments of each x.member(...)."""
    for call in syntax.walk(body, {"call_expression"}):
        callee = syntax.child(call, "function")
        field = syntax.child(callee, "field") if callee is not None else None
        if callee is not None and callee.type == "field_expression" and field is not None:
            yield call, field, _arguments(call)


def _arguments(call: Node) -> list[Node]:
    listed = syntax.child(call, "arguments")
    return [one for one in listed.named_children if one.type != "comment"] if listed else []


def _string(node: Node) -> str | None:
    """A literal, adjacent ones joined, also inside torch::schema("...")."""
    if node.type == "lambda_expression":
        return None
    literals = list(syntax.walk(node, {"string_content", "raw_string_content"}))
    if not literals and node.type not in ("string_literal", "concatenated_string"):
        return None
    return "".join(syntax.raw_text_of(one) for one in literals)


def callable_of(node: Node) -> str:
    """The function that an argument hands over, as written; "lambda" for one on the spot."""
    while True:
        if node.type == "lambda_expression":
            return LAMBDA
        inner = None
        if node.type == "pointer_expression":
            inner = syntax.child(node, "argument")
        elif node.type == "cast_expression":
            inner = syntax.child(node, "value")
        elif node.type == "parenthesized_expression" and node.named_children:
            inner = node.named_children[0]
        elif node.type == "call_expression" and (given := _arguments(node)):
            callee = syntax.child(node, "function")
            name = re.sub(r"<.*", "", syntax.text_of(callee)) if callee is not None else ""
            if _WRAPPERS.fullmatch(name.rsplit("::", 1)[-1]):
                inner = given[-1]
        if inner is None:
            return syntax.text_of(node)
        node = inner
