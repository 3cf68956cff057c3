"""Syntax trees of C++, CUDA and Python; the only importer of the parsers.

CUDA's grammar is a superset of C++'s and serves both. The parsers never refuse a text: what they
can't make out becomes an ERROR node, in which the parts that were understood stay whole.
"""

import functools
import importlib
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from einkorn.port.errors import PortError

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Query
else:
    try:
        from tree_sitter import Node
    except ImportError:  # told at the first parse; annotations need a name until then
        Node = Any

__all__ = [
    "Node",
    "ancestors",
    "child",
    "children",
    "find_cpp",
    "has_errors",
    "line_of",
    "parse_cpp",
    "parse_python",
    "raw_text_of",
    "stand_in",
    "text_of",
    "walk",
]


@functools.cache
def _parser(language: str) -> "Parser":
    try:
        import tree_sitter

        grammar: Any = importlib.import_module(f"tree_sitter_{language}")
    except ImportError as error:
        raise PortError(
            "parsers",
            "the packages tree_sitter, tree_sitter_cuda and tree_sitter_python",
            f"{error}",
            "pip install 'einkorn[port]'",
        ) from error
    loaded: Language = tree_sitter.Language(grammar.language())
    return tree_sitter.Parser(loaded)


def parse_cpp(text: str) -> Node:
    """The root of `text` as CUDA C++. Never fails on odd text."""
    return _parser("cuda").parse(text.encode("utf-8", "replace")).root_node


def parse_python(text: str) -> Node:
    """The root of `text` as Python. Never fails on odd text."""
    return _parser("python").parse(text.encode("utf-8", "replace")).root_node


def raw_text_of(node: Node) -> str:
    """The node's own text, as written."""
    return _with_originals((node.text or b"").decode("utf-8", "replace"))


def stand_in(text: str, length: int = 0) -> str:
    """A name for a place where the grammar takes names only; as long as `text`, or of `length`.

    `text_of` and `raw_text_of` give `text` again. Of at least three characters, all ASCII.
    """
    length = length or len(text)
    if (text, length) not in _STAND_INS:
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"
        number = sum(one == length for _, one in _STAND_INS)
        mark = ""
        while number or not mark:
            mark, number = digits[number % 36] + mark, number // 36
        name = f"Zq{mark}".ljust(length, "_")
        _STAND_INS[text, length] = name
        _ORIGINALS[name] = text
    return _STAND_INS[text, length]


_STAND_INS: dict[tuple[str, int], str] = {}
_ORIGINALS: dict[str, str] = {}
_STAND_IN = re.compile(r"\bZq[0-9a-z]+_*\b")


def _with_originals(text: str) -> str:
    if "Zq" not in text:
        return text
    return _STAND_IN.sub(lambda found: _ORIGINALS.get(found[0], found[0]), text)


def text_of(node: Node) -> str:
    """The node's text on one line: white space collapsed, comments left out."""
    text = node.text or b""
    if b"//" in text or b"/*" in text:
        text = _without_comments(node, text)
    plain = _with_originals(text.decode("utf-8", "replace"))
    return " ".join(plain.replace("\\\n", " ").split())


def _without_comments(node: Node, text: bytes) -> bytes:
    for comment in reversed(list(walk(node, {"comment"}))):
        start, end = comment.start_byte - node.start_byte, comment.end_byte - node.start_byte
        text = text[:start] + b" " + text[end:]
    return text


def line_of(node: Node) -> int:
    """The line that the node begins on, from 1."""
    return node.start_point[0] + 1


def walk(
    node: Node, kinds: set[str] | None = None, stop: set[str] | frozenset[str] = frozenset()
) -> Iterator[Node]:
    """`node` and all below in the order of the text, those of `kinds` only where given.

    Does not enter nodes of the kinds in `stop` (but for `node` itself); these are still given.
    Keeps no Python stack: generated sources nest thousands deep.
    """
    pending = [node]
    while pending:
        one = pending.pop()
        kind = one.type
        if kinds is None or kind in kinds:
            yield one
        if kind not in stop or one is node:
            pending.extend(reversed(one.children))


def find_cpp(node: Node, kinds: frozenset[str]) -> list[Node]:
    """What `walk` gives for C++ trees with `kinds`, a list: many times as fast on large nodes."""
    if node.descendant_count < _FEWEST_FOR_QUERY:
        return list(walk(node, set(kinds)))
    import tree_sitter

    cursor = tree_sitter.QueryCursor(_query(kinds))
    found = cursor.captures(node).get("found", [])
    return sorted(found, key=lambda one: (one.start_byte, -one.end_byte))


# Below, starting a query takes longer than walking.
_FEWEST_FOR_QUERY = 50


@functools.cache
def _query(kinds: frozenset[str]) -> "Query":
    import tree_sitter

    listed = " ".join(f"({kind})" for kind in sorted(kinds))
    language = _parser("cuda").language
    assert language is not None
    return tree_sitter.Query(language, f"[{listed}] @found")


def child(node: Node, field: str) -> Node | None:
    """The child under a field's name."""
    return node.child_by_field_name(field)


def children(node: Node, *kinds: str) -> list[Node]:
    """The direct children of these kinds."""
    return [one for one in node.children if one.type in kinds]


def ancestors(node: Node) -> Iterator[Node]:
    """The parents, innermost first."""
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def has_errors(node: Node, where: Callable[[Node], bool] = lambda _: True) -> bool:
    """Whether the parser could not make out all of the node's text."""
    return node.has_error and any(
        (one.is_error or one.is_missing) and where(one) for one in walk(node)
    )
