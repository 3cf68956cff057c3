"""What a failed compilation says of an entry, in the words of who asked for it."""

import os
import re
from collections.abc import Mapping
from typing import Any

# A function of the CPU is called through one of this name, compiled behind the source, and errors
# of the expression are of a file of that name.
_SYMBOL = re.compile(r"einkorn_entry_(\d+)")
_OF_ENTRY = re.compile(r"jit: einkorn_entry_(\d+)(?:\(\d+\))?: error: ")

_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_FUNCTION = re.compile(r"\bvoid\s+(\w+)\s*\([^;{}]*\)\s*(?:noexcept\s*)?\{")


def _source_of(asked: Mapping[str, Any]) -> tuple[str, str]:
    """How the source is called, and its text; of an embedded one that is not known here."""
    path = asked["file"]
    included = re.match(r'#include "([^"\n]+)"\n\Z', asked["source"])
    if asked["target"] == "cpu" and included:
        path = os.path.join(asked["include_dirs"][0], included[1])
    elif asked["source"]:
        return "the source", asked["source"]
    if not os.path.isfile(path):
        return path, ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return path, file.read()


def _found(text: str) -> str:
    names = ", ".join(dict.fromkeys(_FUNCTION.findall(_COMMENTS.sub(" ", text))))
    return f"  functions found there: {names}\n" if names else ""


def _hint(message: str) -> str:
    if re.search("unresolved overloaded|overloaded function|no matching function", message):
        return (
            'a template is named with its arguments, "k<float>" or entry="k", template=(\'f32\',)'
        )
    return "the entry names a function that returns void, with its namespace and what <> holds"


def told_of(error: RuntimeError, name: str, asked: Mapping[str, Any]) -> str:
    """The message; as it is, unless the error is of an entry of the CPU."""
    entries = asked["entries"]
    text = str(error)
    if asked["target"] != "cpu":
        return text
    of_entry = _OF_ENTRY.match(text)
    if of_entry:
        first, _, rest = text[of_entry.end() :].partition("\n")
        first = first.removeprefix("static assertion failed: ")
        file, source = _source_of(asked)
        context = "\n".join(one for one in rest.split("\n") if not one.startswith("  hint:"))
        wrong = entries[int(of_entry[1])]
        text = (
            f'jit: {name}: entry: expected a function of {file}, got "{wrong}": {first}\n'
            f"{_found(source)}  hint: {_hint(first)}\n{context}"
        )
    return _SYMBOL.sub(lambda one: entries[int(one[1])], text)
