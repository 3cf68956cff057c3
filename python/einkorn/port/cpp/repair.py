"""Makes C++ that needs its preprocessor readable to a parser that has none.

A parser takes `CUTE_DEVICE void f()` for a type, a name and then nonsense, and #if branches that
open a bracket each for two open brackets. Here such words and lines become spaces, so that every
token that stays is where it was, in bytes. What is left out of the text is told.
"""

import dataclasses
import re

from einkorn.port.cpp import branches as cpp_branches
from einkorn.port.cpp.tokens import Token, names, tokens_of
from einkorn.port.sources import syntax

# Names of macros that stand for specifiers or attributes, by the words that projects build them of.
_SPECIFIER = re.compile(
    r"(^|_)(DEVICE|HOST|(ALWAYS|FORCE|NO)?_?INLINE|GLOBAL|API|EXPORTS?|DLL|(NO_)?UNROLL|CONSTANT"
    r"|PUBLIC|HIDDEN|VISIBLE|RESTRICT|NODISCARD|UNUSED|DEPRECATED|NOEXCEPT|CONSTEXPR|KERNEL|SGL)"
    r"($|_)"
)
_ALIGNMENT = re.compile(
    r"(^|_)(align(as|ed)?|attribute)(_|$)|^__(launch_bounds|cluster_dims|maxnreg)__$", re.IGNORECASE
)
# Bodies of macros are no statements, and a #pragma may stand where the grammar takes none.
_OTHER_DIRECTIVE = re.compile(r"#\s*(define|undef|pragma|error|warning|line|ident)\b")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9_]{2,}$")
_STARTS_DECLARATION = names(
    "auto bool char class constexpr double enum explicit extern float for friend if inline int long"
    " mutable operator short signed static struct switch template typename union unsigned using"
    " virtual void volatile while do namespace return __device__ __global__ __host__"
    " __forceinline__ __shared__ __inline__ __noinline__ __constant__"
)
_NOT_BEFORE_TYPE = names(". -> :: goto case # = < ( , struct class enum union")
_BUILT_IN = names("auto bool char double float int long short signed unsigned void")
_SHORTEST_NAME = 4  # that can be shortened and still be told from others
_STATEMENT_ENDS = names("; { } ) : else")
_OWN_SPECIFIERS = names("__grid_constant__ __managed__ __nv_pure__")  # the grammar has none
_PAIRS = {")": "(", "]": "[", "}": "{"}


@dataclasses.dataclass
class Repaired:
    text: str
    left_out: list[int]  # lines on which a branch begins that is not in the text


def repaired(text: str, specifiers: frozenset[str] = frozenset()) -> Repaired:
    """`text` with what the parser can't take blanked. `specifiers`: macros known to be such."""
    tokens = list(tokens_of(text))
    blank, left_out = cpp_branches.uneven_branches(tokens, text)
    blank += [(one.start, one.end) for one in tokens if _OTHER_DIRECTIVE.match(one.text)]
    gone = _marks(blank, len(text))
    tokens = [one for one in tokens if not gone[one.start] and one.kind != "directive"]
    blank += _specifier_macros(tokens, specifiers) + _expression_typenames(tokens)
    named = _with_types_named(_blanked(text, blank), tokens)  # before: keeps the tokens' places
    return Repaired(_with_semicolons(named, tokens), left_out)


def _marks(spans: list[tuple[int, int]], size: int) -> bytearray:
    marks = bytearray(size + 1)
    for start, end in spans:
        marks[start:end] = b"\1" * (end - start)
    return marks


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    parts, position = [], 0
    for begin, end in sorted(spans):
        if end > position:
            start = max(begin, position)
            spaces = re.sub(rb"[^\n]", b" ", text[start:end].encode("utf-8", "replace"))
            parts += [text[position:start], spaces.decode()]
            position = end
    return "".join(parts) + text[position:]


def _specifier_macros(tokens: list[Token], known: frozenset[str]) -> list[tuple[int, int]]:
    blank: list[tuple[int, int]] = []
    for index, token in enumerate(tokens):
        if token.kind != "word":
            continue
        before = tokens[index - 1].text if index else ";"
        after = tokens[index + 1 : index + 3]
        following = after[0].text if after else ""
        if _ALIGNMENT.search(token.text) and following == "(":
            end = _closing(tokens, index + 1)
            behind = tokens[end + 1] if end is not None and end + 1 < len(tokens) else None
            of_lambda = (
                behind is not None
                and behind.text == "{"
                and before in (")", "struct", "class", "union")
            )
            if end is not None and behind is not None and (behind.kind == "word" or of_lambda):
                blank.append((token.start, tokens[end].end))
        elif index and tokens[index - 1].kind == "string" and _CAPITALS.match(token.text):
            end = (_closing(tokens, index + 1) or index) if following == "(" else index
            if end + 1 < len(tokens) and tokens[end + 1].kind == "string":  # "a" HINT(128) "b"
                blank.append((token.start, tokens[end].end))
        elif token.text.startswith("__") and token.text.endswith("__"):
            of_parameter = token.text in _OWN_SPECIFIERS and following not in (")", ",", ";")
            if (
                of_parameter or before == "]" or (before == ")" and following in ("{", "->"))
            ):  # of a lambda
                blank.append((token.start, token.end))
        elif _stands_for_specifier(token.text, before, after, known):
            blank.append((token.start, token.end))
    return blank


