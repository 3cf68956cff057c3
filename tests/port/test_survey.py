"""Whole surveys, their files and the command."""

import json
import pathlib
import subprocess
import sys
import time

import pytest
from chain_support import REPOS, of_files
from einkorn.port.__main__ import main
from einkorn.port.errors import PortError
from einkorn.port.model import Survey
from einkorn.port.survey.assemble import survey, write
from einkorn.port.survey.page import page, table

# What survey.json has at least, and what each entry of a list has.
KEYS = {
    "registrations": {"kind", "public_name", "symbol", "file", "line"},
    "call_chain": {"symbol", "file", "line"},
    "launches": {"kernel", "file", "line", "grid", "block", "shared", "stream"},
    "contracts": {"argument", "property", "condition", "file", "line", "side"},
    "hidden": {"argument", "property", "condition", "file", "line", "side"},
    "state": {"kind", "text", "file", "line"},
    "tests": {"name", "file", "line"},
    "gaps": {"what", "file", "line"},
}


@pytest.fixture(scope="module")
def found():
    return survey(REPOS / "pybind", "scale_rows")


def test_json_has_the_agreed_keys(found, tmp_path):
    write(found, tmp_path / "out")
    data = json.loads((tmp_path / "out" / "survey.json").read_text())
    assert data["entry"] == "scale_rows"
    for key, fields in KEYS.items():
        assert isinstance(data[key], list)
        assert all(fields <= set(one) for one in data[key]), key
    assert {"path", "lines"} <= set(data["closure"]["files"][0])
    assert isinstance(data["closure"]["external"], list)
    assert Survey.from_json((tmp_path / "out" / "survey.json").read_text()) == found


def test_the_closure_leaves_the_binding_out(found):
    assert [one.path for one in found.closure.files] == [
        "csrc/flags.h",
        "csrc/scale.cu",
        "csrc/scale.cuh",
        "csrc/scale.h",
    ]


def test_a_header_brings_the_units_that_include_it(tmp_path):
    files = {
        "launch.h": "struct L { static void go(int n); };\nvoid run(int n);\n",
        "launch_impl.h": '#include "launch.h"\n__global__ void k(int n) {}\n'
        "inline void L::go(int n) { k<<<1, n>>>(n); }\n",
        "unit.cu": '#include "launch_impl.h"\n',
        "run.cpp": '#include "launch.h"\nvoid run(int n) { L::go(n); }\n',
        "other.cu": "__global__ void other() {}\n",
    }
    of_files(tmp_path, files)
    closure = survey(tmp_path, "run").closure
    assert [one.path for one in closure.files] == [
        "launch.h",
        "launch_impl.h",
        "run.cpp",
        "unit.cu",
    ]


def test_an_operator_of_triton_has_its_python_files():
    found = survey(REPOS / "triton", "rms_scale")
    paths = [one.path for one in found.closure.files]
    assert "normlib/kernels.py" in paths
    assert {"torch", "triton"} <= set(found.closure.external)


def test_the_page_names_what_matters(found):
    text = page(found)
    for one in ("## Hidden requirements", "csrc/scale.cu:27", "`_C.ops.scale_rows`", "## Gaps"):
        assert one in text
    assert text.isprintable() or "\t" not in text


def test_cells_of_a_table():
    text = table(("a", "b"), [("x | y", "z" * 200)])
    assert "x \\| y" in text
    assert text.splitlines()[2].endswith("… |")


def test_only_the_output_folder_is_written(tmp_path):
    before = {
        one: one.stat().st_mtime_ns for one in REPOS.rglob("*") if "__pycache__" not in str(one)
    }
    assert (
        main(["survey", str(REPOS / "pybind"), "--op", "scale_rows", "--out", str(tmp_path)]) == 0
    )
    assert sorted(one.name for one in tmp_path.iterdir()) == ["survey.json", "survey.md"]
    after = {
        one: one.stat().st_mtime_ns for one in REPOS.rglob("*") if "__pycache__" not in str(one)
    }
    assert before == after


