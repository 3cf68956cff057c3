"""Checks the tree as a whole: lists against files, names, layers, lengths, documents.

Usage: lint_tree.py [--fix] [--freeze VARIANT ...] [--root DIR]

Prints `path:line: what is wrong` for every problem; exit status 1 when there is one. --fix rewrites
the tables of variants in the ops' README files. --freeze writes the digests of versions that were
measured to ops/frozen.json, and does nothing else. Host files over the wished length are told, but
do not fail.
"""

import argparse
import pathlib
import sys
from collections.abc import Callable, Iterator

from lint import documents, frozen, knowledge, ops, readme_tables, sources
from lint.tree import Problem, Tree

Rule = Callable[[Tree], Iterator[Problem]]

RULES: dict[str, Rule] = {
    "central list": ops.check_central_list,
    "op folders": ops.check_op_folders,
    "lists": ops.check_lists,
    "variant sources": ops.check_variant_sources,
    "readme tables": readme_tables.check,
    "frozen versions": frozen.check,
    "knowledge": knowledge.check,
    "links": documents.check_links,
    "snippets": documents.check_snippets,
    "environment": documents.check_environment,
    "layers": sources.check_layers,
    "headers": sources.check_headers,
    "lengths": sources.check_lengths,
    "names": sources.check_names,
    "machine paths": sources.check_machine_paths,
}


def problems(tree: Tree) -> list[str]:
    return [f"{problem} [{name}]" for name, rule in RULES.items() for problem in rule(tree)]


def freeze(tree: Tree, variants: list[str]) -> int:
    for name in variants:
        try:
            print(frozen.freeze(tree, name))
        except KeyError:
            known = ", ".join(frozen.listed(tree))
            print(f"{name}: expected one of {known}", file=sys.stderr)
            return 2
    return 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--freeze", nargs="+", metavar="VARIANT")
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--root", type=pathlib.Path, default=root)
    args = parser.parse_args()

    tree = Tree(args.root)
    if args.freeze:
        return freeze(tree, args.freeze)
    if args.fix:
        list(readme_tables.check(tree, fix=True))
    for line in sources.long_files(tree):
        print(f"note: {line}, over the wished {sources.HOST_WISH}")
    found = problems(tree)
    for line in found:
        print(line)
    print(f"tree: {len(found)} problems in {len(tree.files)} files" if found else "tree: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
