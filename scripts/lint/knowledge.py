"""Knowledge pages: each has its sections, evidence that exists, and one row in the index."""

import posixpath
import re
from collections.abc import Iterator

from .tree import Problem, Tree, line_of

FOLDER = "docs/knowledge"
INDEX = f"{FOLDER}/README.md"
KINDS = ("optimizations", "anti_patterns")
SECTIONS = ["When to apply", "Mechanism", "Evidence", "Pitfalls"]
SOURCE = re.compile(r"\b(?:docs/devlog|docs/adr|bench/results)/[\w.-]*\w")
EVIDENCE_HEADER = re.compile(r"^\| what \| device \| date \| source \|$", re.M)
ROW = re.compile(r"^\| \[([^\]]+)\]\(((?:optimizations|anti_patterns)/[\w.]+)\) \|", re.M)


def pages(tree: Tree) -> list[str]:
    return [
        name
        for kind in KINDS
        for name in tree.matching(".md", under=f"{FOLDER}/{kind}/")
        if name.count("/") == 3
    ]


def title_of(text: str) -> str:
    found = re.match(r"# (.+)\n", text)
    return found[1] if found else ""


def section(text: str, heading: str) -> str:
    parts = text.split(f"\n## {heading}\n", 1)
    return re.split(r"\n## ", parts[1])[0] if len(parts) == 2 else ""


def check_evidence(tree: Tree, path: str, text: str) -> Iterator[Problem]:
    evidence = section(text, "Evidence")
    line = line_of(text, text.find("## Evidence"))
    if not EVIDENCE_HEADER.search(evidence):
        yield Problem(path, line, "Evidence: expected a table | what | device | date | source |")
        return
    for row in evidence[EVIDENCE_HEADER.search(evidence).end() :].strip().splitlines()[1:]:
        if not row.startswith("|"):
            break
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if len(cells) != 4 or not all(cells):
            yield Problem(path, line, f"Evidence: expected four filled cells, got {row}")
        elif not re.fullmatch(r"\d{4}-\d{2}-\d{2}", cells[2]):
            yield Problem(path, line, f"Evidence: expected a date like 2026-11-28, got {cells[2]}")
        elif not SOURCE.search(cells[3]):
            yield Problem(path, line, f"Evidence: expected a devlog or result file, got {cells[3]}")
    for name in SOURCE.findall(evidence):
        if not tree.has(name):
            yield Problem(path, line, f"Evidence: {name}: no such file")


def check(tree: Tree) -> Iterator[Problem]:
    if not tree.has(INDEX):
        yield Problem(INDEX, 0, "missing: it lists every page")
        return
    index = tree.text(INDEX)
    rows = ROW.findall(index)
    for path in pages(tree):
        text = tree.text(path)
        got = re.findall(r"^## (.+)$", text, re.M)
        if got != SECTIONS:
            yield Problem(path, 0, f"expected the sections {', '.join(SECTIONS)}, got {got}")
        else:
            yield from check_evidence(tree, path, text)
        name = posixpath.relpath(path, FOLDER)
        titles = [title for title, target in rows if target == name]
        if titles != [title_of(text)]:
            yield Problem(
                INDEX, 0, f"expected one row [{title_of(text)}]({name}), got {titles or 'none'}"
            )
