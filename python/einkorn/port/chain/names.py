"""Qualified names of C++ taken apart, and their template arguments put in."""

import re

from einkorn.port.cpp.index import Function
from einkorn.port.sources import syntax

CLASSES = ("class_specifier", "struct_specifier", "union_specifier")


def template_levels(function: Function) -> list[list[str]]:
    """The template parameters of each enclosing class and of the function, outermost first.

    One list for each component of the symbol; namespaces have none.
    """
    levels = [[parameter_name(one) for one in function.template_parameters]]
    for above in syntax.ancestors(function.node):
        if above.type in CLASSES:
            template = above.parent
            listed = (
                syntax.child(template, "parameters")
                if template is not None and template.type == "template_declaration"
                else None
            )
            levels.append(
                [parameter_name(syntax.text_of(one)) for one in listed.named_children]
                if listed is not None
                else []
            )
    return levels[::-1]


def parameter_name(written: str) -> str:
    """Of "typename T", "int N = 4", "template <class> class C"; "" of a pack, which takes many."""
    if "..." in written:
        return ""
    words = re.findall(r"\w+", without_arguments(written.partition("=")[0]))
    return words[-1] if words else ""


def split_qualified(text: str) -> list[tuple[str, list[str]]]:
    """ "a::B<C, D>::e<f>" as [("a", []), ("B", ["C", "D"]), ("e", ["f"])]."""
    found: list[tuple[str, list[str]]] = []
    for part in _split(text.replace("typename ", "").replace("template ", ""), "::"):
        name, _, arguments = part.strip().partition("<")
        if name.strip():
            listed = split_arguments(arguments.rstrip()[:-1]) if arguments else []
            found.append((name.strip(), listed))
    return found


def split_arguments(text: str) -> list[str]:
    return [one.strip() for one in _split(text, ",") if one.strip()]


def _split(text: str, separator: str) -> list[str]:
    """At the separators outside of all brackets; "<" is none inside round ones: (N < 4)."""
    parts, start, position = [], 0, 0
    opened: list[str] = []
    while position < len(text):
        character = text[position]
        round_ones = bool(opened) and opened[-1] != "<"
        if character in "([{" or (character == "<" and not round_ones):
            opened.append(character)
        elif character in (")]}" if round_ones else ">" * bool(opened)) and not (
            text.startswith("->", position - 1)
        ):
            opened.pop()
        elif not opened and text.startswith(separator, position):
            parts.append(text[start:position])
            position += len(separator)
            start = position
            continue
        position += 1
    return [*parts, text[start:]]


def substituted(text: str, known: dict[str, str]) -> str:
    if not known:
        return text
    names = "|".join(map(re.escape, known))
    return re.sub(rf"(?<![\w.])(?<!::)({names})\b(?!\s*=)", lambda found: known[found[1]], text)


def without_arguments(text: str) -> str:
    """Without what stands in angle brackets."""
    kept, depth = [], 0
    for position, character in enumerate(text):
        depth += character == "<"
        if depth == 0:
            kept.append(character)
        depth -= character == ">" and depth > 0 and text[position - 1 : position] != "-"
    return "".join(kept)
