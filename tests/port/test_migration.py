"""migration.toml: what is asked, what is filled in, and what a file with answers may look like."""

import tomllib

import migration_support
import pytest
from einkorn.port.errors import PortError
from einkorn.port.migration import answers as migration
from einkorn.port.migration.questions import UNANSWERED, role_of
from einkorn.port.model import Argument, Contract, Survey


@pytest.fixture
def path(tmp_path):
    target = tmp_path / "migration.toml"
    migration.write(migration_support.survey(), target)
    return target


def edited(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path


class TestWrite:
    def test_facts_are_filled_in_and_decisions_are_not(self, path):
        data = tomllib.loads(path.read_text())
        assert data["closure"]["files"] == ["csrc/turn.cu", "csrc/turn.h"]
        tests = ["tests/test_turn.py::test_turn", "tests/test_turn.py::test_turn_odd"]
        assert data["proof"]["tests"] == tests
        assert data["licence"]["spdx"] == "MIT"  # the only one that was found
        decisions = ("essential", "rounding", "quirks", "state")
        assert [data["behaviour"][name] for name in decisions] == [UNANSWERED] * 4
        assert set(data["names"].values()) == {UNANSWERED}

    def test_roles_are_filled_in_where_the_type_leaves_no_other(self, path):
        roles = {one["source"]: one["role"] for one in tomllib.loads(path.read_text())["argument"]}
        assert roles["scale"] == roles["interleaved"] == "scalar"
        assert roles["angle"] == "input" and roles["stream"] == "dropped"
        assert roles["q"] == roles["out"] == UNANSWERED

    def test_facts_stand_beside_the_questions(self, path):
        text = path.read_text()
        assert '# found: environment: getenv("TURN_SLOW") (csrc/turn.cu:9)' in text
        assert "# found: the original has code for: __CUDA_ARCH__ >= 800" in text

    def test_answers_are_not_written_over(self, path):
        before = path.read_text()
        with pytest.raises(PortError, match=r"expected no such file yet(.|\n)*--force"):
            migration.write(Survey("other"), path)
        assert path.read_text() == before
        migration.write(Survey("other"), path, force=True)
        assert migration.read(path).entry == "other"

    def test_any_text_of_a_survey_gives_toml(self, tmp_path):
        odd = 'a"b\\c\n\x00\x1b\x7f\ud800 ü'
        survey = migration_support.survey()
        survey.entry = odd
        survey.contracts = [Contract("x", "dtype", odd, odd, 1, "public")]
        survey.arguments = [Argument("x", odd)]
        migration.write(survey, tmp_path / "odd.toml")
        data = tomllib.loads((tmp_path / "odd.toml").read_text())
        assert data["entry"].startswith('a"b\\c\n') and data["argument"][0]["source"] == "x"

    def test_arguments_come_from_contracts_where_none_are_known(self):
        survey = migration_support.survey()
        survey.arguments = []
        assert 'source = "q"' in migration.to_text(survey)

    def test_an_empty_survey_answers_nothing_but_what_it_has(self, tmp_path):
        migration.write(Survey("f"), tmp_path / "m.toml")
        found = migration.read(tmp_path / "m.toml")
        answered = {name for name, one in found.answers.items() if one != UNANSWERED}
        assert answered == {"behaviour.state"}  # none found, and no gap in the looking


class TestRead:
    def test_each_unanswered_question_is_named(self, path):
        with pytest.raises(PortError) as caught:
            migration.require_answered(migration.read(path))
        text = str(caught.value)
        for name in ("behaviour.essential", "names.op", "support.dtypes", "argument.q"):
            assert name in text
        assert "closure.files" not in text and "argument.scale" not in text

    def test_answers_come_back(self, tmp_path):
        found = migration.read(migration_support.files(tmp_path).migration)
        migration.require_answered(found)
        assert found.text("names.op") == "turn_rows"
        assert found.texts("support.arches") == ["sm90", "cpu", "smxx"]
        assert found.pairs("names.renamed") == {"out": "y"}

    @pytest.mark.parametrize(
        "nothing", ['""', '["unanswered"]', '[{from = "a", to = "unanswered"}]']
    )
    def test_what_says_nothing_is_no_answer(self, path, nothing):
        key = "renamed" if "from" in nothing else "quirks" if "[" in nothing else "essential"
        edited(path, f'{key} = "unanswered"', f"{key} = {nothing}")
        assert any(one.endswith(f".{key}") for one in migration.unanswered(migration.read(path)))

    def test_a_question_that_was_taken_out_is_unanswered(self, path):
        edited(path, 'essential = "unanswered"\n', "")
        assert "behaviour.essential" in migration.unanswered(migration.read(path))

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("version = 1", "version = 2", r"expected version = 1"),
            ("version = 1\n", "", r"expected version = 1"),
            ('entry = "turn_rows"', "entry = 3", r"entry: expected a text"),
            ('op = "unanswered"', 'op = "TurnRows"', r"names\.op: expected a snake_case word"),
            ('op = "unanswered"', 'op = "../x"', r"names\.op: expected a snake_case word"),
            ('quirks = "unanswered"', 'quirks = "none"', r"quirks: expected a list of texts"),
            ('quirks = "unanswered"', "quirks = [1]", r"quirks: expected a list of texts"),
            ('use = "unanswered"', 'use = "stolen"', r"use: expected one of re-expressed, copied"),
            ('dtypes = "unanswered"', 'dtypes = ["half"]', r"dtypes: expected one of .*got half"),
            ('arches = "unanswered"', 'arches = ["../sm90"]', r"arches: expected an arch"),
            ('renamed = "unanswered"', 'renamed = [{from = "a"}]', r"renamed: expected a list of"),
            ('role = "unanswered"', 'role = "both"', r"role of q: expected one of input"),
            ('source = "angle"', 'source = "q"', r"expected a name once, got q twice"),
            ('source = "q"', 'source = "q[0]"', r"expected a name, got 'q\[0\]'"),
            ("[proof]", "[prof]", r"expected questions that are asked, got prof\."),
            ("[proof]", "[proof", r"expected TOML in"),
        ],
    )
    def test_other_forms_are_refused_by_name(self, path, old, new, message):
        with pytest.raises(PortError, match=message):
            migration.read(edited(path, old, new))

    def test_missing_and_unreadable_files(self, tmp_path):
        with pytest.raises(PortError, match="No such file"):
            migration.read(tmp_path / "none.toml")
        (tmp_path / "latin.toml").write_bytes(b"entry = '\xe4'")
        with pytest.raises(PortError, match="expected TOML"):
            migration.read(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("float", "scalar"),
        ("const int64_t", "scalar"),
        ("std::optional<double>", "scalar"),
        ("int | None", "scalar"),
        ("const __nv_bfloat16 *", "input"),
        ("const void* __restrict__", "input"),
        ("cudaStream_t", "dropped"),
        ("float *", UNANSWERED),
        ("const torch::Tensor &", UNANSWERED),  # const of a handle says nothing of its elements
        ("torch.Tensor", UNANSWERED),
        ("", UNANSWERED),
    ],
)
def test_role_of(kind, role):
    assert role_of(Argument("x", kind)) == role
