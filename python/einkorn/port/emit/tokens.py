"""The tokens of a C++ file by libclang's lexer: what is a comment, a string, a part of a directive.

Renaming needs every token, those of macro bodies and of branches that no compiler takes as well; a
syntax tree has none for these.
"""

import dataclasses
import re
from typing import Any

from einkorn.port.errors import PortError

# No header is looked for: only this one text is lexed.
_ARGUMENTS = ("-x", "c++", "-std=c++20", "-nostdinc", "-nostdinc++", "-w")
_NAME = "input.cc"
_DIRECTIVE = re.compile(rb"^[ \t]*#(?:[^\n\\]|\\\r?\n|\\)*", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Token:
    text: str
    start: int  # bytes in the text as UTF-8
    end: int
    is_name: bool  # an identifier or a keyword
    is_string: bool
    directive: int  # number of the directive it is in, from 1; 0 outside


@dataclasses.dataclass(frozen=True)
class Edit:
    """Replaces bytes [start, end)."""

    start: int
    end: int
    text: str


def tokens_of(text: str) -> list[Token]:
    """All tokens in their order, comments left out. PortError where libclang is missing."""
    cindex = _cindex()
    raw = text.encode("utf-8", "replace")
    unit = cindex.TranslationUnit.from_source(
        _NAME,
        args=list(_ARGUMENTS),
        unsaved_files=[(_NAME, raw.decode("utf-8"))],
        options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD,
    )
    extent = unit.get_extent(_NAME, (0, len(raw)))
    kinds = cindex.TokenKind
    ends = _directive_ends(raw)
    found: list[Token] = []
    directive, number, end_of_directive = 0, 0, -1
    for token in unit.get_tokens(extent=extent):
        if token.kind == kinds.COMMENT:
            continue
        span = token.extent
        start, end = span.start.offset, span.end.offset
        spelling = raw[start:end].decode("utf-8", "replace")
        if start >= end_of_directive:
            directive = 0
        if spelling == "#" and start in ends:
            number += 1
            directive, end_of_directive = number, ends[start]
        is_name = token.kind in (kinds.IDENTIFIER, kinds.KEYWORD)
        is_string = token.kind == kinds.LITERAL and spelling[-1:] in "\"'"
        found.append(Token(spelling, start, end, is_name, is_string, directive))
    return found


def apply(text: str, edits: list[Edit]) -> str:
    """The text with the edits made; of two that overlap, the first in the text."""
    raw = text.encode("utf-8", "replace")
    parts: list[bytes] = []
    position = 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if edit.start >= position:
            parts += [raw[position : edit.start], edit.text.encode("utf-8", "replace")]
            position = edit.end
    return b"".join([*parts, raw[position:]]).decode("utf-8", "replace")


def line_at(text: str, offset: int) -> int:
    """The line, from 1, of a byte of the text as UTF-8."""
    return text.encode("utf-8", "replace").count(b"\n", 0, offset) + 1


def _directive_ends(raw: bytes) -> dict[int, int]:
    """Where each line that begins with '#' ends, with continuations; by the place of the '#'."""
    found = {}
    for match in _DIRECTIVE.finditer(raw):
        found[match.start() + match.group().index(b"#")] = match.end()
    return found


def _cindex() -> Any:
    try:
        from clang import cindex
    except ImportError as error:
        raise PortError(
            "parsers", "the package libclang", f"{error}", "pip install 'einkorn[port]'"
        ) from error
    return cindex
