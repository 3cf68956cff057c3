"""Sources: layers, lengths, names of files, light public headers, no paths of one machine."""

import posixpath
import re
from collections.abc import Iterator

from .tree import Problem, Tree, line_of

# Lines: hosts over the first are told, over the second refused; kernels over the third refused.
HOST_WISH, HOST_LIMIT, KERNEL_LIMIT = 300, 600, 1000
GENERATED = "Written by scripts/generate_python.py"

# What each layer may include, itself understood. docs/guide/concepts.md has the list for people.
ABOVE = {
    "core": [],
    "cuda": ["core"],
    "cpu": ["core"],
    "jit": ["core", "cuda"],
    "plan": ["core", "cuda", "jit"],
    "versions": ["core", "registry"],
    "trials": ["core", "jit"],
    "roofline": ["core", "cuda", "jit", "plan"],
    "registry": ["core", "cuda", "cpu", "jit", "plan", "roofline", "trials", "lists"],
    "measure": ["core", "cuda", "cpu", "jit", "plan", "roofline", "trials", "registry"],
    "tune": ["core", "cuda", "cpu", "jit", "plan", "roofline", "trials", "registry", "measure"],
    "profile": ["core", "cuda", "cpu", "jit", "plan", "roofline", "trials", "registry", "measure"],
    "report": ["core", "roofline", "trials"],
    "ops": ["core", "cuda", "cpu", "jit", "plan", "roofline", "registry", "lists"],
    "cli": [
        *("core", "cuda", "cpu", "jit", "plan", "versions", "roofline", "trials", "registry"),
        *("measure", "tune", "profile", "report", "ops", "lists"),
    ],
    "python": ["core", "cuda", "jit", "plan", "registry", "cli"],
    "device": [],
}
PUBLIC = {
    "batch_invariant": "registry",
    "device": "core",
    "dims": "core",
    "dtype": "core",
    "error": "core",
    "match": "core",
    "tensor": "core",
    "version": "core",
    "cuda": "cuda",
    "argument": "jit",
    "expression": "jit",
    "jit": "jit",
    "plan": "plan",
    "stage": "plan",
    "roofline": "roofline",
    "compose": "registry",
    "dispatch": "registry",
    "fields": "registry",
    "op": "registry",
    "registry": "registry",
    "signature": "registry",
    "slots": "registry",
}
HEAVY = ("iostream", "regex", "fmt/", "nlohmann/", "hwy/", "CLI/", "toml++/")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:<([^>]+)>|"([^"]+)")', re.M)
# -inl.h is Highway's ending for a header that is compiled once for each instruction set.
SNAKE = re.compile(r"\.?[a-z0-9][a-z0-9_]*(-inl\.h|(\.[a-z0-9_]+)*)")
# Files whose names others dictate.
DICTATED = {
    *("CMakeLists.txt", "CMakePresets.json", "Makefile", "LICENSE", "__init__.py", "__main__.py"),
}
# Homes and working folders; written so that this file does not find itself.
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:root|work|home/\w+|Users/\w+)/" + r"[\w.-]+")


def layer_of(path: str) -> str | None:
    """Of a file, by its path; nothing for files outside of the layers (tests, tools, examples)."""
    parts = path.split("/")
    if path.startswith("include/einkorn/"):
        return PUBLIC.get(posixpath.splitext(parts[2])[0])
    if is_device_code(path):
        return "device"
    if parts[0] == "src":
        return parts[1]
    if parts[0] == "ops":
        return "lists" if path.endswith(".inc") else "ops"
    if path.startswith("python/native/"):
        return "python"
    return "cli" if parts[0] == "cli" else None


def is_device_code(path: str) -> bool:
    shared = bool(re.fullmatch(r"ops/.*/(\w+_)?params\.h", path))
    return path.startswith("src/cuda/device/") or path.endswith((".cu", ".cuh")) or shared


def included(text: str) -> Iterator[tuple[str, int]]:
    """Paths of our own includes, as from the root."""
    for found in INCLUDE.finditer(text):
        line = line_of(text, found.start())
        if found[1] and found[1].startswith("einkorn/"):
            yield f"include/{found[1]}", line
        elif found[2]:
            yield found[2], line


