"""Tests that reach an entry: found by what they call, with what they are parametrized by."""

import pytest
from chain_support import of_files, repo
from einkorn.port.chain import tests_found

EXPECTED = {
    ("pybind", "scale_rows"): [
        (
            "test_scale_rows",
            "tests/test_scale.py",
            7,
            "scale_rows",
            '"rows, columns", [(1, 8), (3, 64)]',
        )
    ],
    ("torch_library", "soft_clip"): [
        ("test_soft_clip", "tests/test_clip.py", 7, "soft_clip", '"limit", [0.5, 2.0]'),
        ("test_through_the_dispatcher", "tests/test_clip.py", 13, "softclip::clip", ""),
    ],
    ("torch_library", "soft_clip_"): [],
    ("torch_custom_op", "gatelib.gate.gate"): [("test_gate", "tests/test_gate.py", 16, "gate", "")],
    ("torch_custom_op", "gate_add"): [],
    ("tvm_ffi", "add_bias"): [("test_add_bias", "tests/test_bias.py", 5, "add_bias", "")],
    ("ctypes", "scan"): [("test_scan", "tests/test_scan.py", 5, "scan", "")],
    ("ctypes", "scan_rows"): [("test_scan", "tests/test_scan.py", 5, "_library.scan_rows", "")],
    ("load_inline", "horner"): [
        ("test_horner", "tests/test_horner.py", 7, "horner", '"degree", [1, 4]')
    ],
    ("load_jit", "shiftlib.jit.shift.shift"): [
        ("test_shift", "tests/test_shift.py", 8, "shift", '"count", [1, 127, 4096]; "by", [1, -7]')
    ],
    ("triton", "rms_scale"): [
        ("test_rms_scale", "tests/test_rms_scale.py", 7, "rms_scale", '"width", [16, 100]'),
        ("test_module", "tests/test_rms_scale.py", 13, "rms_scale", ""),
    ],
}


def found(surveyed, entry):
    tests = tests_found.tests_reaching(surveyed.cpp, surveyed.python, surveyed.follow(entry))
    return [(one.name, one.file, one.line, one.reaches, one.parameters) for one in tests]


@pytest.mark.parametrize(("kind", "entry"), EXPECTED)
def test_found_and_no_others(kind, entry):
    assert found(repo(kind), entry) == EXPECTED[kind, entry]


def test_functions_that_are_handed_on_in_tests(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "lib.py": "def f(x):\n    return x\n",
            "test_lib.py": "from lib import f\n\ndef check(g):\n    assert g(1) == 1\n\n"
            "def test_f():\n    check(f)\n\ndef helper():\n    f(1)\n",
        },
    )
    assert [one[:3] for one in found(surveyed, "lib.f")] == [("test_f", "test_lib.py", 6)]


def test_comments_are_no_parameters(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "lib.py": "def f(x):\n    return x\n",
            "test_lib.py": "import pytest\nfrom lib import f\n\n"
            '@pytest.mark.parametrize("x", [\n    1,  # one\n    2,\n])\n'
            "class TestAll:\n    def test_f(self, x):\n        f(x)\n",
        },
    )
    assert found(surveyed, "lib.f")[0][4] == '"x", [ 1, 2, ]'


def test_google_tests(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "op.h": "void launch(float* x);\nint helper(int x);\n",
            "op.cu": '#include "op.h"\n__global__ void k(float* x) {}\n'
            "int helper(int x) { return x; }\n"
            "void launch(float* x) { helper(1); k<<<1, 32>>>(x); }\n",
            "op_test.cc": '#include "op.h"\n#include <gtest/gtest.h>\n'
            "static void run() { launch(nullptr); }\n"
            "TEST(Op, Launches) {\n  run();\n}\n"
            "TEST_F(Other, Helper) { helper(2); }\n",
        },
    )
    assert found(surveyed, "launch") == [("Op.Launches", "op_test.cc", 4, "launch", "")]
