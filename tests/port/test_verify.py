"""What verify finds: nothing of a tree in order, and each thing that is taken out of it."""

import json
import subprocess
import sys

import migration_support
import pytest
import verify_trees
from einkorn.port.errors import PortError
from einkorn.port.scaffold.files import scaffold
from einkorn.port.verify.claims import claims_of, value_of, values_in
from einkorn.port.verify.lint import verify


@pytest.fixture
def tree(tmp_path):
    return verify_trees.make(tmp_path / "tree")


def edit(tree, path, old, new=""):
    text = (tree / path).read_text()
    assert old in text
    (tree / path).write_text(text.replace(old, new))


def messages(tree, rule=None, **options):
    found = verify(tree, **options).findings
    return [one.message for one in found if rule in (None, one.rule)]


def test_nothing_is_missing(tree):
    report = verify(tree)
    assert report.text().splitlines()[-1] == "no findings", report.text()
    assert report.ok and report.ops[0].rows == report.ops[0].tested == len(verify_trees.ERRORS)
    assert "module -" in report.text()


class TestContract:
    @pytest.mark.parametrize("title", sorted(verify_trees.ERRORS))
    def test_each_row_without_its_test(self, tree, title):
        line = verify_trees.ERRORS[title]
        edit(tree, "tests/golden/errors/scale_match.txt", line, "TypeError: scale: other")
        assert len(messages(tree, "contract")) == 1

    def test_the_place_is_that_of_the_check(self, tree):
        edit(tree, "tests/golden/errors/scale_match.txt", "expected a finite number", "x")
        (finding,) = verify(tree).findings
        assert finding.file == "ops/toy/scale/contract.cc"
        assert "EK_CHECK(" in verify_trees.SOURCE.splitlines()[finding.line - 1]

    def test_a_golden_file_that_no_test_reads_shows_nothing(self, tree):
        edit(tree, "tests/unit/ops/scale_contract_test.cc", "errors/scale_match.txt", "other")
        assert len(messages(tree, "contract")) == len(verify_trees.ERRORS)

    def test_a_golden_file_named_by_its_topic(self, tree):
        edit(tree, "tests/unit/ops/scale_contract_test.cc", "errors/scale_match.txt", "match")
        assert messages(tree) == []

    def test_texts_of_tests_count(self, tree):
        edit(
            tree, "tests/golden/errors/scale_match.txt", "scale: n: expected", "scale: m: expected"
        )
        edit(
            tree,
            "tests/python/test_scale.py",
            "def test_call():\n",
            "def test_call():\n    raises('scale: n: expected a positive number')\n",
        )
        assert messages(tree) == []

    def test_a_contract_that_checks_nothing(self, tree):
        path = tree / "ops/toy/scale/contract.cc"
        path.write_text("constexpr OpDef definition = make_op<Scale>();\n")
        assert "it checks nothing" in messages(tree, "contract")

    def test_recursion_ends(self, tree):
        edit(
            tree,
            "ops/toy/checks.cc",
            "  EK_CHECK(value",
            '  check_key(op, "a", 1);\n  check_key(op, key, 2);\n  EK_CHECK(value',
        )
        assert messages(tree) == []


