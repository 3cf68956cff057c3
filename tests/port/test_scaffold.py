"""The op folder that is made from a survey and its answers: complete, buildable, and red."""

import json
import os
import pathlib
import re
import subprocess
import sys

import migration_support
import pytest
from einkorn.port.errors import PortError
from einkorn.port.scaffold.files import scaffold

SOURCE = pathlib.Path(__file__).resolve().parents[2]
OP = "ops/position/turn_rows"


@pytest.fixture
def files(tmp_path):
    return migration_support.files(tmp_path)


def make(files, out, **options):
    return scaffold(files.survey, files.migration, out, upstream=files.upstream, **options)


@pytest.fixture
def made(files, tmp_path):
    out = tmp_path / "out"
    return make(files, out), out


class TestFiles:
    def test_the_folder_has_what_einkorn_new_op_makes(self, made):
        templates = (SOURCE / "src/versions/op_templates.cc").read_text()
        wanted = set(re.findall(r'constexpr OpTemplate \w+\{\s*"([\w.]+)"', templates))
        assert len(wanted) == 7
        assert wanted <= set(os.listdir(made[1] / OP))

    def test_nothing_else_is_written_than_is_said(self, made):
        result, out = made
        written = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
        assert written == set(result.files)

    def test_arguments_become_a_contract(self, made):
        text = (made[1] / OP / "contract.h").read_text()
        for part in (
            'input("q", &Args::q',
            'input("angle", &Args::angle',
            'output("y", &Args::y, Like{"q"}',
            "double scale = 1e-06;",
            "bool interleaved = false;",
            "TODO(you): mode (std::string)",
        ):
            assert part in text
        assert "stream;" not in text

    def test_an_inout_becomes_an_input_and_an_output(self, files, tmp_path):
        text = files.migration.read_text()
        files.migration.write_text(text.replace('role = "input"', 'role = "inout"', 1))
        make(files, tmp_path / "out")
        header = (tmp_path / "out" / OP / "contract.h").read_text()
        assert 'input("q"' in header and 'output("q_out"' in header
        assert "may be exactly q" in header

    def test_rows_are_told_where_they_are_checked_and_tested(self, made):
        _, out = made
        contract = (out / OP / "contract.cc").read_text()
        tests = (out / "tests/unit/ops/turn_rows_contract_test.cc").read_text()
        rows = json.loads((out / OP / "provenance.json").read_text())["rows"]
        assert [row["id"] for row in rows] == [
            "q_dtype_1",
            "architecture_1",
            "q_alignment_1",
            "q_shape_1",
        ]
        for row in rows:
            name = "".join(part.capitalize() for part in row["id"].split("_"))
            assert row["id"] in contract and f"TurnRowsContract, {name})" in tests
        assert rows[2]["places"] == ["csrc/turn.cu:40", "csrc/turn.cu:12"]
        assert [row["hidden"] for row in rows] == [False, False, True, True]

    def test_provenance(self, made):
        data = json.loads((made[1] / OP / "provenance.json").read_text())
        assert [one["path"] for one in data["files"]] == ["csrc/turn.cu", "csrc/turn.h"]
        assert all(re.fullmatch(r"[0-9a-f]{64}", one["sha256"]) for one in data["files"])
        assert data["licence"] == "MIT" and data["use"] == "re-expressed"
        header = (made[1] / OP / "contract.h").read_text()
        told = " ".join(re.sub(r"^// ?", "", header, flags=re.M).split())
        assert "Re-expressed from https://example.org/turn at 0123456789abcdef" in told

    def test_variants_in_order_of_preference(self, made):
        listed = (made[1] / OP / "variants.inc").read_text().splitlines()[1:]
        assert listed == [
            "EK_OP(turn_rows)",
            "EK_VARIANT(turn_rows, sm90, ported, 1)",
            "EK_VARIANT(turn_rows, smxx, ported, 1)",
            "EK_VARIANT(turn_rows, cpu, ported, 1)",
        ]
        assert (made[1] / OP / "sm90/ported_v1.cu").is_file()
        assert not (made[1] / OP / "cpu/ported_v1.cu").exists()

    def test_found_tests_become_cases(self, made):
        cases = (made[1] / OP / "cases.inc").read_text()
        assert 'EK_CASE(turn_1, 0, "rows=1 head=64 dtype=bf16")' in cases
        assert "tests/test_turn.py::test_turn_odd" in cases  # whose sizes cannot be read off

    def test_lists_of_a_tree_get_one_line(self, files, tmp_path):
        out = tmp_path / "tree"
        (out / "ops").mkdir(parents=True)
        lines = '#include "ops/norm/a/variants.inc"\n#include "ops/softmax/b/variants.inc"\n'
        (out / "ops/variants.inc").write_text(lines)
        make(files, out)
        got = (out / "ops/variants.inc").read_text().splitlines()
        assert got[1] == f'#include "{OP}/variants.inc"' and len(got) == 3
        make(files, out, force=True)
        assert len((out / "ops/variants.inc").read_text().splitlines()) == 3


