"""Sizes of found tests as problems and cases."""

import pytest
from einkorn.port.model import FoundTest
from einkorn.port.scaffold.cases import cases_of, field_name, snake
from einkorn.port.scaffold.parameters import parameters_of


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ('"n", [1, 2]', [{"n": 1}, {"n": 2}]),
        ('"rows, cols", [(1, 64), (2, 128)]', [{"rows": 1, "cols": 64}, {"rows": 2, "cols": 128}]),
        ("['a', 'b'], [[1, 2]], ids=str", [{"a": 1, "b": 2}]),
        ("'n', [1 << 20, 2**3, 4 * 8 - 1]", [{"n": 1048576}, {"n": 8}, {"n": 31}]),
        ("'n', [pytest.param(7, id='odd')]", [{"n": 7}]),
        ("'a,b', [pytest.param(7, 8, marks=slow)]", [{"a": 7, "b": 8}]),
        ('"n", [1, 2]; "m", [5]', [{"n": 1, "m": 5}, {"n": 2, "m": 5}]),
        ("pytest.mark.parametrize('n', [3])", [{"n": 3}]),
        ("'n', [torch.float16, 4]", [{"n": 4}]),
        ("'flag', [True, False]", []),
        ("'x', [0.5, -1, 'a']", []),
        ("'n', range(4)", []),
        ("'n', SIZES", []),
        ("'n', [", []),
        ("", []),
    ],
)
def test_parameters(text, sizes):
    assert parameters_of(text) == sizes


def test_constants_of_the_module_are_known():
    module = "import torch\nBASE = 64\nSIZES: list = [BASE, BASE * 2]\nOTHER = torch.x\n"
    assert parameters_of("'n', SIZES", module) == [{"n": 64}, {"n": 128}]
    assert parameters_of("'n', OTHER", module) == []
    assert parameters_of("'n', SIZES", "def broken(") == []


def test_each_value_once_rather_than_each_pair():
    text = "; ".join(f"'{name}', {list(range(1, 9))}" for name in "abc")
    assert len(parameters_of(text)) == 8
    assert len(parameters_of(f"'a', {list(range(200))}")) == 12


def test_cases_have_names_levels_and_no_duplicates(tmp_path):
    (tmp_path / "t.py").write_text("SIZES = [1, 1 << 20, 1 << 30]\n")
    tests = [
        FoundTest("test_gemm", "t.py", 1, "f", "'N', SIZES"),
        FoundTest("testOther", "t.py", 9, "f", "'N', [1]"),
        FoundTest("test_huge", "t.py", 12, "f", "'N', [1 << 50]"),
    ]
    found = cases_of(tests, tmp_path)
    assert [(one.name, one.level, one.sizes["n"]) for one in found] == [
        ("gemm_1", 0, 1),
        ("gemm_2", 1, 1 << 20),
        ("gemm_3", 2, 1 << 30),
    ]


def test_words():
    assert snake("numTokens") == "num_tokens" and snake("7b") == "n_7b" and snake("[]") == ""
    assert field_name("dtype") == "dtype_" and field_name("class") == "class_"
