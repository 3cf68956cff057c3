"""What `verify` finds, and the tree that it looks at."""

import dataclasses
import functools
import pathlib
import re
from typing import Literal, cast

from einkorn.port.errors import PortError
from einkorn.port.sources.syntax import Node, parse_cpp, raw_text_of, walk

Rule = Literal["registry", "layers", "contract", "claims", "provenance", "drift"]
LAYERS = ("import safety", "smoke", "correctness", "module", "round trip", "boundary")


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    op: str
    rule: Rule
    file: str  # relative to the tree's root
    line: int  # 0: the whole file
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.op}: {self.rule}: {self.message}"


@dataclasses.dataclass(frozen=True)
class Declared:
    """One argument of a contract's `arguments()`."""

    name: str
    role: Literal["input", "output", "inout", "scalar"]
    optional: bool  # may be left out
    alternative: int  # ... where the inputs of another are given; 0: never


@dataclasses.dataclass(frozen=True)
class OpFolder:
    family: str
    op: str

    @property
    def path(self) -> str:
        return f"ops/{self.family}/{self.op}"


class Tree:
    """A checkout of this library, or one laid out like it; files are read when asked for."""

    def __init__(self, root: pathlib.Path) -> None:
        """PortError where `root` has no ops."""
        self.root = root
        if not (root / "ops").is_dir():
            hint = "give the root of einkorn's sources, or the folder of a scaffold"
            raise PortError("tree", f"a folder with ops/ in {root}", "none", hint)

    @functools.cache  # noqa: B019  (a tree lives as long as one verification)
    def text(self, path: str) -> str:
        """Of a file, "" where there is none; a byte that is not UTF-8 becomes U+FFFD."""
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def has(self, path: str) -> bool:
        return (self.root / path).is_file()

    @functools.cache  # noqa: B019
    def syntax(self, path: str) -> Node:
        return parse_cpp(self.text(path))

    def files(self, under: str, *suffixes: str) -> list[str]:
        """Relative paths of regular files below a folder, sorted."""
        found = (self.root / under).rglob("*")
        return sorted(
            one.relative_to(self.root).as_posix()
            for one in found
            if one.suffix in suffixes and one.is_file() and "__pycache__" not in one.parts
        )

    @functools.cache  # noqa: B019
    def ops(self) -> tuple[OpFolder, ...]:
        """A folder with a contract is an op."""
        found = sorted((self.root / "ops").glob("*/*/contract.h"))
        return tuple(OpFolder(one.parent.parent.name, one.parent.name) for one in found)

    def type_of(self, op: OpFolder) -> str:
        """The contract's struct, "" where none has the op's kName."""
        for struct in walk(self.syntax(f"{op.path}/contract.h"), {"struct_specifier"}):
            name, body = struct.child_by_field_name("name"), struct.child_by_field_name("body")
            if name is None or body is None:
                continue
            if re.search(rf'\bkName\s*=\s*"{re.escape(op.op)}"', raw_text_of(body)):
                return raw_text_of(name)
        return ""

    @functools.cache  # noqa: B019
    def names(self, op: OpFolder) -> frozenset[str]:
        """The arguments of an op and the keys of its problem; empty where its problem is another
        op's.
        """
        fields = re.findall(r'\bfield\("(\w+)"', self.text(f"{op.path}/contract.h"))
        return (
            frozenset(fields + [one.name for one in self.declared(op)]) if fields else frozenset()
        )

    @functools.cache  # noqa: B019
    def declared(self, op: OpFolder) -> tuple[Declared, ...]:
        """The arguments that a contract declares, in order."""
        out = []
        for call in walk(self.syntax(f"{op.path}/contract.h"), {"call_expression"}):
            function = call.child_by_field_name("function")
            arguments = call.child_by_field_name("arguments")
            if function is None or arguments is None:
                continue
            found = re.fullmatch(
                r"(?:einkorn::)?(optional_|alternative_|given_)?(input|output|inout)|(?:einkorn::)?scalar",
                raw_text_of(function),
            )
            member = re.search(r"&(?:\w+::)*Args::(\w+)", raw_text_of(arguments))
            name = next(walk(arguments, {"string_content"}), None)
            if found is None or member is None or name is None:
                continue
            role = cast(Literal["input", "output", "inout", "scalar"], found[2] or "scalar")
            number = next(walk(arguments, {"number_literal"}), None)
            group = raw_text_of(number) if found[1] == "alternative_" and number else "0"
            out.append(Declared(raw_text_of(name), role, found[1] is not None, int(group)))
        return tuple(out)
