"""Formatting and static analysis of all sources: clang-format, clang-tidy, ruff, mypy, bash -n.

Usage: check_sources.py [--fix] [--no-tidy] [FILE...]

Without --fix it changes nothing and its exit status says whether all checks were clean. With --fix
it formats (clang-format, ruff) and analyses nothing. FILEs limit it to those. clang-tidy takes its
compile lines from build/compile_commands.json; a source that is not built there has none and is an
error, so that no file escapes.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

from lint.tree import Tree

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(sys.executable).parent
BUILD = ROOT / "build"
CLANG_FORMAT_ENDINGS = (".h", ".cc", ".cu", ".cuh")
# The Python package, whose types are a part of its interface (py.typed).
PACKAGE = "python/einkorn/"
# Compiled by the tests that need them, not by the build.
NOT_BUILT = ("tests/compile_fail/", "tests/lint/", "tests/cli/", "tests/fuzz/")


def run(title: str, command: list[str]) -> bool:
    print(f"{title} ...", flush=True)
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if result.returncode != 0:
        print(result.stdout + result.stderr, flush=True)
    return result.returncode == 0


def is_shell(name: str) -> bool:
    with open(ROOT / name, "rb") as file:
        first = file.readline(64)
    return name.endswith(".sh") or (first.startswith(b"#!") and b"bash" in first)


def check_shell(names: list[str]) -> bool:
    return all([run(f"bash -n {name}", ["bash", "-n", name]) for name in names])


def without_precompiled_headers(database: list[dict[str, str]]) -> pathlib.Path:
    """A folder with a database in which each file is read with no includes but its own."""
    included = re.compile(r" -include \S+/cmake_pch\.hxx\b")
    folder = BUILD / "lint"
    folder.mkdir(exist_ok=True)
    own = [entry | {"command": included.sub("", entry["command"])} for entry in database]
    (folder / "compile_commands.json").write_text(json.dumps(own))
    return folder


def check_tidy(names: list[str]) -> bool:
    database = json.loads((BUILD / "compile_commands.json").read_text())
    folder = without_precompiled_headers(database)
    built = {os.path.relpath(entry["file"], ROOT) for entry in database}
    wanted = [name for name in names if not name.startswith(NOT_BUILT)]
    clean = True
    for name in wanted:
        if name not in built:
            print(f"{name}: not in {BUILD.name}/compile_commands.json")
            clean = False

    def tidy(name: str) -> tuple[str, subprocess.CompletedProcess]:
        command = [str(BIN / "clang-tidy"), "-p", str(folder), "--quiet", name]
        return name, subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    wanted = [name for name in wanted if name in built]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for count, (name, result) in enumerate(pool.map(tidy, wanted), 1):
            print(f"[{count}/{len(wanted)}] clang-tidy {name}", flush=True)
            if result.returncode != 0:
                print(result.stdout + result.stderr, flush=True)
                clean = False
    return clean


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--no-tidy", action="store_true")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()

    names = Tree(ROOT).files
    if args.files:
        chosen = {os.path.relpath(os.path.abspath(name), ROOT) for name in args.files}
        names = [name for name in names if name in chosen]
    formatted = [name for name in names if name.endswith(CLANG_FORMAT_ENDINGS)]
    python = [name for name in names if name.endswith(".py")]

    clean = True
    if formatted:
        mode = ["-i"] if args.fix else ["--dry-run", "-Werror"]
        clean &= run("clang-format", [str(BIN / "clang-format"), *mode, *formatted])
    if python:
        check = ["--fix"] if args.fix else []
        clean &= run("ruff check", [str(BIN / "ruff"), "check", "--quiet", *check, *python])
        mode = [] if args.fix else ["--check"]
        clean &= run("ruff format", [str(BIN / "ruff"), "format", "--quiet", *mode, *python])
    if not args.fix:
        if any(name.startswith(PACKAGE) for name in python):
            # The package as a whole: a change of one module may break another.
            clean &= run("mypy", [sys.executable, "-m", "mypy", "--no-error-summary"])
        clean &= check_shell([name for name in names if is_shell(name)])
        if not args.no_tidy:
            clean &= check_tidy([name for name in names if name.endswith(".cc")])
    print("lint: clean" if clean else "lint: problems found (make format fixes the formatting)")
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
