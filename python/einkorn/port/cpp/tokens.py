"""The tokens of a C++ text: what is a comment, a string, a directive; nothing of the grammar.

For what a syntax tree can't tell because the text has none yet: which words a definition holds,
how brackets pair across the branches of an #if, what a #define says.
"""

import dataclasses
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Kind = Literal["word", "number", "string", "directive", "punctuation"]

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z))
  | (?P<string>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
              |(?:u8|[uUL])?"(?:\\.|[^"\\\n])*(?:"|(?=\n)|\Z)
              |(?:u8|[uUL])?'(?:\\.|[^'\\\n]){1,12}')
  | (?P<word>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*)
  | (?P<punctuation>\#|::|->\*?|<<<|>>>|\.\.\.|.)
    """,
    re.VERBOSE | re.DOTALL,
)
# Up to its end of line, over continuations; a block comment in it may span lines.
_DIRECTIVE = re.compile(r"\#(?:/\*.*?\*/|//(?:\\\n|[^\n])*|\\\n|[^\n])*", re.DOTALL)
_DEFINE = re.compile(r"\#\s*define\s+(\w+)(?:\(([^)]*)\))?((?:\\\n|.)*)", re.DOTALL)


def names(listed: str) -> frozenset[str]:
    """The words of a text, as a set: keeps long lists of names readable."""
    return frozenset(listed.split())


class Token(NamedTuple):
    kind: Kind
    text: str
    start: int  # offsets in characters
    end: int


@dataclasses.dataclass(frozen=True)
class Macro:
    """A #define. `parameters` is None for one that takes none and is not called."""

    name: str
    parameters: tuple[str, ...] | None
    body: str  # continuations kept, so that lines can be counted
    file: str
    line: int


def tokens_of(text: str) -> Iterator[Token]:
    """All tokens but white space and comments. A directive is one token, its whole line."""
    position, line_begins = 0, True
    while found := _TOKEN.match(text, position):
        kind = found.lastgroup or "punctuation"
        if kind == "mark":  # the innermost group of a raw string
            kind = "string"
        if kind == "punctuation" and found[0] == "#" and line_begins:
            found = _DIRECTIVE.match(text, position) or found
            kind = "directive"
        if kind == "space":
            line_begins = line_begins or "\n" in found[0]
        elif kind != "comment":
            line_begins = False
            yield Token(kind, found[0], position, found.end())  # type: ignore[arg-type]
        position = found.end()


def words_of(text: str) -> set[str]:
    """The identifiers outside comments and strings, those of directives included."""
    return set(_WORD.findall(_COMMENT_OR_STRING.sub(" ", text)))


_WORD = re.compile(r"[A-Za-z_]\w*")


def macros_of(text: str, file: str) -> dict[str, Macro]:
    """The #defines of a text, in a comment none; of two of one name, the longer body."""
    macros: dict[str, Macro] = {}
    if "define" not in text:
        return macros
    for directive in directives_of(text):
        found = _DEFINE.match(directive.text)
        if found is None:
            continue
        name, given, body = found[1], found[2], found[3].strip(" \t")
        parameters = None
        if given is not None:
            parameters = tuple(one for one in re.split(r"[\s,\\]+", given) if one)
        line = text.count("\n", 0, directive.start + found.start(3)) + 1
        macro = Macro(name, parameters, body, file, line)
        if name not in macros or len(body) > len(macros[name].body):
            macros[name] = macro
    return macros


def directives_of(text: str) -> Iterator[Token]:
    """The directives only: quick where the text has many other tokens."""
    for found in _LINES_WITH_DIRECTIVE.finditer(text):
        if found.lastgroup == "directive":
            yield Token("directive", found["directive"], found.start("directive"), found.end())


# Comments and strings are matched, so that a '#' in them is none of a directive.
_LINES_WITH_DIRECTIVE = re.compile(
    r"""
    //(?:\\\n|[^\n])*
  | /\*.*?(?:\*/|\Z)
  | R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
  | "(?:\\.|[^"\\\n])*"
  | ^[ \t]*(?P<directive>\#(?:/\*.*?\*/|//(?:\\\n|[^\n])*|\\\n|[^\n])*)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def without_comments(text: str) -> str:
    """With a space in the place of each comment; strings are left alone."""
    if "//" not in text and "/*" not in text:
        return text
    return _COMMENT_OR_STRING.sub(lambda found: " " if found[0][0] == "/" else found[0], text)


_COMMENT_OR_STRING = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n]){1,12}'""",
    re.DOTALL,
)
