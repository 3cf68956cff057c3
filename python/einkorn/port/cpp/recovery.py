"""Finds function definitions that the parser lost in text it could not make out.

By brackets alone: what stands at the level of declarations, ends in ')' and goes on with a block is
a function. Each that the tree does not have is parsed by itself.
"""

import dataclasses
import re

from einkorn.port.cpp.tokens import Token, names, tokens_of

_SCOPES = frozenset(("namespace", "class", "struct", "union"))
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_NO_NAMES = names("if for while switch catch return decltype alignas sizeof requires")


@dataclasses.dataclass(frozen=True)
class Lost:
    """Where a definition stands, in characters of the text, and in what."""

    name: str
    line: int
    start: int
    end: int
    scope: tuple[str, ...]


def definitions_by_brackets(text: str) -> list[Lost]:
    """All function definitions outside of functions, as far as brackets tell them."""
    tokens = [one for one in tokens_of(text) if one.kind != "directive"]
    closing = _pairs(tokens)
    found: list[Lost] = []
    scopes: list[tuple[int, str]] = []  # where each open one ends, and its name
    begin, index = 0, 0  # of the declaration that is being read
    while index < len(tokens):
        token = tokens[index]
        while scopes and index >= scopes[-1][0]:
            scopes.pop()
            begin = index + 1
        if token.text == ";" or (token.text == ":" and _is_access(tokens, index)):
            begin = index + 1
        elif token.text in ("(", "["):
            index = closing.get(index, index)
        elif token.text == "{":
            end = closing.get(index, len(tokens) - 1)
            scope = _scope_name(tokens, begin, index)
            if scope is not None:
                scopes.append((end, scope))
                begin = index + 1
            else:
                name = _function_name(tokens, begin, index, closing)
                if name is not None:
                    names = tuple(one for _, one in scopes if one)
                    line = text.count("\n", 0, name.start) + 1
                    start = tokens[begin].start
                    found.append(Lost(name.text, line, start, tokens[end].end, names))
                    begin = end + 1
                index = end
        index += 1
    return found


def only(text: str, start: int, end: int) -> str:
    """`text` with all but a part blanked, so that lines and bytes stay where they are."""

    def blank(part: str) -> str:
        return re.sub(rb"[^\n]", b" ", part.encode("utf-8", "replace")).decode()

    return blank(text[:start]) + text[start:end] + blank(text[end:])


def _pairs(tokens: list[Token]) -> dict[int, int]:
    """The index of the closing bracket for that of each opening one."""
    found: dict[int, int] = {}
    pending: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind != "punctuation":
            continue
        if token.text in _PAIRS:
            pending.append(index)
        elif token.text in (")", "]", "}"):
            while pending and _PAIRS[tokens[pending[-1]].text] != token.text:
                pending.pop()  # not closed, or closed in another branch of an #if
            if pending:
                found[pending.pop()] = index
    return found


def _is_access(tokens: list[Token], index: int) -> bool:
    return index > 0 and tokens[index - 1].text in ("public", "private", "protected")


def _scope_name(tokens: list[Token], begin: int, brace: int) -> str | None:
    """Of the namespace or class whose block opens; None where none does. "" for one without."""
    words = tokens[begin:brace]
    depth, keyword = 0, -1
    for at, token in enumerate(words):
        depth += (token.text == "<") - (token.text == ">")
        if depth <= 0 and token.text in _SCOPES:
            keyword = at
        elif depth <= 0 and token.text == "(" and keyword < 0:
            return None
    if keyword < 0:
        return "" if any(one.text == "extern" for one in words) and len(words) == 2 else None
    name: list[str] = []
    for token in words[keyword + 1 :]:
        if token.text in (":", "<", "final"):
            break
        if token.kind == "word":
            name.append(token.text)
    is_namespace = words[keyword].text == "namespace"
    return "::".join(name) if is_namespace else (name[-1] if name else "")


def _function_name(
    tokens: list[Token], begin: int, brace: int, closing: dict[int, int]
) -> Token | None:
    opening = {end: start for start, end in closing.items() if begin <= start < brace}
    at = brace - 1
    while at > begin:
        text = tokens[at].text
        if text == "=":
            return None
        if text == "}" and at in opening:
            at = opening[at]
        elif text == ")" and at in opening:
            at = _before_arguments(tokens, opening[at] - 1, begin)
            before = tokens[at - 1].text if at > begin else ""
            name = tokens[at] if at >= begin else None
            is_name = name is not None and name.kind == "word" and name.text not in _NO_NAMES
            if is_name and before not in (":", ","):  # of a member that is initialised
                return name
        at -= 1
    return None


def _before_arguments(tokens: list[Token], at: int, begin: int) -> int:
    """The index of `f` in f<int, 4>, given that of '>'; `at` itself for any other token."""
    if at < begin or tokens[at].text not in (">", ">>>"):
        return at
    depth = 0
    for index in range(at, begin, -1):
        text = tokens[index].text
        depth += (text.count(">") if text in (">", ">>>") else 0) - (text == "<")
        if depth == 0:
            return index - 1
    return at
