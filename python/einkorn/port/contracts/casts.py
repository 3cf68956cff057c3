"""Alignment that is asked for by casts: reinterpret_cast<int4*>(x) and typed loads of vectors."""

import re

from einkorn.port.conditions.expressions import Expr, name
from einkorn.port.conditions.parse import from_cpp
from einkorn.port.contracts.guards import guards_of, is_live, when
from einkorn.port.contracts.model import Requirement
from einkorn.port.cpp.index import CppIndex, Function
from einkorn.port.sources.syntax import Node, line_of, text_of, walk

# CUDA's built-in vectors and what they are made of; the alignment is the product, 16 at most.
_ELEMENT_BYTES = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "float": 4}
_ELEMENT_BYTES |= {"long": 8, "ulong": 8, "longlong": 8, "ulonglong": 8, "double": 8}
_VECTOR = re.compile(r"(u?char|u?short|u?int|float|u?longlong|u?long|double)([234])")
_PAIRS = {"half2": 4, "__half2": 4, "nv_bfloat162": 4, "__nv_bfloat162": 4, "bf162_t": 4}
_PAIRS |= {"fp16x2_t": 4, "bf16x2_t": 4, "__int128": 16, "uint128_t": 16, "cute::uint128_t": 16}
_WIDE_NAME = re.compile(r"vec|packed|aligned|x2\b|x4\b|x8\b|128", re.IGNORECASE)
_PLAIN_LOADS = {"load", "store"}
_LOADS = _PLAIN_LOADS | {"cast_load", "cast_store", "load_as", "store_as", "load_vec", "store_vec"}
_QUALIFIERS = re.compile(r"\b(const|volatile|struct|typename|__restrict__)\b|[*&]")
_POINTERS = {"data_ptr", "mutable_data_ptr", "const_data_ptr", "reinterpret_cast"}


def casts_of(types: "VectorTypes", function: Function) -> list[Requirement]:
    """A row for each pointer that the function reads as a wider type than its own."""
    found: list[Requirement] = []
    for node in walk(function.node, {"cast_expression", "call_expression"}):
        wide, pointer, form = _wide_pointer(node, function.node)
        if pointer is None or not is_live(node, is_assert=False):
            continue
        alignment = types.alignment_of(wide, function.file)
        if alignment:
            address = Expr("call", (name("address"), pointer))
            condition = Expr("==", (Expr("%", (address, name(alignment))), Expr("number", (), "0")))
            around = when(guards_of(node, function.node))
            found.append(Requirement(condition, form, line_of(node), around, "alignment"))
    return found


def _wide_pointer(node: Node, function: Node) -> tuple[str, Expr | None, str]:
    """The pointed-to type, the pointer, and how it is said; None if nothing is read wider."""
    if node.type == "cast_expression":
        to, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if to is not None and value is not None and text_of(to).endswith("*"):
            return text_of(to), _base(from_cpp(value)), "cast"
        return "", None, ""
    expr = from_cpp(node)
    if expr.op == "cast" and expr.word.rstrip().endswith("*"):
        if text_of(node).startswith("reinterpret_cast"):
            return expr.word, _base(expr.parts[0]), "cast"
        return "", None, ""
    if expr.op != "call":
        return "", None, ""
    callee = expr.parts[0]
    word = callee.word.rsplit("::", 1)[-1]
    if word in _POINTERS and callee.op == "attribute" and expr.word:
        return expr.word, callee.parts[0], "cast"
    if word in _LOADS and len(expr.parts) >= 2:
        kind = expr.word or _type_of_object(callee, function)
        if word in _PLAIN_LOADS and not _WIDE_NAME.search(kind):
            return "", None, ""
        return (kind or "vector") + "*", _base(expr.parts[1]), "vector load"
    return "", None, ""


def _type_of_object(callee: Expr, function: Node) -> str:
    """The type of v in v.load(pointer), as v's declaration has it, or what makes v."""
    if callee.op != "attribute" or callee.parts[0].op != "name":
        return ""
    for node in walk(function, {"declaration"}):
        kind = node.child_by_field_name("type")
        for declarator in node.children_by_field_name("declarator"):
            named = declarator.child_by_field_name("declarator") or declarator
            if kind is None or text_of(named) != callee.parts[0].word:
                continue
            value = declarator.child_by_field_name("value")
            made = re.search(r"<\s*([\w:]+)", text_of(value)) if value is not None else None
            return made[1] if made and text_of(kind) == "auto" else text_of(kind)
    return ""


def _base(expr: Expr) -> Expr:
    """The pointer of `p + offset`, `&p[i]`."""
    while expr.op in ("+", "addr", "index", "cast") and expr.parts:
        expr = expr.parts[0]
    return expr


class VectorTypes:
    """The types of a tree that are wider than a scalar, and what a pointer to one is aligned to."""

    def __init__(self, index: CppIndex) -> None:
        self._index = index
        self._aliases: dict[str, dict[str, str]] = {}

    def alignment_of(self, written: str, file: str) -> str:
        """Bytes, as text, or alignof(T) where these aren't known; "" for a scalar's type."""
        plain = _QUALIFIERS.sub(" ", written).strip()
        for _ in range(4):  # an alias of an alias
            last = plain.rsplit("::", 1)[-1]
            if match := _VECTOR.fullmatch(last):
                count = 4 if match[2] == "3" else int(match[2])
                return str(min(16, _ELEMENT_BYTES[match[1]] * count))
            if plain in _PAIRS or last in _PAIRS:
                return str(_PAIRS.get(plain) or _PAIRS[last])
            aliased = self._alias(last, file)
            if not aliased or aliased == plain:
                break
            plain = aliased
        last = plain if "<" in plain else plain.rsplit("::", 1)[-1]
        if aligned := self._alignas(last, file):
            return aligned
        return f"alignof({plain})" if _WIDE_NAME.search(last) else ""

    def _alias(self, word: str, near: str) -> str:
        """What `using word = type;` says, in the file itself or wherever all say the same."""
        if not re.fullmatch(r"\w+", word):
            return ""
        if (found := self._in_file(near).get(word)) and not found.endswith(f"::{word}"):
            return found
        others = {
            aliases[word]
            for file in self._index.files_with(word)
            if f"using {word}" in self._index.sources.text(file)
            for aliases in [self._in_file(file)]
            if word in aliases and not aliases[word].endswith(f"::{word}")
        }
        return others.pop() if len(others) == 1 else ""

    def _in_file(self, file: str) -> dict[str, str]:
        if file not in self._aliases:
            known = self._aliases[file] = {}
            for node in walk(self._index.root(file), {"alias_declaration"}):
                word, kind = node.child_by_field_name("name"), node.child_by_field_name("type")
                if word is not None and kind is not None:
                    known.setdefault(text_of(word), text_of(kind))
        return self._aliases[file]

    def _alignas(self, word: str, near: str) -> str:
        if not re.fullmatch(r"\w+", word):
            return ""
        for file in [near, *self._index.files_with(word)]:
            text = self._index.sources.text(file)
            if match := re.search(rf"struct\s+(?:alignas|__align__)\s*\((\d+)\)\s*{word}\b", text):
                return match[1]
        return ""
