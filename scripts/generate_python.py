"""Writes python/einkorn/ops.py from what the command lists, one explicit function for each op, and
the kernels and fakes of its PyTorch binding (generate_torch.py).

Usage: generate_python.py [--check] [--command PATH]

--check writes nothing; exit status 1 when a file is not what would be written.
"""

import argparse
import ast
import json
import pathlib
import re
import subprocess
import sys
import textwrap

import generate_torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python/einkorn"
WIDTH = 100

HEAD = '''"""The operators, one function each.

Each takes arrays of one framework (PyTorch, NumPy, JAX or CuPy), all on one device, without copies.
Work on a GPU is queued on the framework's current stream. Outputs that are not given are allocated
by the framework; an optional output is an array to write to, or True to have it allocated; it is
given back behind the result then. `variant` names the one implementation to use ("cpu/rows_v1",
"reference"); without it configuration and list order decide, as `einkorn.explain` tells.

Every function raises, with nothing written: TypeError for a missing array, a dtype, rank or device;
ValueError for a size, stride, overlap or number; NotImplementedError where no variant serves, with
each one's reason; RuntimeError for the machine's faults.

Written by scripts/generate_python.py from the ops' declarations: do not edit.
"""

from typing import Literal, TypeVar

from ._dispatch import first_call as _first_call
from ._dispatch import handlers as _handlers
from ._dispatch import meet_frameworks as _meet_frameworks
from ._op import Op

Array = TypeVar("Array")

'''


def literal(argument: dict) -> str:
    """The default of a scalar as Python writes it."""
    kind, value = argument["kind"], argument["default"]
    if kind == "bool":
        return "True" if value == "true" else "False"
    if kind == "int":
        return value
    if kind == "number":
        return repr(float(value))
    return json.dumps(value)


def annotation(argument: dict) -> str:
    kind = argument["kind"]
    if kind == "one of":
        return f"Literal[{', '.join(json.dumps(one) for one in argument['choices'])}]"
    return {"bool": "bool", "int": "int", "number": "float"}[kind]


def source_of(op: dict) -> str:
    """The paragraph of the op's README that begins with its source."""
    readme = ROOT / "ops" / op["family"] / op["op"] / "README.md"
    for paragraph in readme.read_text().split("\n\n"):
        if re.match(r"Sources?:", paragraph):
            return " ".join(paragraph.split())
    return ""