def test_a_link_in_the_output_folder_is_not_followed(found, tmp_path):
    (tmp_path / "elsewhere").write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "survey.md").symlink_to(tmp_path / "elsewhere")
    write(found, tmp_path / "out")
    assert (tmp_path / "elsewhere").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["survey", "nowhere", "--op", "f"], "port: root: expected a folder"),
        (["survey", str(REPOS / "pybind"), "--op", "scale_row"], "alike: "),
        (
            ["survey", str(REPOS / "pybind"), "--op", "scale_rows", "--out", __file__],
            "which is a file",
        ),
        (["plan", "nowhere.json"], "port: survey: expected a readable file"),
        (["closure", ".", "--op", "f", "--emit", "x", "--namespace", "a"], "expected OLD=NEW"),
    ],
)
def test_errors_of_use(words, said, capsys):
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_odd_sources_are_surveyed(tmp_path):
    (tmp_path / "run.cu").write_bytes(
        b'#include "missing.h"\n#include "run.cu"\n// caf\xe9\nMACRO(unknown, things)\n'
        b"__global__ void k(int n) {}\nvoid run(int n) { assert(n > 0); k<<<1, n>>>(n); }\n"
    )
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "broken.cu").write_text("void f( { <<<>>> }}} run(")
    found = survey(tmp_path, "run")
    assert [one.condition for one in found.contracts] == ["n > 0"]
    assert any("UTF-8" in one.what for one in found.gaps)
    assert not found.repository.get("licence")


def test_a_thousand_files(tmp_path):
    files = {
        f"src/unit_{i}.cu": f"namespace n{i} {{\n__global__ void k{i}(float* x) {{}}\n"
        f"void run_{i}(Tensor x) {{ TORCH_CHECK(x.dim() == {i});"
        f" k{i}<<<1, 32>>>(x.data_ptr<float>()); }}\n}}\n"
        for i in range(1000)
    }
    of_files(tmp_path, files)
    begin = time.monotonic()
    found = survey(tmp_path, "run_7")
    assert [one.condition for one in found.contracts] == ["x.dim() == 7"]
    assert time.monotonic() - begin < 20


def test_the_package_imports_without_parsers_and_frameworks():
    code = (
        "import sys\n"
        "for one in ('tree_sitter', 'clang', 'torch', 'numpy', 'tvm_ffi'):\n"
        "    sys.modules[one] = None\n"
        "import einkorn.port, einkorn.port.survey, einkorn.port.commands\n"
        "from einkorn.port.errors import PortError\n"
        "from einkorn.port.sources.syntax import parse_cpp\n"
        "try:\n    parse_cpp('int x;')\n"
        'except PortError as error:\n    assert "einkorn[port]" in str(error)\n'
        "else:\n    raise SystemExit(3)\n"
        "assert 'einkorn._native' not in sys.modules\n"
    )
    python = pathlib.Path(__file__).parents[2] / "python"
    ran = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(python)}, check=False)
    assert ran.returncode == 0


def test_an_entry_without_a_launch_has_a_gap(tmp_path):
    of_files(tmp_path, {"f.py": "def f(x):\n    return x\n"})
    assert [one.what for one in survey(tmp_path, "f").gaps] == [
        "no launch of a kernel was reached from 'f'"
    ]


def test_no_entry_is_an_error():
    with pytest.raises(PortError, match="op: expected a function"):
        survey(REPOS / "pybind", "no_such_thing")


def test_gaps_of_sources_and_of_the_chain_both_arrive(tmp_path):
    of_files(
        tmp_path,
        {
            "a.cu": "int gone(int x);\n__global__ void k(int x) {}\n"
            "struct LaunchKernel { LaunchKernel(int grid, int block); };\n"
            "void run(int x) {\n  k<<<1, gone(x)>>>(x);\n  auto kernel = choose(x);\n"
            "  LaunchKernel(1, 32)(kernel, x);\n}\n",
            "unrelated.cu": "void f() {\n  LaunchKernel(1, 32)(kernel, x);\n}\n",
        },
    )
    found = survey(tmp_path, "run")
    assert [(gap.what, gap.file, gap.line) for gap in found.gaps] == [
        ("gone: declared, defined nowhere here", "a.cu", 5),
        ("which kernel kernel is can't be told", "a.cu", 7),
    ]
