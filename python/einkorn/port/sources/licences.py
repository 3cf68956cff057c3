"""Which licence a text is, as an SPDX identifier, told by phrases that only that licence has."""

import pathlib
import re

# In this order: a longer licence quotes a shorter one (the LGPL names the GPL).
_PHRASES: list[tuple[str, tuple[str, ...]]] = [
    ("AGPL-3.0", ("gnu affero general public license", "version 3")),
    ("LGPL-3.0", ("gnu lesser general public license", "version 3")),
    ("LGPL-2.1", ("gnu lesser general public license", "version 2.1")),
    ("GPL-3.0", ("gnu general public license", "version 3")),
    ("GPL-2.0", ("gnu general public license", "version 2")),
    ("MPL-2.0", ("mozilla public license", "2.0")),
    ("Apache-2.0", ("apache license", "version 2.0")),
    ("BSL-1.0", ("boost software license", "version 1.0")),
    (
        "BSD-3-Clause",
        ("redistribution and use in source and binary forms", "may be used to endorse or promote"),
    ),
    ("BSD-2-Clause", ("redistribution and use in source and binary forms",)),
    ("MIT", ("permission is hereby granted, free of charge", "without restriction")),
    ("ISC", ("permission to use, copy, modify, and/or distribute this software",)),
    ("Unlicense", ("this is free and unencumbered software",)),
    ("CC0-1.0", ("cc0 1.0 universal",)),
]
_TAG = re.compile(r"SPDX-License-Identifier:[ \t]*([^\n]*)")
_HEADER_CHARACTERS = 4000  # a header stands at the top


def is_licence_file(file: str) -> bool:
    """By its name: LICENSE, LICENCE.txt, COPYING, or a file of a folder LICENSES."""
    path = pathlib.PurePosixPath(file)
    named = re.match(r"(licen[cs]e|copying|unlicense)([-._].*)?$", path.name, re.IGNORECASE)
    is_text = path.suffix.lower() in ("", ".txt", ".md", ".rst") or not path.suffix[1:].isalpha()
    return bool(named and is_text) or path.parent.name.upper() == "LICENSES"


def of_text(text: str) -> str:
    """The SPDX identifier of a licence's text; "" where it is none of those known."""
    if tag := of_tag(text):
        return tag
    plain = " ".join(re.sub(r"[#*/;]", " ", text).lower().split())
    for spdx, phrases in _PHRASES:
        if all(phrase in plain for phrase in phrases):
            return spdx
    return ""


def of_header(text: str) -> str:
    """Of the comment that opens a source file; "" where it states none."""
    head = text[:_HEADER_CHARACTERS]
    return of_tag(head) or (of_text(_opening_comment(head)) if "icense" in head else "")


def of_tag(text: str) -> str:
    found = _TAG.search(text)
    return found[1].strip().removesuffix("*/").removesuffix("-->").strip() if found else ""


def _opening_comment(head: str) -> str:
    lines: list[str] = []
    inside = False
    for line in head.splitlines():
        is_comment = re.match(r"\s*(//|/?\*|#(?!\s*(include|define|pragma|if)))", line)
        if line.strip() and not is_comment and not inside:
            break
        opened, closed = line.rfind("/*"), line.rfind("*/")
        inside = opened > closed if opened != closed else inside
        lines.append(line)
    return "\n".join(lines)
