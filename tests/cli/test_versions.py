"""einkorn new, clone, devlog and bench --versions: what they write, and what they refuse."""

import json
import pathlib
import shutil
import subprocess

import pytest
from conftest import SOURCE

RMS = "ops/norm/rms_norm"
RESULTS = "bench/results"


def git(tree: pathlib.Path, *words: str) -> str:
    who = ["-c", "user.name=test", "-c", "user.email=test@example.com"]
    done = subprocess.run(
        ["git", *who, *words], cwd=tree, check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.fixture(scope="module")
def pristine(tmp_path_factory) -> pathlib.Path:
    """What the verbs look at, as a checkout without changes."""
    copy = tmp_path_factory.mktemp("pristine") / "tree"
    for folder in ("ops", "scripts", RESULTS, "docs/devlog", "docs/guide", "include/einkorn"):
        shutil.copytree(
            SOURCE / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    git(copy, "init", "-q")
    git(copy, "add", "-A")
    git(copy, "commit", "-q", "-m", "all")
    return copy


@pytest.fixture
def tree(pristine, tmp_path) -> pathlib.Path:
    copy = tmp_path / "tree"
    shutil.copytree(pristine, copy)
    return copy


def changes(tree: pathlib.Path) -> list[str]:
    return sorted(git(tree, "status", "--porcelain", "-uall").splitlines())


# Clone


def test_clone_writes_files_line_and_table(einkorn, tree):
    result = einkorn("clone", "rms_norm/smxx/rows_v1", cwd=tree / "ops")
    assert result.status == 0, result.err
    assert changes(tree) == [
        f" M {RMS}/README.md",
        f" M {RMS}/variants.inc",
        f"?? {RMS}/smxx/rows_v2.cc",
        f"?? {RMS}/smxx/rows_v2.cu",
    ]
    assert "made rms_norm/smxx/rows_v2" in result.out
    assert "its line stands behind that of smxx/rows_v1" in result.out
    lines = (tree / RMS / "variants.inc").read_text().splitlines()
    at = lines.index("EK_VARIANT(rms_norm, smxx, rows, 1)")
    assert lines[at + 1] == "EK_VARIANT(rms_norm, smxx, rows, 2)"
    assert "| `smxx/rows_v2` | cuda |" in (tree / RMS / "README.md").read_text()
    kernel = (tree / RMS / "smxx/rows_v2.cu").read_text()
    assert "// Changed since v1: nothing yet.\n" in kernel
    assert "// Best:" not in kernel.split("#include")[0]
    for name in ("rows_v2.cc", "rows_v2.cu"):
        text = (tree / RMS / "smxx" / name).read_text()
        assert "rows_v1" not in text
        assert "RowsV1" not in text


def test_dry_run_shows_the_difference_and_writes_nothing(einkorn, tree):
    result = einkorn("clone", "rms_norm/cpu/rows_v1", "v7", "--dry-run", "--tree", tree)
    assert result.status == 0, result.err
    assert changes(tree) == []
    diff = result.out.split("\nrms_norm/cpu/rows_v7 was not made")[0] + "\n"
    assert f"+++ b/{RMS}/cpu/rows_v7.cc" in diff
    # Git takes it, and gives what clone itself writes.
    (tree.parent / "clone.diff").write_text(diff)
    git(tree, "apply", str(tree.parent / "clone.diff"))
    applied = (tree / RMS / "cpu/rows_v7.cc").read_text()
    git(tree, "checkout", "-q", ".")
    git(tree, "clean", "-q", "-f", ".")
    assert einkorn("clone", "rms_norm/cpu/rows_v1", "7", "--tree", tree).status == 0
    assert (tree / RMS / "cpu/rows_v7.cc").read_text() == applied


def test_clone_json(einkorn, tree):
    document = einkorn("clone", "silu_mul/cpu/rows_v1", "--json", "--tree", tree).json()
    assert list(document) == ["made", "written", "files", "diff", "notes", "next"]
    assert document["made"] == "silu_mul/cpu/rows_v2"
    assert document["written"] is True
    assert document["diff"] is None
    assert document["files"] == [
        {"path": "ops/activation/silu_mul/cpu/rows_v2.cc", "new": True},
        {"path": "ops/activation/silu_mul/variants.inc", "new": False},
    ]


def test_clone_refuses_a_dirty_tree(einkorn, tree):
    (tree / RMS / "launch.h").write_text("// changed\n")
    refused = einkorn("clone", "rms_norm/cpu/rows_v1", "--tree", tree)
    assert refused.status == 1
    assert f"{RMS}/launch.h" in refused.err
    assert "--allow-dirty" in refused.err
    assert changes(tree) == [f" M {RMS}/launch.h"]
    assert einkorn("clone", "rms_norm/cpu/rows_v1", "--tree", tree, "--allow-dirty").status == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rms_norm/cpu/row_v1"], "did you mean 'rms_norm/cpu/rows_v1'?"),
        (["rms_norm/cpu/rows_v1", "v1"], "expected one newer than v1"),
        (["rms_norm/cpu/rows_v1", "second"], "expected v1, v2, ..., got 'second'"),
        (["rms_norm/cpu/reference_v1"], "variant: expected one of"),
    ],
)
def test_clone_refuses(einkorn, tree, words, message):
    result = einkorn("clone", *words, "--tree", tree)
    assert result.status == 2
    assert message in result.err
    assert changes(tree) == []