class Function:
    """The text of one op's function."""

    def __init__(self, op: dict) -> None:
        self.op = op
        of_kind = lambda *kinds: [a for a in op["arguments"] if a["kind"] in kinds]  # noqa: E731
        self.inputs = of_kind("input")
        self.outputs = of_kind("output")
        self.scalars = of_kind("bool", "int", "number", "one of")
        required = [one for one in self.outputs if not one["optional"]]
        self.only = required[0]["name"] if len(required) == 1 else None

    def shown(self, output: dict) -> str:
        return "out" if output["name"] == self.only else output["name"]

    def rule(self, output: dict) -> str:
        names = ", ".join(one["name"] for one in self.inputs)
        like = output["like"]
        tensor = like["tensor"]
        one_name = tensor.isidentifier()
        shape = like["shape"] or (f"{tensor}.shape" if one_name else f"({tensor}).shape")
        dtype = json.dumps(like["dtype"]) if like["dtype"] else "None"
        if not any(one["name"] == tensor and not one["optional"] for one in self.inputs):
            shape = f"() if ({tensor}) is None else ({shape})"
        text = f"lambda {names}: ({tensor}, {shape}, {dtype})"
        used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        known = {one["name"] for one in self.inputs}
        if unknown := used - known:
            raise SystemExit(f"{self.op['op']}: {output['name']}: Like names {sorted(unknown)}")
        return text

    def table(self) -> str:
        def names(arguments: list[dict], *, optional_only: bool = False) -> str:
            chosen = [a["name"] for a in arguments if a.get("optional") or not optional_only]
            return repr(tuple(chosen)).replace("'", '"')

        scalars = ", ".join(f'"{a["name"]}": {literal(a)}' for a in self.scalars)
        rules = "".join(f"{self.rule(one)},\n" for one in self.outputs)
        return (
            f"_{self.op['op']} = Op(\n"
            f'"{self.op["op"]}",\n'
            f"inputs={names(self.inputs)},\n"
            f"optional_inputs={names(self.inputs, optional_only=True)},\n"
            f"outputs={names(self.outputs)},\n"
            f"optional_outputs={names(self.outputs, optional_only=True)},\n"
            f"rules=({rules}),\n"
            f"scalars={{{scalars}}},\n"
            ")\n"
        )

    def signature(self) -> str:
        parts = [
            f"{a['name']}: Array" + (" | None = None" if a["optional"] else "") for a in self.inputs
        ]
        parts.append("*")
        parts += [f"{a['name']}: {annotation(a)} = {literal(a)}" for a in self.scalars]
        for one in self.outputs:
            kind = "Array | bool | None" if one["optional"] else "Array | None"
            parts.append(f"{self.shown(one)}: {kind} = None")
        parts.append("variant: str | None = None")
        several = len(self.outputs) > 1
        result = "Array | tuple[Array, ...]" if several else "Array"
        return f"def {self.op['op']}({', '.join(parts)},) -> {result}:\n"

    def docstring(self) -> str:
        def entry(name: str, doc: str) -> str:
            return textwrap.fill(
                f"{name}: {doc}", WIDTH - 1, initial_indent="        ", subsequent_indent=" " * 12
            )

        lines = [f'    """{self.op["summary"]}', "", "    Args:"]
        for one in self.inputs:
            lines.append(entry(one["name"], one["doc"] + ("; optional" if one["optional"] else "")))
        for one in self.scalars:
            lines.append(entry(one["name"], one["doc"]))
        for one in self.outputs:
            extra = "output" if not one["optional"] else "optional output"
            lines.append(entry(self.shown(one), f"{extra}, {one['doc']}"))
        lines.append(entry("variant", "the one implementation to use"))
        if source := source_of(self.op):
            lines += [
                "",
                textwrap.fill(source, WIDTH - 1, initial_indent="    ", subsequent_indent="    "),
            ]
        lines.append('    """')
        return "\n".join(lines) + "\n"

    def body(self) -> str:
        def group(names: list[str]) -> str:
            return f"({', '.join(names)},)" if names else "()"

        inputs = group([one["name"] for one in self.inputs])
        outputs = group([self.shown(one) for one in self.outputs])
        scalars = group([one["name"] for one in self.scalars])
        return (
            f"    handler = _handlers.get(type({self.inputs[0]['name']})) or _first_call\n"
            f"    return handler(_{self.op['op']}, {inputs}, {outputs}, {scalars}, variant)\n"
        )

    def text(self) -> str:
        return f"{self.table()}\n\n{self.signature()}{self.docstring()}{self.body()}\n\n"


def ops_text(ops: list[dict]) -> str:
    text = HEAD + "\n".join(Function(op).text() for op in ops)
    table = ",\n".join(f"_{op['op']}.name: _{op['op']}" for op in ops)
    text += f"\n#: Every op by its name.\nTABLE: dict[str, Op] = {{{table}}}\n"
    names = ", ".join(f'"{name}"' for name in sorted(op["op"] for op in ops))
    return text + f"\n__all__ = [{names}]\n\n_meet_frameworks()\n"


def formatted(target: pathlib.Path, text: str) -> str:
    ruff = pathlib.Path(sys.executable).with_name("ruff")
    return subprocess.run(
        [ruff, "format", "--stdin-filename", str(target), "-"],
        input=text,
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    ).stdout


def generate(command: str) -> dict[pathlib.Path, str]:
    """The text of each file."""
    listing = subprocess.run(
        [command, "list", "--json"], check=True, capture_output=True, text=True
    ).stdout
    ops = json.loads(listing)
    texts = {
        PACKAGE / "ops.py": ops_text(ops),
        PACKAGE / "torch/_kernels.py": generate_torch.kernels_text(ops),
        PACKAGE / "torch/_fakes.py": generate_torch.fakes_text(ops),
    }
    return {target: formatted(target, text) for target, text in texts.items()}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--command", default=str(ROOT / "build/einkorn"))
    args = parser.parse_args()
    status = 0
    for target, wanted in generate(args.command).items():
        if target.is_file() and target.read_text() == wanted:
            continue
        if args.check:
            print(
                f"{target.relative_to(ROOT)}: not in step with the ops\n"
                "  hint: .venv/bin/python scripts/generate_python.py"
            )
            status = 1
        else:
            target.write_text(wanted)
    return status


if __name__ == "__main__":
    sys.exit(main())
