"""Ops and variants: the lists against the files, names, and what a variant's sources must say."""

import dataclasses
import posixpath
import re
from collections.abc import Iterator

from .tree import Problem, Tree, line_of

REQUIRED = ("contract.h", "contract.cc", "reference.cc", "cases.inc", "variants.inc", "README.md")
STEM = re.compile(r"([a-z][a-z0-9_]*)_v([1-9][0-9]*)")


@dataclasses.dataclass(frozen=True)
class Line:
    """One EK_VARIANT line."""

    op: str
    arch: str
    design: str
    version: int
    path: str
    line: int

    @property
    def stem(self) -> str:
        return f"{self.design}_v{self.version}"

    @property
    def name(self) -> str:
        return f"{self.arch}/{self.stem}"


def arches(tree: Tree) -> dict[str, str]:
    """Kind ("kCpu", "kCuda") by name."""
    return dict(re.findall(r"^EK_ARCH\((\w+), (\w+),", tree.text("ops/arches.inc"), re.M))


def op_folders(tree: Tree) -> list[str]:
    found = {"/".join(name.split("/")[:3]) for name in tree.files if name.startswith("ops/")}
    return sorted(name for name in found if name.count("/") == 2 and not tree.has(name))


def variant_lines(tree: Tree, folder: str) -> list[Line]:
    path = f"{folder}/variants.inc"
    if not tree.has(path):
        return []
    pattern = re.compile(r"EK_VARIANT\((\w+), *(\w+), *(\w+), *(\d+)\)")
    return [
        Line(m[1], m[2], m[3], int(m[4]), path, number)
        for number, text in enumerate(tree.lines(path), 1)
        if (m := pattern.match(text))
    ]


def check_central_list(tree: Tree) -> Iterator[Problem]:
    path = "ops/variants.inc"
    included = re.findall(r'^#include "(.*)"', tree.text(path), re.M)
    wanted = [f"{folder}/variants.inc" for folder in op_folders(tree)]
    for name in wanted:
        if included.count(name) != 1:
            yield Problem(
                path, 0, f'expected one line #include "{name}", got {included.count(name)}'
            )
    for name in included:
        if name not in wanted:
            yield Problem(path, 0, f"includes {name}, which is no op's list")


def check_op_folders(tree: Tree) -> Iterator[Problem]:
    for folder in op_folders(tree):
        _, family, op = folder.split("/")
        for name in REQUIRED:
            if not tree.has(f"{folder}/{name}"):
                yield Problem(f"{folder}/{name}", 0, "every op has this file, and it is missing")
        contract = f"{folder}/contract.h"
        if not tree.has(contract):
            continue
        text = tree.text(contract)
        for constant, value in (("kName", op), ("kFamily", family)):
            found = re.search(rf'{constant} = "(\w+)"', text)
            if found is None or found[1] != value:
                got = found[1] if found else "none"
                yield Problem(contract, 0, f"{constant}: expected {value}, the folder, got {got}")
        if not re.search(rf"^namespace (einkorn::)?{op} \{{", text, re.M):
            yield Problem(contract, 0, f"expected a namespace {op}, named as the folder")


def check_lists(tree: Tree) -> Iterator[Problem]:
    """Every line has its file pair, every file its line."""
    kinds = arches(tree)
    for folder in op_folders(tree):
        op = folder.rsplit("/", 1)[1]
        path = f"{folder}/variants.inc"
        if not tree.has(path):
            continue
        owners = re.findall(r"^EK_OP\((\w+)\)", tree.text(path), re.M)
        if owners != [op]:
            yield Problem(path, 0, f"expected one line EK_OP({op}), got {owners or 'none'}")
        listed: dict[str, Line] = {}
        for line in variant_lines(tree, folder):
            if line.op != op:
                yield Problem(
                    path, line.line, f"{line.name} is listed for {line.op}, expected {op}"
                )
            if line.arch not in kinds:
                yield Problem(path, line.line, f"{line.arch} is no row of ops/arches.inc")
                continue
            if line.name in listed:
                yield Problem(path, line.line, f"{line.name} is listed twice")
            listed[line.name] = line
            own_kernel = kinds[line.arch] == "kCuda" and not is_composed(tree, folder, line)
            endings = (".cc", ".cu") if own_kernel else (".cc",)
            for ending in endings:
                if not tree.has(f"{folder}/{line.name}{ending}"):
                    yield Problem(path, line.line, f"{line.name}{ending}: listed, but no such file")
        yield from check_files(tree, folder, listed, kinds)