def test_clone_refuses_a_target_that_exists(einkorn, tree):
    (tree / RMS / "cpu/rows_v2.cc").write_text("// mine\n")
    result = einkorn("clone", "rms_norm/cpu/rows_v1", "--tree", tree, "--allow-dirty")
    assert result.status == 2
    assert f"{RMS}/cpu/rows_v2.cc: expected no such file" in result.err
    assert (tree / RMS / "cpu/rows_v2.cc").read_text() == "// mine\n"
    assert changes(tree) == [f"?? {RMS}/cpu/rows_v2.cc"]


def test_outside_of_a_tree(einkorn, tmp_path):
    result = einkorn("clone", "rms_norm/cpu/rows_v1", cwd=tmp_path)
    assert result.status == 2
    assert "name it with --tree" in result.err
    result = einkorn("new", "op", "a/b", "--tree", tmp_path)
    assert result.status == 2
    assert "expected the root of einkorn's sources" in result.err


# New


def test_new_op_and_variants(einkorn, tree):
    result = einkorn("new", "op", "norm/layer_norm", "--tree", tree)
    assert result.status == 0, result.err
    folder = tree / "ops/norm/layer_norm"
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["README.md", "cases.cc", "cases.inc", "contract.cc", "contract.h",
                     "reference.cc", "variants.inc"]  # fmt: skip
    for name in names:
        assert ("TODO(you)" in (folder / name).read_text()) == (name != "variants.inc")
    for name in ("layer_norm/cpu/blocks", "layer_norm/smxx/blocks"):
        made = einkorn("new", "variant", name, "--tree", tree, "--allow-dirty", "--json").json()
        assert made["made"] == f"{name}_v1"
    assert (folder / "smxx/blocks_v1.cu").exists()
    assert "| `smxx/blocks_v1` | cuda | not written yet |" in (folder / "README.md").read_text()


def test_new_refuses(einkorn, tree):
    for words, message in (
        (["op", "norm/rms_norm"], "that is not taken"),
        (["op", "norm/RmsNorm"], "expected a snake_case word"),
        (["variant", "rms_norm/cpu/rows"], "einkorn clone rms_norm/cpu/rows_v1"),
        (["variant", "rms_norm/sm75/rows"], "arch: expected one of"),
        (["variant", "rms_norms/cpu/new"], "did you mean 'rms_norm'?"),
    ):
        result = einkorn("new", *words, "--tree", tree)
        assert result.status == 2
        assert message in result.err
    assert changes(tree) == []


# Devlog


def result_file(device: str, *rows: tuple[str, float]) -> str:
    shared = {"problem": "rows=8 cols=64", "tiling": "stream=false", "q1_us": 1, "q3_us": 2,
              "samples": 11, "gbps": 10.5, "tflops": 0.25, "roof": "memory",
              "percent_of_roof": 50, "copy_us": 4, "percent_of_copy": 70}  # fmt: skip
    results = [{"variant": variant, "median_us": us, **shared} for variant, us in rows]
    head = {"op": "rms_norm", "device": device, "driver": "", "versions": {}, "commit": "abc",
            "date": "2026-12-01T10:00:00Z"}  # fmt: skip
    return json.dumps({**head, "results": results})