class TestRegistry:
    @pytest.mark.parametrize(
        ("path", "old", "new", "message"),
        [
            ("ops/variants.inc", "scale", "other", "does not include ops/toy/scale/variants.inc"),
            ("ops/toy/scale/variants.inc", "EK_OP(scale)", "", "not listed"),
            ("ops/toy/scale/contract.cc", "make_op<Scale>", "make<Scale>", "no implementation"),
            ("ops/toy/scale/reference.cc", "Scale::", "Other::", "no reference"),
            ("ops/toy/scale/contract.h", 'kName = "scale"', 'kName = "scales"', "no struct has"),
            ("python/einkorn/ops.py", "def scale(", "def scales(", "no explicit function scale"),
            ("python/einkorn/ops.py", "variant=None", "**more", "hidden behind"),
            ("python/einkorn/ops.py", "factor=1.0,", "", "it has no argument factor"),
            ("python/einkorn/ops.py", "out=None, ", "", "it has no argument y"),
            ("python/einkorn/ops.py", '["scale"]', "[]", "it is not in __all__"),
            ("python/einkorn/ops.py", '    """y = factor * x"""', "    ...", "not documented"),
            ("python/einkorn/torch/_kernels/scale.py", "Tensor(a!) y", "Tensor y", "y is written"),
            ("python/einkorn/torch/_kernels/scale.py", "(Tensor x", "(Tensor(b!) x", "not written"),
            (
                "python/einkorn/torch/_kernels/scale.py",
                "def _scale(",
                "def f(",
                "no implementation",
            ),
            ("python/einkorn/torch/_kernels/scale.py", "Tensor? bias=None, ", "", "has no bias"),
            ("python/einkorn/torch/_kernels/scale.py", "Form(", "Farm(", "no schema"),
            ("python/einkorn/torch/_fakes.py", "def _fake_scale(", "def g(", "fake _fake_scale"),
            ("python/einkorn/_dispatch.py", "import sys", "import numpy", "imports numpy"),
        ],
    )
    def test_each_part_is_missed(self, tree, path, old, new, message):
        edit(tree, path, old, new)
        assert any(message in one for one in messages(tree, "registry"))

    def test_an_output_that_only_the_caller_makes(self, tree):
        given = 'given_output("y", &Args::y, "like x")'
        edit(tree, "ops/toy/scale/contract.h", 'output("y", &Args::y, Like{"x"}, "like x")', given)
        assert messages(tree) == []
        edit(tree, "python/einkorn/torch/_kernels/scale.py", "Tensor(a!) y", "Tensor y")
        assert any("y is written" in one for one in messages(tree, "registry"))

    def test_one_file_of_kernels_serves_as_well(self, tree):
        (tree / "python/einkorn/torch/_kernels/scale.py").rename(
            tree / "python/einkorn/torch/_kernels.py"
        )
        assert messages(tree) == []

    def test_imports_for_type_checkers_and_in_functions_are_none(self, tree):
        edit(
            tree,
            "python/einkorn/_dispatch.py",
            "import sys\n",
            "import sys\nif TYPE_CHECKING:\n    import torch\n",
        )
        assert messages(tree) == []


class TestLayers:
    @pytest.mark.parametrize(
        ("path", "old", "layers"),
        [
            ("tests/python/test_scale.py", "subprocess.run", {"import safety"}),
            ("tests/python/test_scale.py", "assert ops.scale", {"smoke"}),
            ("tests/unit/ops/scale_contract_test.cc", "Scale::reference(args)", {"correctness"}),
            ("tests/unit/ops/scale_contract_test.cc", "Scale::parse(", {"round trip"}),
        ],
    )
    def test_each_layer(self, tree, path, old, layers):
        edit(tree, path, old, "nothing")
        got = {one.removeprefix("no test of ") for one in messages(tree, "layers")}
        assert got == layers

    def test_a_module_has_to_be_tested_with_its_state(self, tree):
        (tree / "python/einkorn/torch/nn.py").write_text(
            "class Scale(Module):\n    def forward(self, x):\n        return ops.scale(x)\n"
        )
        got = {one.removeprefix("no test of ") for one in messages(tree, "layers")}
        assert got == {"module", "round trip"}
        test = tree / "tests/python/test_nn.py"
        test.write_text("def test_copies():\n    Scale().load_state_dict(Scale().state_dict())\n")
        assert messages(tree) == []

    def test_python_that_does_not_parse_is_no_test(self, tree):
        (tree / "tests/python/test_scale.py").write_text("def test_call(:\n    ops.scale(\n")
        assert len(messages(tree, "layers")) == 2


class TestClaims:
    @pytest.mark.parametrize(
        ("path", "old", "claim"),
        [
            ("tests/unit/ops/scale_contract_test.cc", "<< 40", "2^40"),
            ("tests/unit/ops/scale_contract_test.cc", "384", "384"),
            ("tests/unit/ops/scale_contract_test.cc", "kBF16", "bf16"),
        ],
    )
    def test_what_nothing_shows(self, tree, path, old, claim):
        edit(tree, path, old, "0")
        assert messages(tree) == [f"neither a test nor a result shows {claim}"]
        assert verify(tree).findings[0].line == 5

    def test_results_show_numbers(self, tree):
        edit(tree, "tests/unit/ops/scale_contract_test.cc", "384", "0")
        (tree / "bench/results").mkdir(parents=True)
        (tree / "bench/results/2026-scale_bwd-h100.json").write_text('{"us": 384}')
        assert len(messages(tree)) == 1
        (tree / "bench/results/2026-scale-h100.json").write_text('{"us": 384}')
        assert messages(tree) == []

    def test_what_is_a_claim(self):
        text = (
            "# rows 7\n\n    y = 5 * x\n\nTakes [3, 4], at most 16,384 or −88; PyTorch 2.15.\n"
            "Source: Foo 2019, eq. 33.\n<!-- variants -->\n| 77 |\n<!-- /variants -->\n"
            "```\n9\n```\n- 1.67 times `x2y` and f32, sm_90, v3\n"
        )
        assert [(one.line, one.text) for one in claims_of(text)] == [
            (5, "16,384"),
            (5, "−88"),
            (13, "1.67"),
            (13, "f32"),
        ]

    def test_numbers(self):
        assert value_of("2^-120") == 2.0**-120 and value_of("−1,024") == -1024
        found = values_in("1 << 40, 0x1p-7, std::int64_t{1} << 20, 2^56, 262'144, 1e-6, -88.5")
        assert {2.0**40, 2.0**-7, 2.0**20, 2.0**56, 262144, 1e-6, -88.5} <= found


