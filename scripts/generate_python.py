"""Writes python/einkorn/ops.py from what the command lists, one explicit function for each op, and
the forms of its PyTorch binding (generate_torch.py); and removes what it wrote for ops of the past.

Usage: generate_python.py [--check] [--command PATH] [--package DIR]

--check writes nothing; exit status 1 when a file is not what would be written, is missing, or is of
no op. So is one in the kernels' folder that was not written here, which is told and not removed.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import textwrap

import generate_torch
from generated_code import Arguments, group, literal, models_of, names, operand, scalar_type

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python/einkorn"
KERNELS = "torch/_kernels"  # in the package
WIDTH = 100
# Of a file that is written here; generate_torch.WRITTEN begins so, too.
MARK = "Written by scripts/generate_python.py"

HEAD = f'''"""The operators, one function each.

Each takes arrays of one framework (PyTorch, NumPy, JAX or CuPy), all on one device, without copies.
Work on a GPU is queued on the framework's current stream. Outputs that are not given are allocated
by the framework; an optional output is an array to write to, or True to have it allocated; it is
given back behind the result then. One whose size follows from values is the caller's to make: an
array, never True. What an op updates in place has to be an array that can be
written; of JAX's, which cannot, the new one is given back behind the results. `variant` names the
one implementation to use ("cpu/rows_v1", "reference"); without it configuration and list order
decide, as `einkorn.explain` tells.

Every function raises, with nothing written: TypeError for a missing array, a dtype, rank or device;
ValueError for a size, stride, overlap or number; NotImplementedError where no variant serves, with
each one's reason; RuntimeError for the machine's faults.

