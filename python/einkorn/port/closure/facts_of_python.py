"""Of the Python on a call chain: what makes a result depend on more than the arguments."""

import re
from collections.abc import Iterator

from einkorn.port.model import Guard, State
from einkorn.port.python.index import PyFunction
from einkorn.port.sources.syntax import Node, line_of, text_of, walk

# Kind of state, and the calls that bring it.
_CALLS = (
    ("environment", re.compile(r"(os\.)?(getenv|environ(\.\w+)?)")),
    (
        "allocation",
        re.compile(r"(torch\.|jnp\.|np\.|\w+\.new_)(empty|zeros|ones|full)(_like|_strided)?"),
    ),
    ("atomic", re.compile(r"(tl|triton\.language)\.atomic_\w+")),
    (
        "random",
        re.compile(r"(torch|tl|random|np\.random)\.(rand|randn|randint|philox|manual_seed)\w*"),
    ),
    ("synchronisation", re.compile(r"(torch\.)?(\w+\.)*synchronize|tl\.debug_barrier")),
)
_ARCHITECTURE = re.compile(
    r"capability|\bis_(hip|cuda|rocm|npu|xpu|sm\d+)\w*\(|\bsm_?(arch|version|count)\b|\.hip\b"
    r"|device_type|device\.type|torch\.version"
)
_DTYPE = re.compile(r"\bdtype\b")
_INNER = frozenset({"function_definition", "class_definition"})


def python_state_of(functions: list[PyFunction]) -> list[State]:
    """In the order of files and lines, each place once."""
    found = {one for function in functions for one in _state_in(function)}
    return sorted(found, key=lambda one: (one.file, one.line, one.text))


def _state_in(function: PyFunction) -> Iterator[State]:
    kinds = {"call", "subscript", "global_statement", "nonlocal_statement", "assignment"}
    for node in _within(function, kinds):
        if node.type == "assignment":
            left = node.child_by_field_name("left")
            kept = left is not None and left.type == "attribute" and function.name != "__init__"
            if left is not None and kept and not text_of(left).startswith("ctx."):
                yield State("static", text_of(node), function.file, line_of(node))
            continue
        if node.type in ("global_statement", "nonlocal_statement"):
            yield State("static", text_of(node), function.file, line_of(node))
            continue
        field = "function" if node.type == "call" else "value"
        called = node.child_by_field_name(field)
        word = text_of(called) if called is not None else ""
        for kind, pattern in _CALLS:
            if pattern.fullmatch(word):
                yield State(kind, text_of(node), function.file, line_of(node))
                break


def python_guards_of(functions: list[PyFunction]) -> list[Guard]:
    """Conditions on the device's architecture or on a dtype."""
    found = set()
    for function in functions:
        for node in _within(function, {"if_statement", "elif_clause", "conditional_expression"}):
            condition = node.child_by_field_name("condition")
            if condition is None:
                named = [one for one in node.children if one.is_named]
                condition = named[1] if len(named) == 3 else None
            text = text_of(condition) if condition is not None else ""
            for kind, pattern in (("architecture", _ARCHITECTURE), ("dtype", _DTYPE)):
                if pattern.search(text):
                    found.add(Guard(kind, text, function.file, line_of(node)))
                    break
    return sorted(found, key=lambda one: (one.file, one.line, one.condition))


def _within(function: PyFunction, kinds: set[str]) -> Iterator[Node]:
    body = function.node.child_by_field_name("body")
    return walk(body, kinds, _INNER) if body is not None else iter(())