class TestPorted:
    """An op as scaffold leaves it."""

    @pytest.fixture
    def made(self, tree, tmp_path):
        files = migration_support.files(tmp_path)
        scaffold(files.survey, files.migration, tree, upstream=files.upstream)
        return tree, files.upstream

    def test_everything_is_still_to_be_done(self, made):
        found = messages(made[0], ops=["turn_rows"])
        assert "no explicit function turn_rows" in found
        for layer in ("smoke", "correctness", "boundary"):
            assert f"no test of {layer}" in found
        unfilled = [one for one in found if one.startswith("its test is not filled in")]
        assert len(unfilled) == 4
        assert "q_alignment_1 ((uintptr_t)q % 16 == 0)" in "".join(unfilled)

    def test_a_row_that_is_filled_in_is_done(self, made):
        path = made[0] / "tests/unit/ops/turn_rows_contract_test.cc"
        name, lines = "TEST(TurnRowsContract, QAlignment1)", path.read_text().splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith(name))
        lines[at + 1] = "  EXPECT_THROW(match(moved), Error);"
        path.write_text("\n".join(lines))
        left = "".join(messages(made[0], ops=["turn_rows"]))
        assert "q_alignment_1" not in left and "q_shape_1" in left

    def test_a_row_whose_test_was_taken_out(self, made):
        edit(made[0], "tests/unit/ops/turn_rows_contract_test.cc", "QShape1", "Other")
        assert any("no test is named QShape1" in one for one in messages(made[0]))

    def test_drift(self, made):
        assert not messages(made[0], "drift", upstream=made[1])
        (made[1] / "csrc/turn.cu").write_text("other")
        (finding,) = messages(made[0], "drift", upstream=made[1])
        assert finding.startswith("upstream csrc/turn.cu: changed")

    def test_drift_that_was_not_looked_for_is_said(self, made):
        assert verify(made[0]).notes == (
            "drift of turn_rows was not looked for: no upstream folder given",
        )

    def test_a_broken_record_is_no_silence(self, made):
        (made[0] / "ops/position/turn_rows/provenance.json").write_text("{}")
        with pytest.raises(PortError, match="expected version 1"):
            verify(made[0])


class TestRequests:
    def test_upstream_of_nothing_that_was_ported(self, tree, tmp_path):
        with pytest.raises(PortError, match=r"a provenance\.json in the folder of an op"):
            verify(tree, upstream=tmp_path)

    def test_unknown_op(self, tree):
        with pytest.raises(PortError, match=r"op: expected one of scale, got .*'scales'"):
            verify(tree, ["scales"])

    def test_no_tree(self, tmp_path):
        with pytest.raises(PortError, match="tree: expected a folder with ops/"):
            verify(tmp_path)
        (tmp_path / "ops").mkdir()
        with pytest.raises(PortError, match="op: expected"):
            verify(tmp_path)

    def test_files_that_are_not_utf_8(self, tree):
        with (tree / "ops/toy/scale/contract.cc").open("ab") as file:
            file.write(b"// \xe4\n")
        assert messages(tree) == []

    def test_status_and_json(self, tree):
        def run(*words):
            command = [sys.executable, "-m", "einkorn.port", "verify", "--root", str(tree), *words]
            return subprocess.run(command, capture_output=True, text=True)

        assert run().returncode == 0
        edit(tree, "ops/toy/scale/variants.inc", "EK_OP(scale)", "")
        done = run("--json")
        assert done.returncode == 1
        assert json.loads(done.stdout)["findings"][0]["rule"] == "registry"
        done = run("nothing")
        assert done.returncode == 2 and "expected one of scale" in done.stderr