def _stands_for_specifier(
    name: str, before: str, after: list[Token], known: frozenset[str]
) -> bool:
    following = after[0] if after else None
    if name not in known and not _CAPITALS.match(name):
        return False
    if following is None or before in (".", "->", "::", "goto", "case", "#"):
        return False
    if following.text == "{":
        return before == ")"
    if following.kind != "word" and following.text not in ("[", "~", "::"):
        return False
    if name in known or _SPECIFIER.search(name):
        return following.kind == "word" or name in known or following.text == "~"
    if following.kind != "word" or before in _NOT_BEFORE_TYPE:
        return False
    second = after[1] if len(after) > 1 else None
    return following.text in _STARTS_DECLARATION or (second is not None and second.kind == "word")


def _with_semicolons(text: str, tokens: list[Token]) -> str:
    """A ';' in the space behind MACRO(...) where the next statement follows on the next line."""
    for index, token in enumerate(tokens):
        before = tokens[index - 1].text if index else ";"
        if token.kind != "word" or not _CAPITALS.match(token.text) or before not in _STATEMENT_ENDS:
            continue
        is_call = _text(tokens, index + 1) == "("
        end = _closing(tokens, index + 1) if is_call else index
        if end is None or end + 1 >= len(tokens):
            continue
        behind = tokens[end + 1]
        ends_block = behind.text == "}" and (is_call or before in (";", "}", "{"))
        if ends_block and before == "{":
            ends_block = cpp_branches.block_kind(tokens, index - 1) == "{"
        if not ends_block and not (is_call and behind.kind == "word"):
            continue
        between = text[tokens[end].end : behind.start]
        if "\n" not in between:
            continue
        space = re.search(r"[ \t]", between)
        if space is not None:
            position = tokens[end].end + space.start()
            text = text[:position] + ";" + text[position + 1 :]
        elif len(token.text) > _SHORTEST_NAME:  # the name gives a character of its own
            shorter = syntax.stand_in(token.text, len(token.text) - 1)
            stop = tokens[end].end
            text = text[: token.start] + shorter + text[token.end : stop] + ";" + text[stop:]
    return text


def _with_types_named(text: str, tokens: list[Token]) -> str:
    """Built-in types among the arguments of MACRO(float, 4): the grammar takes expressions only."""
    for index, token in enumerate(tokens):
        if not _CAPITALS.match(token.text) or _text(tokens, index + 1) != "(":
            continue
        end = _closing(tokens, index + 1)
        if end is None:
            continue
        begin, at = index + 2, index + 2
        while at <= end:
            if tokens[at].text in (",", ")") and at > begin:
                span = tokens[begin].start, tokens[at - 1].end
                if _is_type(tokens[begin:at]) and "\n" not in text[slice(*span)]:
                    text = text[: span[0]] + syntax.stand_in(text[slice(*span)]) + text[span[1] :]
                begin = at + 1
            elif tokens[at].text in ("(", "[", "{"):
                at = _closing(tokens, at) or at
            at += 1
    return text


def _is_type(argument: list[Token]) -> bool:
    is_type = argument[-1].text in ("*", "&") or any(one.text in _BUILT_IN for one in argument)
    return is_type and all(one.kind == "word" or one.text in ("*", "&", "::") for one in argument)


def _closing(tokens: list[Token], opening: int) -> int | None:
    depth = 0
    for index in range(opening, min(len(tokens), opening + 2000)):
        if tokens[index].text in ("(", "[", "{"):
            depth += 1
        elif tokens[index].text in _PAIRS:
            depth -= 1
            if depth == 0:
                return index
    return None


def _expression_typenames(tokens: list[Token]) -> list[tuple[int, int]]:
    """`typename` but in a template's parameters, and `template` in x.template f<T>()."""
    blank: list[tuple[int, int]] = []
    end_of_parameters = -1
    for index, token in enumerate(tokens):
        if token.text == "template" and _text(tokens, index + 1) == "<":
            end_of_parameters = max(end_of_parameters, _end_of_angles(tokens, index + 1))
        elif token.text == "typename" and index > end_of_parameters:
            blank.append((token.start, token.end))
        elif token.text == "template" and index and tokens[index - 1].text in (".", "->", "::"):
            is_operator = _text(tokens, index + 1) == "operator"
            blank += [] if is_operator else [(token.start, token.end)]
    return blank


def _end_of_angles(tokens: list[Token], opening: int) -> int:
    depth, index = 0, opening
    while index < len(tokens):
        text = tokens[index].text
        if text == "<":
            depth += 1
        elif text in (">", ">>>"):
            depth -= len(text)
            if depth <= 0:
                return index
        elif text in ("(", "[", "{"):
            index = _closing(tokens, index) or index
        elif text == ";":
            return opening
        index += 1
    return opening


def _text(tokens: list[Token], index: int) -> str:
    return tokens[index].text if index < len(tokens) else ""
