"""Blanks the functions of a closure that its entry does not reach; all lines keep their numbers.

Only whole functions at namespace scope whose name nothing that stays has, so that the unit still
compiles: reaching is judged by names, and a name may be made up by a macro or found by overloading.
"""

import collections
import dataclasses
import re
from collections.abc import Mapping, Sequence

from einkorn.port.cpp.functions import Function
from einkorn.port.cpp.index import CppIndex
from einkorn.port.model import ClosureFile
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

_WORD = re.compile(rb"[A-Za-z_]\w*")
_INSIDE = {"field_declaration_list", "compound_statement", "preproc_def", "preproc_function_def"}


@dataclasses.dataclass(frozen=True)
class _Piece:
    file: str
    name: str
    start: int  # bytes, with the template head
    end: int


def pruned(index: CppIndex, files: Sequence[ClosureFile]) -> Mapping[str, str]:
    """The texts of the files, what is not reached blanked; the same where nothing is."""
    raws = {one.path: index.raw(one.path) for one in files}
    pieces: list[_Piece] = []
    for one in files:
        unused = set(one.unused)
        for function in index.functions_in(one.path):
            if function.symbol in unused and (piece := _piece(function)):
                pieces.append(piece)
    kept = {file: _blanked(raw, pieces, file) for file, raw in raws.items()}
    while True:
        words = collections.Counter(word for raw in kept.values() for word in _WORD.findall(raw))
        going = [one for one in pieces if one.name.encode() not in words]
        if len(going) == len(pieces):
            return {file: raw.decode("utf-8", "replace") for file, raw in kept.items()}
        pieces = going
        kept = {file: _blanked(raw, pieces, file) for file, raw in raws.items()}


def _piece(function: Function) -> _Piece | None:
    node: Node = function.node
    if node.has_error or not re.fullmatch(r"\w+", function.name) or function.name == "main":
        return None
    while node.parent is not None and node.parent.type == "template_declaration":
        node = node.parent
    if any(one.type in _INSIDE or one.is_error for one in syntax.ancestors(node)):
        return None
    return _Piece(function.file, function.name, node.start_byte, node.end_byte)


def _blanked(raw: bytes, pieces: Sequence[_Piece], file: str) -> bytes:
    out = bytearray(raw)
    for piece in pieces:
        if piece.file == file:
            out[piece.start : piece.end] = re.sub(rb"[^\n]", b" ", raw[piece.start : piece.end])
    changed = [re.sub(rb"[ \t]+\Z", b"", line) for line in bytes(out).split(b"\n")]
    lines = raw.split(b"\n")
    # Only lines that changed lose the white space at their ends.
    return b"\n".join(
        new if new != re.sub(rb"[ \t]+\Z", b"", old) else old
        for new, old in zip(changed, lines, strict=True)
    )
