"""The table of variants in each op's README, made from its list and the variants' summaries."""

from collections.abc import Iterator

from .ops import op_folders, registered, variant_lines
from .tree import Problem, Tree

BEGIN = "<!-- variants -->"
END = "<!-- /variants -->"
REFERENCE_ROW = "| `cpu/reference_v1` | cpp | the contract's own reference, in double |"


def table(tree: Tree, folder: str) -> str:
    rows = ["| variant, in order of preference | language | what it is |", "|---|---|---|"]
    for line in variant_lines(tree, folder):
        path = f"{folder}/{line.name}.cc"
        said = registered(tree.text(path)) if tree.has(path) else None
        if said is not None:  # otherwise another rule tells
            rows.append(f"| `{line.name}` | {said.language} | {said.summary} |")
    return "\n".join([*rows, REFERENCE_ROW])


def check(tree: Tree, fix: bool = False) -> Iterator[Problem]:
    for folder in op_folders(tree):
        path = f"{folder}/README.md"
        if not tree.has(path):
            continue
        text = tree.text(path)
        if text.count(BEGIN) != 1 or text.count(END) != 1:
            yield Problem(path, 0, f"expected one table between {BEGIN} and {END}")
            continue
        head, rest = text.split(BEGIN)
        old, tail = rest.split(END)
        new = f"\n{table(tree, folder)}\n"
        if old == new:
            continue
        if fix:
            (tree.root / path).write_text(f"{head}{BEGIN}{new}{END}{tail}", encoding="utf-8")
        else:
            yield Problem(path, 0, "the table of variants is out of date; lint_tree.py --fix")