class TestTestsFailUntilFilled:
    def test_python(self, made):
        _, out = made
        for name in ("test_import_safety", "test_smoke", "test_module", "test_round_trip"):
            assert name in (out / "tests/python/test_turn_rows.py").read_text()
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [*command, "tests/python/test_turn_rows.py"],
            cwd=out,
            env={**os.environ, "PYTHONPATH": str(SOURCE / "python")},
            capture_output=True,
            text=True,
        )
        assert "4 failed" in done.stdout and "passed" not in done.stdout
        assert "no einkorn.ops.turn_rows" in done.stdout
        assert "not filled: smoke: call einkorn.ops.turn_rows once" in done.stdout

    def test_state_keys_are_translated_both_ways(self, made):
        names: dict = {}
        exec((made[1] / OP / "state_keys.py").read_text(), names)
        ours = names["to_ours"]({"rotary.inv_freq": 1})
        assert ours == {"angle": 1} and names["to_theirs"](ours) == {"rotary.inv_freq": 1}
        with pytest.raises(KeyError, match=r"unknown keys \['x'\], missing"):
            names["to_ours"]({"x": 1})

    def test_no_adapter_without_keys(self, tmp_path):
        files = migration_support.files(tmp_path, state_keys="[]")
        make(files, tmp_path / "out")
        assert not (tmp_path / "out" / OP / "state_keys.py").exists()
        text = (tmp_path / "out/tests/python/test_turn_rows.py").read_text()
        assert "not filled: round trip" in text

    def test_a_survey_without_requirements_says_so(self, files, tmp_path):
        data = json.loads(files.survey.read_text())
        data["contracts"] = data["hidden"] = []
        files.survey.write_text(json.dumps(data))
        make(files, tmp_path / "out")
        text = (tmp_path / "out/tests/unit/ops/turn_rows_contract_test.cc").read_text()
        assert "not filled: boundary: the survey found no requirement" in text


@pytest.mark.parametrize(
    "file",
    [
        f"{OP}/contract.cc",
        f"{OP}/sm90/ported_v1.cc",
        "tests/unit/ops/turn_rows_contract_test.cc",
    ],
)
def test_it_builds(made, file):
    command = [
        os.environ.get("EINKORN_CXX", "c++"),
        "-std=c++20",
        "-fsyntax-only",
        "-Wall",
        "-Wextra",
        "-Werror",
    ]
    command += ["-I.", f"-I{SOURCE}/include", f"-I{SOURCE}", f"-isystem{SOURCE}/.deps/include"]
    done = subprocess.run([*command, file], cwd=made[1], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]


