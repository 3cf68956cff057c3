"""Texts that a scaffold writes: templates, comments and literals that any answer may go into."""

import json
import re
import textwrap

WIDTH = 100
TODO = "TODO(you)"


def fill(text: str, **values: str) -> str:
    """Replaces @name@; each has to be given."""
    return re.sub(r"@(\w+)@", lambda found: values[found[1]], text)


def comment(text: str, indent: str = "", mark: str = "//") -> str:
    """Wrapped comment lines. Nothing in the text ends or continues them."""
    out = []
    for paragraph in text.splitlines() or [""]:
        plain = "".join(c if c.isprintable() else " " for c in paragraph).replace("??/", "?? /")
        width = WIDTH - len(indent) - len(mark) - 1
        for line in textwrap.wrap(plain, width, break_on_hyphens=False) or [""]:
            # A backslash at the end would join the next line to the comment.
            joins = line.rstrip().endswith("\\")
            out.append(f"{indent}{mark} {line}".rstrip() + ("." if joins else ""))
    return "\n".join(out)


def literal(text: str) -> str:
    """A C++ string literal."""
    plain = " ".join(text.split())
    return json.dumps(plain, ensure_ascii=False).replace("??", '?""?').replace("\x7f", " ")