{generate_torch.WRITTEN}
"""

from typing import Literal, TypeVar

from . import _dispatch
from ._dispatch import first_call as _first_call
from ._dispatch import handlers as _handlers
from ._dispatch import meet_frameworks as _meet_frameworks
from ._op import Op

Array = TypeVar("Array")

'''


def annotation(argument: dict) -> str:
    if argument["kind"] == "one of":
        return f"Literal[{', '.join(json.dumps(one) for one in argument['choices'])}]"
    return scalar_type(argument)


def quoted(text: str) -> str:
    """Literals, a line each, that are the text together."""
    return "\n".join(map(json.dumps, textwrap.wrap(text, WIDTH - 20, drop_whitespace=False)))


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
        arguments = Arguments(op)
        self.inputs, self.outputs = arguments.inputs, arguments.outputs
        self.inouts, self.scalars = arguments.inouts, arguments.scalars
        required = [one for one in self.outputs if not one["optional"]]
        self.only = required[0]["name"] if len(required) == 1 else None

    def shown(self, output: dict) -> str:
        return "out" if output["name"] == self.only else output["name"]

    def rule(self, output: dict) -> str:
        like = output["like"]
        if like is None:
            return f"lambda {', '.join(names(self.inputs))}: (None, (), None)"
        tensor = like["tensor"]
        shape = like["shape"] or f"{operand(tensor)}.shape"
        dtype = json.dumps(like["dtype"]) if like["dtype"] else "None"
        if not any(one["name"] == tensor and not one["optional"] for one in self.inputs):
            shape = f"() if {operand(tensor)} is None else {operand(shape)}"
        return f"lambda {', '.join(names(self.inputs))}: ({tensor}, {shape}, {dtype})"

    def table(self) -> str:
        optional = [one for one in self.outputs if one["optional"]]
        inouts = f"inouts={tuple(names(self.inouts))!r},\n" if self.inouts else ""
        scalars = ", ".join(f'"{a["name"]}": {literal(a)}' for a in self.scalars)
        models = ", ".join(f'"{one["name"]}": {models_of(one)!r}' for one in self.outputs)
        rules = "".join(f"{self.rule(one)},\n" for one in self.outputs)
        given = [one for one in self.outputs if one["like"] is None]
        docs = ", ".join(f'"{one["name"]}": ({quoted(one["doc"])})' for one in given)
        given_outputs = f"given_outputs={{{docs}}},\n" if given else ""
        return (
            f"_{self.op['op']} = Op(\n"
            f'"{self.op["op"]}",\n'
            f"inputs={tuple(names(self.inputs))!r},\n"
            f"{inouts}"
            f"outputs={tuple(names(self.outputs))!r},\n"
            f"optional_outputs={tuple(names(optional))!r},\n"
            f"models={{{models}}},\n"
            f"rules=({rules}),\n"
            f"scalars={{{scalars}}},\n"
            f"{given_outputs}"
            ")\n"
        )

    def signature(self) -> str:
        parts = [
            f"{a['name']}: Array" + (" | None = None" if a["optional"] else "") for a in self.inputs
        ]
        parts.append("*")
        parts += [f"{a['name']}: {annotation(a)} = {literal(a)}" for a in self.scalars]
        for one in self.outputs:
            asked = one["optional"] and one["like"] is not None
            kind = "Array | bool | None" if asked else "Array | None"
            parts.append(f"{self.shown(one)}: {kind} = None")
        parts.append("variant: str | None = None")
        # With JAX also what is updated in place comes back.
        several = len(self.outputs) + len(self.inouts) > 1
        result = "Array | tuple[Array, ...]" if several else "Array"
        return f"def {self.op['op']}({', '.join(parts)},) -> {result}:\n"

    def docstring(self) -> str:
        def entry(name: str, doc: str) -> str:
            return textwrap.fill(
                f"{name}: {doc}", WIDTH - 1, initial_indent="        ", subsequent_indent=" " * 12
            )

        lines = [f'    """{self.op["summary"]}', "", "    Args:"]
        for one in self.inputs:
            extra = "; optional" if one["optional"] else ""
            if one in self.inouts:
                extra = "; read and written in place"
            lines.append(entry(one["name"], one["doc"] + extra))
        for one in self.scalars:
            lines.append(entry(one["name"], one["doc"]))
        for one in self.outputs:
            extra = "optional output" if one["optional"] else "output"
            if one["like"] is None:
                extra += ", which the caller makes"
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
        inputs = group(names(self.inputs))
        outputs = group([self.shown(one) for one in self.outputs])
        scalars = group(names(self.scalars))
        shown = [*names(self.inputs), *map(self.shown, self.outputs), *names(self.scalars)]
        return (
            f"    if {self.shown(self.outputs[0])} is not None and not _dispatch.is_tracing():\n"
            f"        direct = _{self.op['op']}.direct\n"
            f"        done = direct({', '.join(shown)}, variant)\n"
            "        if done is not None:\n"
            "            return done\n"
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
        [ruff, "format", "--config", ROOT / "pyproject.toml", "--stdin-filename", target, "-"],
        input=text,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def generate(command: str, package: pathlib.Path) -> dict[pathlib.Path, str]:
    """The text of each file."""
    listing = subprocess.run(
        [command, "list", "--json"], check=True, capture_output=True, text=True
    ).stdout
    ops = json.loads(listing)
    texts = {package / "ops.py": ops_text(ops)}
    for name, text in generate_torch.texts(ops).items():
        texts[package / KERNELS / name] = text
    return {target: formatted(target, text) for target, text in texts.items()}


def was_generated(path: pathlib.Path) -> bool:
    head = path.read_text(encoding="utf-8").splitlines()[:20]
    return any(line.startswith(MARK) for line in head)


def differences(texts: dict[pathlib.Path, str], package: pathlib.Path) -> dict[pathlib.Path, str]:
    """What is wrong with files, by path. All of the kernels' folder is generated."""
    found = {
        path: "of no op"
        for path in package.rglob("*.py")
        if path not in texts and (path.parent == package / KERNELS or was_generated(path))
    }
    for target, wanted in texts.items():
        if not target.is_file():
            found[target] = "missing"
        elif target.read_text(encoding="utf-8") != wanted:
            found[target] = "not in step with the ops"
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--command", default=str(ROOT / "build/einkorn"))
    parser.add_argument("--package", type=pathlib.Path, default=PACKAGE)
    args = parser.parse_args()
    package = args.package.resolve()
    texts = generate(args.command, package)
    status = 0
    for target, problem in sorted(differences(texts, package).items()):
        if args.check or (target not in texts and not was_generated(target)):
            print(f"{target.relative_to(package.parent)}: {problem}")
            status = 1
        elif target in texts:
            target.parent.mkdir(exist_ok=True)
            target.write_text(texts[target], encoding="utf-8")
        else:
            target.unlink()
    if args.check and status:
        print("  hint: .venv/bin/python scripts/generate_python.py")
    return status


if __name__ == "__main__":
    sys.exit(main())
