"""What a C++ function requires: asserts, check macros, static_asserts, throws and early returns."""

import re
from collections.abc import Iterator

from einkorn.port.conditions.expressions import Expr, applied, negate
from einkorn.port.conditions.parse import from_cpp
from einkorn.port.contracts import guards, macros
from einkorn.port.contracts.casts import VectorTypes, casts_of
from einkorn.port.contracts.matcher import matchers_of
from einkorn.port.contracts.model import Requirement, Stated
from einkorn.port.cpp.index import CppIndex, Function
from einkorn.port.sources.syntax import Node, line_of, text_of, walk

# Checks of well-known libraries, whose first argument is the condition.
_STANDARD = re.compile(
    r"(STD_)?TORCH_CHECK(_VALUE|_TYPE|_INDEX|_LINALG|_NOT_IMPLEMENTED|_ARG|_WITH|_IF_NOT_ON_CUDA)?"
    r"|TORCH_INTERNAL_ASSERT|AT_ASSERTM?|AT_CHECK|C10_CHECK|PADDLE_ENFORCE|(TVM_FFI_)?I?CHECK"
    r"|TVM_FFI_CHECK|FLASHINFER_CHECK|GMOCK_CHECK|DMLC_CHECK|GTE_CHECK"
)
_CHECKING_FUNCTIONS = {"assert", "RuntimeCheck", "runtime_check", "Expects", "TLLM_CHECK_WITH_INFO"}
_FATAL = {"abort", "exit", "_exit", "quick_exit", "terminate", "__trap", "trap", "panic", "Panic"}
_ERROR_VALUE = re.compile(
    r"Error|ERROR|INVALID|Invalid|UNSUPPORTED|NotSupported|NOT_SUPPORTED|^-\d"
)
_DEEPEST_MACRO = 4
_NESTED = frozenset(
    {"class_specifier", "struct_specifier"}
)  # local classes are functions of theirs


def requirements_of(
    index: CppIndex, types: VectorTypes, function: Function, leads_to_launch: bool
) -> Stated:
    """All that the function states itself. Early returns count only on the way to a launch."""
    stated = Stated()
    host = leads_to_launch and not (function.is_kernel or function.is_device)
    undone = _asserts_undone(index, function.file)
    for one in _requirements(index, function.node, function, 0):
        if not (undone and one.form == "assert"):
            stated.requirements.append(one)
    if host:
        stated.requirements += _early_returns(function)
    matched = matchers_of(function.node)
    stated.requirements += matched.requirements
    stated.sizes += matched.sizes
    stated.requirements += casts_of(types, function)
    stated.requirements.sort(key=lambda one: one.line)
    return stated


def is_checker(function: Function) -> bool:
    """Whether the function is what checks call; its own conditions are their callers'."""
    plain = function.symbol.split("::")[-2:]
    return any(one in _CHECKING_FUNCTIONS or one in _FATAL for one in plain)


def _asserts_undone(index: CppIndex, file: str) -> bool:
    """Whether the file defines NDEBUG itself, in which all its asserts are nothing."""
    return "NDEBUG" in index.macros_in(file)


def _requirements(
    index: CppIndex, root: Node, function: Function, depth: int
) -> Iterator[Requirement]:
    kinds = {"call_expression", "static_assert_declaration", "throw_statement", "return_statement"}
    for node in walk(root, kinds, _NESTED):
        if node.type == "static_assert_declaration":
            condition = node.child_by_field_name("condition")
            if condition is not None and guards.is_live(node, is_assert=False):
                around = guards.when(guards.guards_of(node, root))
                yield Requirement(from_cpp(condition), "static_assert", line_of(node), around)
        elif node.type == "call_expression":
            yield from _call(index, node, root, function, depth)
        elif node.type == "throw_statement":
            if not any(one.type == "catch_clause" for one in _above(node, root)):
                yield from _ending(node, root, "throw")
        elif _is_error_return(node, function):
            yield from _ending(node, root, "return")


def _above(node: Node, root: Node) -> Iterator[Node]:
    outer = node.parent
    while outer is not None and outer != root:
        yield outer
        outer = outer.parent


def _call(
    index: CppIndex, node: Node, root: Node, function: Function, depth: int
) -> Iterator[Requirement]:
    callee = node.child_by_field_name("function")
    if callee is None or callee.type not in ("identifier", "qualified_identifier"):
        return
    word = text_of(callee).rsplit("::", 1)[-1]
    if word in _FATAL:
        yield from _ending(node, root, word)
        return
    checking = word in _CHECKING_FUNCTIONS or bool(_STANDARD.fullmatch(word))
    if not checking and not macros.is_check(word):
        return
    arguments = _arguments(node)
    if not arguments or not guards.is_live(node, word == "assert"):
        return
    if macros.is_status(text_of(arguments[0])):
        return
    for condition in _conditions(index, word, checking, arguments, function, depth):
        yield _requirement(condition, word, node, root)