class TestRefusals:
    def test_unanswered(self, files, tmp_path):
        text = files.migration.read_text()
        files.migration.write_text(text.replace('op = "turn_rows"', 'op = "unanswered"'))
        with pytest.raises(PortError, match=r"1 unanswered: names\.op"):
            make(files, tmp_path / "out")
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (None, "No such file"),
            ("{", "expected JSON"),
            ("[]", "an object with an entry"),
            ('{"entry": 1}', "an object with an entry"),
            ('{"entry": "f", "version": 99}', r"expected version 1 in .*, got 99"),
            ('{"entry": "f"}', "expected all fields of a survey"),
            (
                '{"entry": "f", "repository": {}, "registrations": [{"a": 1}]}',
                "expected all fields",
            ),
        ],
    )
    def test_surveys_that_are_none(self, files, tmp_path, content, message):
        files.survey.unlink()
        if content is not None:
            files.survey.write_text(content)
        with pytest.raises(PortError, match=message):
            make(files, tmp_path / "out")

    def test_another_survey(self, files, tmp_path):
        text = files.migration.read_text()
        files.migration.write_text(text.replace('entry = "turn_rows"', 'entry = "spin"'))
        with pytest.raises(PortError, match="expected the survey's, 'turn_rows', got 'spin'"):
            make(files, tmp_path / "out")

    def test_files_that_are_there(self, made, files):
        _, out = made
        (out / OP / "contract.h").write_text("mine")
        with pytest.raises(PortError, match=r"contract\.h(.|\n)*--force"):
            make(files, out)
        assert (out / OP / "contract.h").read_text() == "mine"
        make(files, out, force=True)
        assert "struct TurnRows" in (out / OP / "contract.h").read_text()

    def test_other_files_in_the_folder_count_too(self, files, tmp_path):
        (tmp_path / "out" / OP).mkdir(parents=True)
        (tmp_path / "out" / OP / "notes.txt").write_text("mine")
        with pytest.raises(PortError, match=r"notes\.txt"):
            make(files, tmp_path / "out")

    def test_a_link_that_leads_outside(self, files, tmp_path):
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "out").mkdir()
        (tmp_path / "out/ops").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(PortError, match="a link outside it"):
            make(files, tmp_path / "out", force=True)
        assert not list((tmp_path / "elsewhere").iterdir())

    def test_a_file_as_folder(self, files, tmp_path):
        (tmp_path / "out").write_text("")
        with pytest.raises(PortError, match="expected a folder"):
            make(files, tmp_path / "out")

    def test_dry_run_writes_nothing(self, files, tmp_path):
        assert make(files, tmp_path / "out", dry_run=True).files
        assert not (tmp_path / "out").exists()

    def test_hashes_have_to_be_known(self, files, tmp_path):
        with pytest.raises(PortError, match=r"csrc/turn\.cu: expected a sha256(.|\n)*--upstream"):
            scaffold(files.survey, files.migration, tmp_path / "out")
        (files.upstream / "csrc/turn.h").unlink()
        with pytest.raises(PortError, match=r"csrc/turn\.h: expected it in .*No such file"):
            make(files, tmp_path / "out")

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ('role = "output"', 'role = "dropped"', "at least one input and one output"),
            ('to = "y"', 'to = "q"', "expected different names, got q twice"),
            ('to = "y"', 'to = "Y"', "expected a snake_case word"),
            ('from = "out"', 'from = "nothing"', "expected arguments, got nothing"),
        ],
    )
    def test_answers_that_make_no_op(self, files, tmp_path, old, new, message):
        text = files.migration.read_text()
        assert old in text
        files.migration.write_text(text.replace(old, new, 1))
        with pytest.raises(PortError, match=message):
            make(files, tmp_path / "out")

    def test_an_arch_that_the_tree_does_not_have(self, files, tmp_path):
        out = tmp_path / "out"
        (out / "ops").mkdir(parents=True)
        (out / "ops/arches.inc").write_text('EK_ARCH(cpu, kCpu, 0, 0, "")\n')
        with pytest.raises(PortError, match="expected one of cpu, got sm90"):
            make(files, out)

    def test_a_name_that_is_taken(self, files, tmp_path):
        (tmp_path / "out/ops/norm/turn_rows").mkdir(parents=True)
        with pytest.raises(PortError, match="that of ops/norm/turn_rows"):
            make(files, tmp_path / "out")
