"""The #ifs that a parser without a preprocessor can't take: those that split a statement.

Where each branch is a number of whole statements, all are read. Where one opens a bracket that
another closes, or begins in the middle of an expression, one branch has to be chosen.
"""

import dataclasses
import itertools
import re

from einkorn.port.cpp.tokens import Token, names

_OPERATORS = names("+ - * / % = | & ^ ? < > ( [")
_PAIRS = {")": "(", "]": "[", "}": "{"}
_MACRO = re.compile(r"[A-Z][A-Z0-9_]{2,}$")
# Conditions that do not hold where nvcc compiles.
_NOT_COMPILED = re.compile(
    r"#\s*(if\s+0\b|(if|ifdef)\b[^!\n]*(ROCM|__HIP|__INTELLISENSE__|_MSC_VER|_WIN32|__CLANGD__))"
)
_BEFORE_BLOCK = names("const noexcept override final else do try mutable volatile")
_BLOCK_KEYWORDS = names("namespace struct class union extern operator")
# Of a declaration, looked back over to tell what a '{' opens.
_LONGEST_HEAD = 16


@dataclasses.dataclass
class _Branches:
    """An #if that is open: where each of its directives is, and the brackets before it."""

    directives: list[int]  # indices of tokens
    before: list[str]
    after_first: list[str] | None = None
    uneven: bool = False


def uneven_branches(tokens: list[Token], text: str) -> tuple[list[tuple[int, int]], list[int]]:
    """Of an #if that pairs no brackets in a branch or stands in an expression: one branch stays."""
    blank: list[tuple[int, int]] = []
    left_out: list[int] = []
    brackets: list[str] = []
    pending: list[_Branches] = []
    for index, token in enumerate(tokens):
        if token.kind == "punctuation":
            _pair(brackets, tokens, index)
            continue
        word = re.match(r"#\s*(\w+)", token.text) if token.kind == "directive" else None
        if word is None:
            continue
        if word[1].startswith("if"):
            splits = _splits_statement(tokens, index, brackets)
            pending.append(_Branches([index], list(brackets), uneven=splits))
        elif word[1] in ("else", "elif", "elifdef", "elifndef") and pending:
            _end_branch(pending[-1], brackets, _neighbour(tokens, index, -1))
            pending[-1].directives.append(index)
            brackets[:] = pending[-1].before
        elif word[1] == "endif" and pending:
            branches = pending.pop()
            _end_branch(branches, brackets, _neighbour(tokens, index, -1))
            branches.directives.append(index)
            if branches.uneven:
                brackets[:] = branches.after_first or []
                _keep_one(branches, tokens, text, blank, left_out)
    return blank, left_out


def _splits_statement(tokens: list[Token], index: int, brackets: list[str]) -> bool:
    """Whether the directive stands inside an expression, a declaration or an if with its else."""
    if brackets and brackets[-1] not in ("{", "enum"):
        return True
    before = _neighbour(tokens, index, -1)
    after = _neighbour(tokens, index, 1)
    if after is not None and after.text == "else":
        return True
    if before is None:
        return False
    if before.text == ",":
        return brackets[-1:] != ["enum"]
    is_word = before.kind == "word" and not _MACRO.match(before.text)
    return is_word or (before.kind == "punctuation" and before.text in _OPERATORS)


def _neighbour(tokens: list[Token], index: int, step: int) -> Token | None:
    index += step
    while 0 <= index < len(tokens):
        if tokens[index].kind != "directive":
            return tokens[index]
        index += step
    return None


def _pair(brackets: list[str], tokens: list[Token], index: int) -> None:
    text = tokens[index].text
    if text == "{":
        brackets.append(block_kind(tokens, index))
    elif text in ("(", "["):
        brackets.append(text)
    elif text in _PAIRS and brackets:
        brackets.pop()


def block_kind(tokens: list[Token], index: int) -> str:
    """What the '{' at `index` opens: "enum", "list" for values, "{" for statements or members."""
    before = tokens[index - 1] if index else None
    if before is not None and before.text in ("=", ",", "(", "{", "return"):
        return "list"
    head: list[str] = []
    for token in reversed(tokens[max(0, index - _LONGEST_HEAD) : index]):
        if token.text in (";", "{", "}", ")") or token.kind == "directive":
            break
        head.append(token.text)
    if "enum" in head:
        return "enum"
    is_name = before is not None and before.kind == "word" and before.text not in _BEFORE_BLOCK
    values = is_name and len(head) > 1 and not _BLOCK_KEYWORDS & set(head)
    return "list" if values else "{"


def _end_branch(branches: _Branches, brackets: list[str], last: Token | None) -> None:
    goes_on = last is not None and last.text in ("else", "=", "+", "-", "?", "|", "&")
    branches.uneven |= goes_on or brackets != branches.before
    if branches.after_first is None:
        branches.after_first = list(brackets)


def _keep_one(
    branches: _Branches,
    tokens: list[Token],
    text: str,
    blank: list[tuple[int, int]],
    left_out: list[int],
) -> None:
    """The first branch, as other #ifs of the same condition keep theirs; or what CUDA compiles."""
    at = branches.directives
    kept = 1 if len(at) > 2 and _NOT_COMPILED.match(tokens[at[0]].text) else 0
    for number, (begin, end) in enumerate(itertools.pairwise(at)):
        blank.append((tokens[begin].start, tokens[begin].end))
        if number != kept:
            blank.append((tokens[begin].start, tokens[end].start))
            if end > begin + 1:
                left_out.append(text.count("\n", 0, tokens[begin].start) + 1)
    blank.append((tokens[at[-1]].start, tokens[at[-1]].end))