def _arguments(call: Node) -> list[Node]:
    listed = call.child_by_field_name("arguments")
    children = listed.children if listed is not None else []
    return [one for one in children if one.is_named and one.type != "comment"]


def _conditions(
    index: CppIndex,
    word: str,
    standard: bool,
    arguments: list[Node],
    function: Function,
    depth: int,
) -> list[Expr]:
    """What a check with these arguments comes to."""
    values = tuple(applied(from_cpp(one)) for one in arguments)
    if standard:
        return [values[0]]
    compared = macros.comparison(word, values)
    if compared is not None:
        return [compared]
    texts = [text_of(one) for one in arguments]
    body = macros.expansion(index, word, texts, function.file) if depth < _DEEPEST_MACRO else None
    if body is not None:
        if macros.is_status(text_of(body)):
            return []
        inner = next((one for one in walk(body, {"function_definition"})), body)
        found = [one.condition for one in _requirements(index, inner, function, depth + 1)]
        if found:
            return found
    if len(arguments) == 1 and values[0].op not in ("name", "attribute"):
        return [values[0]]
    return macros.known(word, list(values)) or [
        values[0]
        if values[0].op in ("==", "!=", "<", "<=", ">", ">=", "&&", "||", "!")
        else macros.as_call(word, texts)
    ]


def _requirement(condition: Expr, form: str, node: Node, root: Node) -> Requirement:
    """A check of `false` requires that its branch isn't taken."""
    around = guards.guards_of(node, root)
    if condition.op in ("number", "name") and condition.word in ("false", "0"):
        branch, rest = guards.innermost(around)
        if branch is not None:
            return Requirement(negate(branch), form, line_of(node), guards.when(rest))
    return Requirement(condition, form, line_of(node), guards.when(around))


def _ending(node: Node, root: Node, form: str) -> Iterator[Requirement]:
    """A branch that ends in an error: its condition must not hold."""
    if not guards.is_live(node, is_assert=False):
        return
    branch, rest = guards.innermost(guards.guards_of(node, root))
    if branch is None:
        branch = _none_taken(node)
    if branch is not None:
        yield Requirement(negate(branch), form, line_of(node), guards.when(rest))


def _none_taken(node: Node) -> Expr | None:
    """Of an error behind ifs that all return: that none of their conditions holds."""
    statement = node
    while statement.parent is not None and statement.parent.type != "compound_statement":
        statement = statement.parent
    taken: Expr | None = None
    before = statement.prev_named_sibling
    while before is not None and before.type in ("if_statement", "comment"):
        if before.type == "if_statement":
            condition = before.child_by_field_name("condition")
            if condition is None or not any(walk(before, {"return_statement"})):
                break
            one = negate(from_cpp(condition.child_by_field_name("value") or condition))
            taken = one if taken is None else Expr("&&", (one, taken))
        before = before.prev_named_sibling
    return taken


def _is_error_return(node: Node, function: Function) -> bool:
    values = [one for one in node.children if one.is_named and one.type != "comment"]
    if len(values) != 1 or values[0].type in ("lambda_expression", "conditional_expression"):
        return False
    if function.is_device or function.is_kernel:
        return False
    text = text_of(values[0])
    is_status = function.returns == "int" and bool(re.fullmatch(r"[1-9]\d*", text))
    return is_status or bool(_ERROR_VALUE.search(text))


def _early_returns(function: Function) -> Iterator[Requirement]:
    """`if (n == 0) return;` of the function itself: nothing is done unless n != 0."""
    for node in walk(function.node, {"return_statement"}, _NESTED | {"lambda_expression"}):
        around = guards.guards_of(node, function.node)
        values = [one for one in node.children if one.is_named and one.type != "comment"]
        simple = all(
            one.type in ("identifier", "number_literal", "true", "false", "initializer_list")
            for one in values
        )
        if len(around) != 1 or around[0].otherwise or not simple:
            continue
        if _is_error_return(node, function) or not guards.is_live(node, is_assert=False):
            continue
        body = around[0].statement.child_by_field_name("consequence")
        if around[0].statement.type == "if_statement" and body is not None and _only_ends(body):
            yield Requirement(negate(around[0].condition), "early return", line_of(node))


def _only_ends(body: Node) -> bool:
    """Whether a branch does nothing but return: it computes no other way."""
    if body.type == "return_statement":
        return True
    statements = [one for one in body.children if one.is_named and one.type != "comment"]
    return len(statements) == 1 and statements[0].type == "return_statement"
