"""Requirements that Python states."""

import pytest
from chain_support import of_files
from einkorn.port.contracts.python import python_requirements_of


def stated(root, body):
    surveyed = of_files(root, {"f.py": f"def f(x, w=None):\n{body}"})
    function = surveyed.python.functions_in("f.py")[0]
    return [(one.form, one.text, one.when) for one in python_requirements_of(function)]


@pytest.mark.parametrize(
    ("body", "row"),
    [
        ("    assert x.dim() == 2, 'rank'\n", ("assert", "x.dim() == 2", "")),
        (
            "    if x.dim() != 2:\n        raise ValueError('rank')\n",
            ("raise", "x.dim() == 2", ""),
        ),
        ("    torch._check(x.is_cuda, lambda: 'x')\n", ("torch._check", "x.is_cuda", "")),
        ("    tl.static_assert(N % 2 == 0)\n", ("tl.static_assert", "N % 2 == 0", "")),
        (
            "    if w is not None:\n        assert w.ndim == 1\n",
            ("assert", "w.ndim == 1", "w is not None"),
        ),
    ],
)
def test_each_form_is_a_row(tmp_path, body, row):
    assert stated(tmp_path, body) == [row]


def test_else_and_elif(tmp_path):
    body = """    if x.dim() == 2:
        y = 1
    elif x.dim() == 3:
        raise TypeError('three')
    else:
        raise TypeError('rank')
"""
    assert stated(tmp_path, body) == [
        ("raise", "x.dim() != 3", "x.dim() != 2"),
        ("raise", "x.dim() == 2 or x.dim() == 3", ""),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "    # assert x\n    pass\n",
        "    try:\n        go()\n    except OSError:\n        raise RuntimeError('no')\n",
        "    raise NotImplementedError\n",
        "    def inner():\n        assert x\n    return inner\n",
    ],
)
def test_what_is_no_requirement(tmp_path, body):
    assert stated(tmp_path, body) == []
