"""Frozen versions: what was measured stays as it was measured.

ops/frozen.json maps the id of a version to digests of its kernel files: its `.cu`, or its `.cc`
where it has none, and headers of the same name. A digest is of the code's tokens, so comments and
formatting may change, and so may the host side of a CUDA variant and what the variants of an op
share.
"""

import hashlib
import json
import posixpath
import re
from collections.abc import Iterator

from .ops import Line, op_folders, variant_lines
from .tree import Problem, Tree

LOCK = "ops/frozen.json"
HEADING = re.compile(r"^# (\w+): (\w+/\w+_v\d+)$", re.M)
TOKEN = re.compile(
    r"""
      (?P<skip>\s+ | //(?:\\\n|[^\n])* | /\*.*?\*/)
    | (?:u8|[uUL])?R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"   # raw string
    | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"
    | (?:u8|[uUL])?'(?:\\.|[^'\\\n])+'
    | \.?\d(?:[eEpP][+-]|'\w|[\w.])*                          # number
    | \w+
    | .
    """,
    re.S | re.X,
)


def code_tokens(text: str) -> list[str]:
    """Without comments and space."""
    return [found[0] for found in TOKEN.finditer(text) if found["skip"] is None]


def digest(text: str) -> str:
    return hashlib.sha256("\n".join(code_tokens(text)).encode()).hexdigest()[:32]


def listed(tree: Tree) -> dict[str, tuple[str, Line]]:
    """Folder of the op and line, by id."""
    return {
        f"{line.op}/{line.name}": (folder, line)
        for folder in op_folders(tree)
        for line in variant_lines(tree, folder)
    }


def kernel_files(tree: Tree, folder: str, line: Line) -> list[str]:
    # A CUDA variant that is made of other ops' plans has no kernel of its own.
    cuda = tree.has(f"{folder}/{line.name}.cu")
    endings = (".cu", ".cuh") if cuda else (".cc", ".h", "-inl.h")
    names = [f"{folder}/{line.name}{ending}" for ending in endings]
    return [name for name in names if tree.has(name)]


def digests(tree: Tree, folder: str, line: Line) -> dict[str, str]:
    return {
        posixpath.basename(name): digest(tree.text(name))
        for name in kernel_files(tree, folder, line)
    }


def read_lock(tree: Tree) -> dict[str, dict[str, str]]:
    return json.loads(tree.text(LOCK)) if tree.has(LOCK) else {}


def result_rows(text: str) -> list[dict]:
    """The results of a file of `einkorn bench`; of any other document none."""
    document = json.loads(text)
    rows = document.get("results") if isinstance(document, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def measured(tree: Tree) -> dict[str, str]:
    """A file with numbers of it, by id of the version."""
    found: dict[str, str] = {}
    for path in tree.matching(".json", under="bench/results/"):
        for row in result_rows(tree.text(path)):
            if row.get("variant") and row.get("median_us") and not row.get("failure"):
                found.setdefault(row["variant"], path)
    for path in tree.matching(".md", under="docs/devlog/"):
        for op, name in HEADING.findall(tree.text(path)):
            found.setdefault(f"{op}/{name}", path)
    return found


def check(tree: Tree) -> Iterator[Problem]:
    known = listed(tree)
    lock = read_lock(tree)
    for name, path in sorted(measured(tree).items()):
        if name in known and name not in lock:
            yield Problem(
                LOCK,
                0,
                f"{name} has numbers in {path}, but is not frozen; lint_tree.py --freeze {name}",
            )
    for name, files in sorted(lock.items()):
        if name not in known:
            yield Problem(LOCK, 0, f"{name} is frozen, but no list has it; take its entry out")
            continue
        folder, line = known[name]
        now = digests(tree, folder, line)
        for file in sorted({*files, *now}):
            if files.get(file) != now.get(file):
                path = f"{folder}/{line.arch}/{file}"
                yield Problem(
                    path, 0, f"{name} is frozen: it was measured as it was; einkorn clone {name}"
                )


def freeze(tree: Tree, name: str) -> str:
    """Writes the entry of a version; says what it did. KeyError: no list has it."""
    folder, line = listed(tree)[name]
    lock = read_lock(tree)
    now = digests(tree, folder, line)
    before = lock.get(name)
    lock[name] = now
    text = json.dumps(dict(sorted(lock.items())), indent=2) + "\n"
    (tree.root / LOCK).write_text(text, encoding="utf-8")
    if before is None:
        return f"{name}: frozen"
    return f"{name}: was frozen" + ("" if before == now else ", with other code; now with this")