def check_layers(tree: Tree) -> Iterator[Problem]:
    for path in tree.matching(".h", ".cc", ".cu", ".cuh"):
        layer = layer_of(path)
        if path.startswith("include/einkorn/") and layer is None:
            yield Problem(path, 0, "no layer: add it to PUBLIC in scripts/lint/sources.py")
        if layer is None or layer == "lists":
            continue
        if layer not in ABOVE:
            yield Problem(path, 0, f"{layer} is no layer: see ABOVE in scripts/lint/sources.py")
            continue
        for target, line in included(tree.text(path)):
            yield from check_include(path, layer, target, line)


def check_include(path: str, layer: str, target: str, line: int) -> Iterator[Problem]:
    if path.startswith("include/") and not target.startswith("include/"):
        yield Problem(path, line, f"a public header includes {target}, which is private")
        return
    other = layer_of(target)
    if layer == "ops" and target.startswith("ops/"):
        own_op = "/".join(path.split("/")[:3]) + "/"
        # What ops share lies beside their folders, in the family's or in ops/ itself.
        shared = path.startswith(target.rsplit("/", 1)[0] + "/")
        # A composite is made of other ops: of what they promise, not of how they keep it.
        shared |= path.startswith("ops/composite/") and target.endswith("/contract.h")
        # What a family's ops share is in terms of their contracts.
        family = posixpath.dirname(path) + "/"
        shared |= family.count("/") == 2 and bool(re.fullmatch(family + r"\w+/contract\.h", target))
        # A backward op shares its forward's vocabulary.
        shared |= target == own_op.removesuffix("_bwd/") + "/contract.h"
        if not target.startswith(own_op) and not shared:
            yield Problem(path, line, f"includes {target}, which belongs to another op")
        return
    if other is None or other == layer or other in ABOVE[layer]:
        return
    if layer == "ops" and other == "device":
        return
    yield Problem(path, line, f"{layer} includes {target} of {other}, which is not above it")


def check_headers(tree: Tree) -> Iterator[Problem]:
    for path in tree.matching(".h", ".cuh"):
        text = tree.text(path)
        # Highway re-includes its headers for every instruction set and guards them its own way.
        if "#pragma once" not in text and "HWY_TARGET_TOGGLE" not in text:
            yield Problem(path, 0, "expected #pragma once")
        if not path.startswith("include/"):
            continue
        for found in INCLUDE.finditer(text):
            if found[1] and found[1].startswith(HEAVY):
                line = line_of(text, found.start())
                yield Problem(path, line, f"a public header includes <{found[1]}>, which is heavy")


def check_lengths(tree: Tree) -> Iterator[Problem]:
    for path in tree.matching(".h", ".cc", ".cu", ".cuh", ".inc", ".py"):
        count = len(tree.lines(path))
        limit = KERNEL_LIMIT if path.endswith((".cu", ".cuh")) else HOST_LIMIT
        # What a script writes nobody has to read from end to end.
        if count > limit and GENERATED not in tree.text(path):
            yield Problem(path, 0, f"{count} lines, the limit is {limit}")


def long_files(tree: Tree) -> list[str]:
    """Hosts over the wished length: told, not refused."""
    counted = [(path, len(tree.lines(path))) for path in tree.matching(".h", ".cc")]
    return [f"{path}: {count} lines" for path, count in counted if count > HOST_WISH]


def check_names(tree: Tree) -> Iterator[Problem]:
    for path in tree.files:
        name = posixpath.basename(path)
        if (
            name in DICTATED
            or name.endswith(".md")
            or not re.match(
                r"(src|ops|include|cli|tests|examples|scripts|tools|cmake|python)/", path
            )
        ):
            continue
        # requirements-frameworks.txt is named as pip's users expect it.
        if name.endswith(".txt"):
            name = name.replace("-", "_")
        if path.startswith("python/"):  # a module that is no part of the interface
            name = name.removeprefix("_")
        if not SNAKE.fullmatch(name):
            yield Problem(path, 0, "expected a snake_case name")


def check_machine_paths(tree: Tree) -> Iterator[Problem]:
    for path in tree.files:
        if path.endswith((".png", ".svg", ".bin", ".cubin")):
            continue
        text = tree.text(path)
        for found in MACHINE_PATH.finditer(text):
            yield Problem(path, line_of(text, found.start()), f"a path of one machine: {found[0]}")