def is_composed(tree: Tree, folder: str, line: Line) -> bool:
    """Whether a variant is made of other ops' plans, through a header beside its contract: it has
    no kernel of its own."""
    host = f"{folder}/{line.name}.cc"
    if not tree.has(host):
        return False
    own = re.findall(rf'^#include "({re.escape(folder)}/\w+\.h)"', tree.text(host), re.M)
    return any(tree.has(name) and "<einkorn/compose.h>" in tree.text(name) for name in own)


def check_files(
    tree: Tree, folder: str, listed: dict[str, Line], kinds: dict[str, str]
) -> Iterator[Problem]:
    for name in tree.matching(".cc", ".cu", under=f"{folder}/"):
        parts = name[len(folder) + 1 :].split("/")
        if len(parts) == 1:
            continue
        stem = posixpath.splitext(parts[-1])[0]
        if len(parts) > 2 or parts[0] not in kinds:
            yield Problem(name, 0, "expected <op>/<arch>/<design>_v<N>, an arch of ops/arches.inc")
        elif not STEM.fullmatch(stem):
            yield Problem(name, 0, "expected a name like <design>_v<N>, versions from 1")
        elif f"{parts[0]}/{stem}" not in listed:
            design, version = STEM.fullmatch(stem).groups()
            line = f"EK_VARIANT({folder.rsplit('/', 1)[1]}, {parts[0]}, {design}, {version})"
            yield Problem(name, 0, f"no line names it; add {line} to {folder}/variants.inc")


@dataclasses.dataclass(frozen=True)
class Registered:
    """What a variant's source says in its make_variant call."""

    arch: str
    design: str
    version: int
    language: str
    summary: str


def registered(text: str) -> Registered | None:
    literal = r'"((?:[^"\\]|\\.)*)"'
    found = re.search(
        rf"make_variant<[\w:]+, *\w+>\(\s*{literal},\s*{literal},\s*(\d+),\s*{literal},"
        rf"\s*((?:{literal}\s*)+)\)",
        text,
    )
    if found is None:
        return None
    summary = "".join(re.findall(literal, found[5]))
    return Registered(found[1], found[2], int(found[3]), found[4], summary)


def check_variant_sources(tree: Tree) -> Iterator[Problem]:
    kinds = arches(tree)
    for folder in op_folders(tree):
        op = folder.rsplit("/", 1)[1]
        for line in variant_lines(tree, folder):
            path = f"{folder}/{line.name}.cc"
            if not tree.has(path):
                continue  # check_lists tells
            text = tree.text(path)
            if f"namespace einkorn::{op}::{line.arch} {{" not in text:
                yield Problem(path, 0, f"expected namespace einkorn::{op}::{line.arch}")
            if not re.search(rf"\bVariant {line.stem} =\s+make_variant<", text):
                yield Problem(path, 0, f"expected a Variant named {line.stem}, as the file")
            got = registered(text)
            want = (line.arch, line.design, line.version)
            if got is None or (got.arch, got.design, got.version) != want:
                shown = (got.arch, got.design, got.version) if got else "none"
                yield Problem(path, 0, f"make_variant: expected {want}, got {shown}")
            if kinds.get(line.arch) == "kCuda" and not is_composed(tree, folder, line):
                yield from check_kernel(tree, folder, line, text)


def check_kernel(tree: Tree, folder: str, line: Line, host: str) -> Iterator[Problem]:
    op = folder.rsplit("/", 1)[1]
    host_path, device_path = (f"{folder}/{line.name}{ending}" for ending in (".cc", ".cu"))
    entry = f"einkorn::{op}::{line.arch}::{line.stem}"
    for wanted, what in ((device_path, "file of its kernel"), (entry, "entry of its kernel")):
        if f'"{wanted}' not in host:
            yield Problem(host_path, 0, f'expected "{wanted}" as the {what}')
    # Another kernel of the tree, left over from a clone.
    for found in re.finditer(r'"(ops/[\w/]+\.cu)"', host):
        if found[1] != device_path:
            yield Problem(host_path, line_of(host, found.start()), f"names {found[1]}, not its own")
    if not tree.has(device_path):
        return
    device = tree.text(device_path)
    if f"namespace einkorn::{op}::{line.arch} {{" not in device:
        yield Problem(device_path, 0, f"expected namespace einkorn::{op}::{line.arch}")
    if not re.search(rf"__global__[^;{{]*?\b{line.stem}\(", device):
        yield Problem(device_path, 0, f"expected a kernel named {line.stem}, as the file")