def with_second_version(einkorn, tree) -> None:
    assert einkorn("clone", "rms_norm/cpu/rows_v1", "--tree", tree).status == 0
    source = tree / RMS / "cpu/rows_v2.cc"
    text = source.read_text().replace("since v1: nothing yet.", "since v1: unrolled\n// twice.")
    source.write_text(text)


def test_devlog_of_a_second_version(einkorn, tree):
    with_second_version(einkorn, tree)
    measured = [("rms_norm/cpu/rows_v1", 20), ("rms_norm/cpu/rows_v2", 15)]
    (tree / RESULTS / "new.json").write_text(result_file("Some CPU", *measured))
    # A version that nothing measured here is in no other result file.
    words = ["devlog", "rms_norm/cpu/rows_v2", "--tree", tree]
    text = einkorn(*words).out
    assert text.startswith("# rms_norm: cpu/rows_v2\n\n2026-12-01, Some CPU, commit abc.\n")
    assert f"`{RESULTS}/new.json`" in text
    assert "Since rms_norm/cpu/rows_v1: unrolled twice." in text
    assert "| 15.00 | 1.00-2.00 | 0.250 | 10.5 | 50.0 % memory | 70.0 % | 20.00 | -25.0 % |" in text
    document = einkorn(*words, "--json").json()
    assert list(document) == [
        "variant", "previous", "device", "files", "rows", "text", "path", "frozen",
    ]  # fmt: skip
    assert document["text"] == text
    assert document["rows"][0]["previous_us"] == 20
    assert document["path"] is None

    written = einkorn(*words, "--write")
    assert written.status == 0, written.err
    path = tree / "docs/devlog/20261201-rms_norm-rows_v2.md"
    assert path.read_text() == text
    lock = json.loads((tree / "ops/frozen.json").read_text())
    assert list(lock["rms_norm/cpu/rows_v2"]) == ["rows_v2.cc"]
    again = einkorn(*words, "--write")
    assert again.status == 2
    assert "expected no such file" in again.err


def test_devlog_refuses_two_devices(einkorn, tree):
    for name, device in (("one", "Some CPU"), ("two", "Other CPU")):
        text = result_file(device, ("rms_norm/cpu/rows_v1", 20))
        (tree / f"{name}.json").write_text(text)
    words = ["--results", tree / "one.json", "--results", tree / "two.json", "--tree", tree]
    result = einkorn("devlog", "rms_norm/cpu/rows_v1", *words)
    assert result.status == 2
    assert "numbers of different devices are not compared" in result.err


def test_devlog_without_a_measurement_says_how_to_make_one(einkorn, tree):
    assert einkorn("clone", "rms_norm/cpu/rows_v1", "--tree", tree).status == 0
    result = einkorn("devlog", "rms_norm/cpu/rows_v2", "--tree", tree)
    assert result.status == 2
    assert "einkorn bench rms_norm --versions --output bench/results/" in result.err


def test_devlog_of_a_broken_result_file(einkorn, tree):
    (tree / RESULTS / "broken.json").write_text("{")
    result = einkorn("devlog", "rms_norm/cpu/rows_v1", "--tree", tree)
    assert result.status == 2
    assert f"{RESULTS}/broken.json: expected a result file" in result.err


def test_devlog_of_what_is_measured_in_this_tree(einkorn):
    paths = sorted((SOURCE / RESULTS).glob("*rms_norm*h100.json"))
    words = [word for path in paths for word in ("--results", path)]
    document = einkorn("devlog", "rms_norm/smxx/rows_v1", *words, "--tree", SOURCE, "--json").json()
    assert document["previous"] is None
    newest = {}
    for path in paths:
        for row in json.loads(path.read_text())["results"]:
            if row["variant"] == document["variant"]:
                newest[row["problem"]] = row["median_us"]
    assert {row["problem"]: row["median_us"] for row in document["rows"]} == newest


# The ladder


def test_bench_versions(einkorn):
    words = ["bench", "rms_norm", "rows=16", "cols=64", "--device", "cpu", "--seconds", "0.01"]
    document = einkorn(*words, "--versions", "--json").json()
    assert [list(rung) for rung in document["ladder"]] == [
        ["variant", "case", "median_us", "previous", "previous_us", "change_percent"]
    ] * len(document["ladder"])
    assert document["ladder"][0]["variant"] == "rms_norm/cpu/rows_v1"
    assert document["ladder"][0]["previous"] is None
    text = einkorn(*words, "--versions").out
    assert "against the version before" in text
    assert "first" in text
