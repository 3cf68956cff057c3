"""The package is typed for those who install it: a type checker knows its functions."""

import itertools
import re
import subprocess
import sys
import textwrap

import einkorn
import pytest
from installed import Installed

HEAD = """
import einkorn

class Tensor:
    shape: tuple[int, ...]

x, w = Tensor(), Tensor()
"""


@pytest.fixture(scope="module")
def check(tmp_path_factory):
    # Without the frameworks: their types take long to read and are not what is tested.
    installed = Installed(tmp_path_factory.mktemp("typed"), needed=())
    numbers = itertools.count()

    def run(text: str) -> str:
        """What mypy says of a program in an environment where einkorn is installed."""
        # A file each: mypy's cache takes one of the same size and second for the same.
        file = installed.elsewhere / f"program_{next(numbers)}.py"
        file.write_text(HEAD + textwrap.dedent(text), encoding="utf-8")
        command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--no-pretty"]
        command += ["--python-executable", str(installed.python), file.name]
        done = subprocess.run(command, cwd=installed.elsewhere, capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return done.stdout

    return run


def test_a_right_program_is_accepted(check):
    said = check(
        """
        def gate(one: Tensor) -> Tensor:
            return einkorn.ops.silu_mul(one, w, packing="split", out=x, variant="cpu/rows_v1")

        einkorn.ops.rms_norm(gate(x), w, eps=1e-5, rounding="llama")
        reveal_type(einkorn.__version__)
        """
    )
    assert "Success: no issues found" in said, said
    assert re.search('Revealed type is "(builtins.)?str"', said), said


def test_all_that_is_found_lazily_is_exported():
    assert set(einkorn.__all__) == {*einkorn._MODULES, *einkorn._NAMES}


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("rms_norm(x, w, eps='small')", 'incompatible type "str"; expected "float"'),
        ("rms_norm(x, w, rounding='up')", "expected \"Literal['llama'"),
        ("rms_norm(x, w, backend='cuda')", 'Unexpected keyword argument "backend"'),
        ("rms_norm()", "Missing positional argument"),
        ("rms_nrm(x)", 'Module has no attribute "rms_nrm"'),
    ],
)
def test_a_wrong_call_is_told(check, call, what):
    assert what in check(f"einkorn.ops.{call}\n")
