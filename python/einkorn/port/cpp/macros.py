"""What a macro stands for where it is used, as a syntax tree."""

import functools
import re

from einkorn.port.cpp import repair as cpp_repair
from einkorn.port.cpp.tokens import Macro, tokens_of, without_comments
from einkorn.port.sources import syntax
from einkorn.port.sources.syntax import Node

# A macro whose text is longer is a table.
_LONGEST_BODY = 20_000


def expansions(macro: Macro, arguments: tuple[str, ...] | None) -> list[Node]:
    """The blocks of a macro's text with its arguments put in; none for a constant or a mere name.

    `arguments` is None where the use has no brackets. Lambdas and blocks among the arguments are
    left out: they are written where the macro is used, and are read there.
    """
    body = macro.body
    if (macro.parameters is None) != (arguments is None) or len(body) > _LONGEST_BODY:
        return []
    if "(" not in body and "<<<" not in body and "return" not in body:
        return []
    root = _parsed(_substituted(macro, arguments or ()))
    return list(syntax.walk(root, {"compound_statement"}, {"compound_statement"}))


@functools.lru_cache(maxsize=4096)
def _parsed(body: str) -> Node:
    text = "void expansion() {\n" + body + "\n;}"
    root = syntax.parse_cpp(text)
    return syntax.parse_cpp(cpp_repair.repaired(text).text) if root.has_error else root


def _substituted(macro: Macro, arguments: tuple[str, ...]) -> str:
    text = without_comments(macro.body.replace("\\\n", "\n"))
    if not macro.parameters:
        return text
    given = [_plain(one) for one in arguments]
    values: dict[str, str] = {}
    for number, parameter in enumerate(macro.parameters):
        if parameter.endswith("..."):
            name = parameter.removesuffix("...") or "__VA_ARGS__"
            values[name] = ", ".join(given[number:])
        else:
            values[parameter] = given[number] if number < len(given) else ""
    text = re.sub(r"(?<!#)#\s*(__VA_ARGS__|\w+)(?!#)", lambda one: _quoted(one, values), text)
    parts, position = [], 0
    for token in tokens_of(text):
        if token.kind == "word" and token.text in values:
            parts += [text[position : token.start], values[token.text]]
            position = token.end
    text = "".join(parts) + text[position:]
    return re.sub(r"\s*##\s*", "", text)


def _quoted(found: re.Match[str], values: dict[str, str]) -> str:
    if found[1] not in values:
        return found[0]
    return '"' + values[found[1]].replace("\\", "\\\\").replace('"', '\\"') + '"'


def _plain(argument: str) -> str:
    return "block" if "{" in argument or argument.startswith("[") else argument
