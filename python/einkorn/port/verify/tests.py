"""What the tests of a tree show of each op: error messages that they hold, and layers."""

import ast
import dataclasses
import re

from einkorn.port.scaffold.tests import NOT_FILLED
from einkorn.port.verify.model import OpFolder, Tree

_GOLDEN = "tests/golden"
_ERROR = re.compile(r"^(?:\w+Error): (.*)$", re.MULTILINE)
_CPP_TEST = re.compile(r"^TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)
_CPP_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


@dataclasses.dataclass(frozen=True)
class Test:
    name: str
    file: str
    line: int
    text: str  # from its name to its end

    @property
    def python(self) -> bool:
        return self.file.endswith(".py")

    @property
    def filled(self) -> bool:
        return NOT_FILLED not in self.text

    def names(self, word: str) -> bool:
        return bool(word) and re.search(rf"\b{re.escape(word)}\b", self.text) is not None


class Tests:
    """All tests of a tree, read once."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.all: list[Test] = []
        self.files: dict[str, str] = {}
        # A fake of the tests of this very package would count itself.
        for file in tree.files("tests", ".cc", ".h", ".py"):
            if file.startswith("tests/port/"):
                continue
            text = tree.text(file)
            self.files[file] = text
            self.all += (
                _python_tests(file, text) if file.endswith(".py") else _cpp_tests(file, text)
            )

    def of(self, op: OpFolder) -> list[Test]:
        """Tests that name the op or its contract, or that go through all ops."""
        kind = self.tree.type_of(op)
        return [
            one
            for one in self.all
            if one.filled
            and (
                one.names(op.op)
                or one.names(kind)
                or self.for_all(one)
                or (kind != "" and self._of_suite(one) == kind)
            )
        ]

    def _of_suite(self, test: Test) -> str:
        """The contract that a C++ suite is named for: RmsNorm of RmsNormContract."""
        kinds = [kind for one in self.tree.ops() if (kind := self.tree.type_of(one))]
        named = [kind for kind in kinds if re.match(rf"{kind}(?![a-z0-9])", test.name)]
        return max(named, key=len, default="")

    def for_all(self, test: Test) -> bool:
        """Whether a test goes through a list of all ops."""
        if test.python:
            return test.names("TABLE")
        return "op_test.cc" in test.file and ".ops()" in self.files[test.file]

    def goldens(self, op: OpFolder) -> list[str]:
        """The files of expected errors of an op that a test compares with: named in full, or by
        their topic, errors/<op>_<topic>.txt.
        """
        code = "\n".join(text for file, text in self.files.items() if not file.endswith(".py"))
        out = []
        for path in self.tree.files(f"{_GOLDEN}/errors", ".txt"):
            name = path.removeprefix(f"{_GOLDEN}/")
            topic = name.removeprefix(f"errors/{op.op}_").removesuffix(".txt")
            by_topic = name.startswith(f"errors/{op.op}_") and (
                f'"{topic}"' in code or f'"_{topic}.txt"' in code
            )
            if f'"{name}"' in code or by_topic:
                out.append(path)
        return out

    def messages(self, op: OpFolder) -> list[str]:
        """The errors of the op that a test expects: in golden files, and as texts of tests."""
        out: list[str] = []
        for golden in self.goldens(op):
            out += _ERROR.findall(self.tree.text(golden))
        for test in self.all:
            if test.filled and f"{op.op}: " in test.text:
                out += _strings(test)
        return [one for one in dict.fromkeys(out) if one.startswith(f"{op.op}: ")]

    def texts(self, op: OpFolder) -> str:
        """All that is written down to be true of an op: its tests, what they expect, its cases."""
        kind = self.tree.type_of(op)
        files = [
            file
            for file, text in self.files.items()
            if re.search(rf"\b{op.op}\b|\b{kind or op.op}\b", text)
        ]
        parts = [one.text for one in self.of(op)] + [self.files[file] for file in files]
        parts += self.messages(op)
        parts += [self.tree.text(f"{op.path}/cases.inc"), self.tree.text(f"{op.path}/cases.cc")]
        return "\n".join(parts)


def _strings(test: Test) -> list[str]:
    """String literals of a test, those in a row as one."""
    if not test.python:
        joined = re.sub(r'"\s*\n\s*"', "", test.text)
        found = _CPP_STRING.findall(joined)
        return [one.replace('\\"', '"').replace("\\n", "\n") for one in found]
    try:
        tree = ast.parse(re.sub(r"^\s+", "", test.text, count=1))
    except SyntaxError:  # a method, cut out of its class
        found = re.findall(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'", test.text)
        return [one or other for one, other in found]
    return [
        one.value
        for one in ast.walk(tree)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]


def _cpp_tests(file: str, text: str) -> list[Test]:
    starts = list(_CPP_TEST.finditer(text))
    ends = [*(one.start() for one in starts[1:]), len(text)][: len(starts)]
    return [
        Test(
            f"{one[1]}.{one[2]}",
            file,
            text.count("\n", 0, one.start()) + 1,
            text[one.start() : end],
        )
        for one, end in zip(starts, ends, strict=True)
    ]


def _python_tests(file: str, text: str) -> list[Test]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []  # pytest tells
    lines = text.splitlines()
    out: list[Test] = []

    def add(body: list[ast.stmt], owner: str, marks: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
                add(node.body, f"{node.name}::", marks + _decorators(node, lines))
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                begin = min([one.lineno for one in node.decorator_list], default=node.lineno)
                own = "\n".join(lines[begin - 1 : node.end_lineno])
                test = Test(f"{owner}{node.name}", file, node.lineno, own + marks)
                out.append(test)

    add(tree.body, "", "")
    return out


def _decorators(node: ast.ClassDef, lines: list[str]) -> str:
    if not node.decorator_list:
        return ""
    begin = min(one.lineno for one in node.decorator_list)
    return "\n" + "\n".join(lines[begin - 1 : node.lineno])
