"""einkorn.ops is in step with the library, and its signatures are as agreed."""

import ast
import inspect
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from einkorn import ops

SOURCE = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(os.environ.get("EINKORN_BIN", SOURCE / "build" / "einkorn"))
GOLDEN = SOURCE / "tests" / "golden" / "python" / "ops_signatures.txt"


def generated(*words, command=COMMAND):
    return subprocess.run(
        [sys.executable, SOURCE / "scripts/generate_python.py", "--command", command, *words],
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_in_step_with_the_ops():
    done = generated("--check")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def package(tmp_path):
    """A copy, which may be changed."""
    package = tmp_path / "einkorn"
    shutil.copytree(SOURCE / "python/einkorn", package)
    return package


def test_check_tells_every_file_that_is_not(package):
    kernels = package / "torch/_kernels"
    text = (kernels / "rms_norm.py").read_text()
    (kernels / "rms_norm.py").write_text(text + "\nX = 1\n")
    (kernels / "silu_mul.py").unlink()
    (kernels / "once_an_op.py").write_text(text)
    (kernels / "by_hand.py").write_text("X = 1\n")
    done = generated("--check", "--package", package)
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines() == [
        "einkorn/torch/_kernels/by_hand.py: of no op",
        "einkorn/torch/_kernels/once_an_op.py: of no op",
        "einkorn/torch/_kernels/rms_norm.py: not in step with the ops",
        "einkorn/torch/_kernels/silu_mul.py: missing",
        "  hint: .venv/bin/python scripts/generate_python.py",
    ]
    assert not (kernels / "silu_mul.py").exists()


def test_it_brings_the_files_in_step(package):
    kernels = package / "torch/_kernels"
    text = (kernels / "rms_norm.py").read_text()
    (package / "torch/_once_a_file.py").write_text(text)
    shutil.rmtree(kernels)
    kernels.mkdir()
    (kernels / "by_hand.py").write_text("X = 1\n")
    done = generated("--package", package)
    assert done.returncode == 1, done.stderr
    assert done.stdout == "einkorn/torch/_kernels/by_hand.py: of no op\n"
    assert (kernels / "rms_norm.py").read_text() == text
    assert not (package / "torch/_once_a_file.py").exists()
    (kernels / "by_hand.py").unlink()
    done = generated("--check", "--package", package)
    assert (done.returncode, done.stdout) == (0, "")


def test_an_op_less(tmp_path, package):
    """A list without an op that the files have."""
    listing = json.loads(subprocess.check_output([COMMAND, "list", "--json"], timeout=120))
    rest = [one for one in listing if one["op"] != "rms_norm"]
    fake = tmp_path / "command"
    (tmp_path / "listing.json").write_text(json.dumps(rest))
    fake.write_text(f"#!/bin/sh\ncat {tmp_path / 'listing.json'}\n")
    fake.chmod(0o755)
    done = generated("--check", "--package", package, command=fake)
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[:-1] == [
        "einkorn/ops.py: not in step with the ops",
        "einkorn/torch/_kernels/__init__.py: not in step with the ops",
        "einkorn/torch/_kernels/rms_norm.py: of no op",
    ]


def test_signatures(request):
    """Golden: what a user sees in help()."""
    text = ""
    for name in sorted(ops.TABLE):
        function = getattr(ops, name)
        signature = str(inspect.signature(function)).replace("~Array", "Array")
        parts = "".join(f"\n    {part}" for part in split_arguments(signature))
        text += f"{name}{parts}\n\n{inspect.getdoc(function)}\n\n\n"
    text = text.rstrip() + "\n"
    option = request.config.getoption("--update-golden", default=False)  # where tests/cli runs, too
    if option or os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8"), f"{GOLDEN} differs; see UPDATE_GOLDEN"


def split_arguments(signature: str) -> list[str]:
    """One line each, for readable differences."""
    parts, depth, start = [], 0, 1
    for at, letter in enumerate(signature):
        depth += (letter in "([") - (letter in ")]")
        if (letter == "," and depth == 1) or (letter == ")" and depth == 0):
            parts.append(signature[start:at].strip())
            start = at + 1
    return [one for one in [*parts, signature[start:].strip()] if one]


@pytest.fixture(scope="module")
def optional_inputs():
    """By op."""
    listing = json.loads(subprocess.check_output([COMMAND, "list", "--json"], timeout=120))
    return {
        op["op"]: {
            one["name"] for one in op["arguments"] if one["kind"] == "input" and one["optional"]
        }
        for op in listing
    }


@pytest.mark.parametrize("name", sorted(ops.TABLE))
class TestFunction:
    def test_arguments(self, name):
        """Inputs by position or name, everything else by name; `variant` is the only knob."""
        op, parameters = ops.TABLE[name], inspect.signature(getattr(ops, name)).parameters
        kinds = {name: one.kind for name, one in parameters.items()}
        by_name = [n for n, kind in kinds.items() if kind is inspect.Parameter.KEYWORD_ONLY]
        required = [one for one in op.outputs if op.required(one)]
        outputs = ["out" if [one] == required else one for one in op.outputs]
        assert list(parameters)[: len(op.inputs)] == list(op.inputs)
        assert by_name == [*op.scalars, *outputs, "variant"]
        assert set(kinds.values()) <= {
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            inspect.Parameter.KEYWORD_ONLY,
        }

    def test_defaults(self, name, optional_inputs):
        op, parameters = ops.TABLE[name], inspect.signature(getattr(ops, name)).parameters
        for one in op.inputs:
            empty = parameters[one].default is inspect.Parameter.empty
            assert empty == (one not in optional_inputs[name])
        for one, default in op.scalars.items():
            assert parameters[one].default == default
            assert type(parameters[one].default) is type(default)
        assert parameters["variant"].default is None

    def test_every_argument_is_explained(self, name):
        doc = inspect.getdoc(getattr(ops, name))
        for one in inspect.signature(getattr(ops, name)).parameters:
            assert f"\n    {one}: " in doc

    def test_is_annotated(self, name):
        signature = inspect.signature(getattr(ops, name))
        assert signature.return_annotation is not inspect.Signature.empty
        for one in signature.parameters.values():
            assert one.annotation is not inspect.Parameter.empty


def test_all_are_exported():
    assert sorted(ops.__all__) == sorted(ops.TABLE)
    assert all(op.name == name for name, op in ops.TABLE.items())


def test_functions_are_functions():
    """No partial, no wrapper: a def for each op, that a reader and a debugger find."""
    tree = ast.parse(pathlib.Path(ops.__file__).read_text())
    assert {node.name for node in tree.body if isinstance(node, ast.FunctionDef)} == set(ops.TABLE)
    assert all(inspect.isfunction(getattr(ops, name)) for name in ops.TABLE)
