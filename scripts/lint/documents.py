"""Documents: links lead somewhere, snippets are what the files say, variables are those in use."""

import posixpath
import re
from collections.abc import Iterator

from .ops import op_folders
from .tree import Problem, Tree, line_of

LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
SNIPPET = re.compile(r"<!-- from: (\S+) -->\n+```\w*\n(.*?)```", re.S)
ENVIRONMENT = "docs/guide/environment.md"


def without_code(text: str) -> str:
    """Code blanked out, so that lines keep their numbers."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])  # noqa: E731
    return re.sub(r"`[^`\n]*`", blank, re.sub(r"```.*?```", blank, text, flags=re.S))


def slug(heading: str) -> str:
    """A heading's anchor as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").strip().lower()).replace(" ", "-")


def anchors(text: str) -> set[str]:
    without = re.sub(r"```.*?```", "", text, flags=re.S)
    return {slug(found) for found in re.findall(r"^#+ +(.*)$", without, re.M)}


def check_links(tree: Tree) -> Iterator[Problem]:
    for path in tree.matching(".md"):
        text = tree.text(path)
        for found in LINK.finditer(without_code(text)):
            target = found[1] or found[2]
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            full = (
                posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
            )
            line = line_of(text, found.start())
            if not (tree.root / full).exists():
                yield Problem(path, line, f"link to {target}: no such file")
            elif anchor and full.endswith(".md") and anchor not in anchors(tree.text(full)):
                yield Problem(path, line, f"link to {target}: no such heading")


def dedented(text: str) -> list[str]:
    """Lines without their outer indentation, blanks at the ends of lines and empty lines."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    indent = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    return [line[indent:] for line in lines]


def contains(file: str, snippet: str) -> bool:
    wanted = dedented(snippet)
    lines = [line.rstrip() for line in file.splitlines() if line.strip()]
    count = len(wanted)
    return count > 0 and any(
        dedented("\n".join(lines[at : at + count])) == wanted
        for at in range(len(lines) - count + 1)
    )


def check_snippets(tree: Tree) -> Iterator[Problem]:
    """A fenced block under `<!-- from: FILE -->` occurs in that file."""
    for path in tree.matching(".md"):
        text = tree.text(path)
        for found in SNIPPET.finditer(text):
            line = line_of(text, found.start())
            if not tree.has(found[1]):
                yield Problem(path, line, f"snippet from {found[1]}: no such file")
            elif not contains(tree.text(found[1]), found[2]):
                yield Problem(path, line, f"snippet from {found[1]}: not what the file says")


def variables_in_use(tree: Tree) -> set[str]:
    found: set[str] = set()
    for name in tree.matching(".cc", ".h", ".py"):
        if name.startswith(("src/", "cli/", "ops/", "python/")):
            found |= set(re.findall(r'"(EINKORN_[A-Z][A-Z_]*[A-Z])"', tree.text(name)))
    return found


def variables_of_tests(tree: Tree) -> set[str]:
    found: set[str] = set()
    for name in tree.matching(".cc", ".h", ".py", ".cmake"):
        if name.startswith(("tests/", "cmake/")):
            found |= set(re.findall(r'"(EINKORN_[A-Z][A-Z_]*[A-Z])["=]', tree.text(name)))
    return found


def check_environment(tree: Tree) -> Iterator[Problem]:
    if not tree.has(ENVIRONMENT):
        yield Problem(ENVIRONMENT, 0, "missing: it lists every EINKORN_* variable")
        return
    documented = set(re.findall(r"\bEINKORN_[A-Z][A-Z_]*[A-Z]\b", tree.text(ENVIRONMENT)))
    of_ops = {f"EINKORN_{folder.rsplit('/', 1)[1].upper()}" for folder in op_folders(tree)}
    used = variables_in_use(tree)
    for name in sorted(used - documented - of_ops):
        yield Problem(ENVIRONMENT, 0, f"{name} is read by the sources, but not listed")
    for name in sorted(documented - used - of_ops - variables_of_tests(tree)):
        yield Problem(ENVIRONMENT, 0, f"{name} is listed, but nothing reads it")
