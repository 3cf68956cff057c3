"""einkorn tune on the CPU: races, the trial store, resuming, files, bad input."""

import csv
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
from conftest import BIN, NO_GPU, clean_environment

SMALL = ["rows=64", "cols=1024", "dtype=f32"]
RESULT_KEYS = [
    "variant", "case", "problem", "search", "planned", "tried", "reused", "failed",
    "estimated_seconds", "seconds", "stopped", "best", "default", "gain_percent", "candidates",
    "trials",
]  # fmt: skip
TRIAL_KEYS = [
    "schema", "op", "variant", "problem", "tiling", "device", "cc", "sm_count", "driver",
    "compiler", "source", "mode", "l2", "status", "reason", "median_us", "q1_us", "q3_us",
    "samples", "predicted_us", "resources", "sm_mhz", "throttle", "date", "version", "commit",
]  # fmt: skip


@pytest.fixture
def tune(einkorn, tmp_path):
    """Runs `tune` on the CPU with a trial store of the test's own."""

    def run(*arguments: str, verb: str = "tune", **extra: str):
        where = {"EINKORN_TRIALS": str(tmp_path / "trials"), **NO_GPU, **extra}
        return einkorn(verb, *arguments, **where)

    return run


def only(path):
    files = list(path.glob("v1/*/*.jsonl"))
    assert len(files) == 1
    return files[0]


def test_best_is_found_and_used(tune, tmp_path):
    assert "(default; 2 candidates)" in tune("rms_norm", *SMALL, verb="explain").out
    result = tune("rms_norm", *SMALL, "--device", "cpu", "--json")
    assert result.status == 0, result.err
    got = result.json()
    assert list(got) == ["op", "device", "driver", "commit", "date", "dry_run", "results"]
    row = got["results"][0]
    assert list(row) == RESULT_KEYS
    assert row["variant"] == "rms_norm/cpu/rows_v1"
    assert (row["planned"], row["tried"], row["reused"], row["failed"]) == (2, 2, 0, 0)
    assert row["best"]["median_us"] <= row["default"]["median_us"] * 1.05
    assert row["stopped"] is None
    assert row["estimated_seconds"] > 0
    lines = only(tmp_path / "trials").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2
    for line, trial in zip(lines, row["trials"], strict=True):
        assert list(json.loads(line)) == TRIAL_KEYS
        assert trial == {**json.loads(line), "reused": False}
        assert trial["status"] == "ok"
        assert 0 < trial["q1_us"] <= trial["median_us"] <= trial["q3_us"]

    explained = tune("rms_norm", *SMALL, "--json", verb="explain").json()
    assert explained["quality"] == "exact"
    assert explained["tiling"] == row["best"]["tiling"]
    near = ["rows=128", *SMALL[1:]]
    assert tune("rms_norm", *near, "--json", verb="explain").json()["quality"] == "nearest"
    far = ["rows=1024", *SMALL[1:]]
    assert tune("rms_norm", *far, "--json", verb="explain").json()["quality"] == "default"
    off = tune("rms_norm", *SMALL, "--json", verb="explain", EINKORN_TRIALS="off")
    assert off.json()["quality"] == "default"


def test_known_trials_are_reused(tune, tmp_path):
    assert tune("rms_norm", *SMALL).status == 0
    again = tune("rms_norm", *SMALL, "--json").json()["results"][0]
    assert (again["tried"], again["reused"]) == (0, 2)
    # One candidate's trial is gone: it alone is measured again, and the best beside it.
    file = only(tmp_path / "trials")
    lines = file.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if json.loads(line)["tiling"] == again["best"]["tiling"]]
    file.write_text(kept[0] + "\n" + '{"schema":1,"op', encoding="utf-8")
    more = tune("rms_norm", *SMALL, "--json").json()["results"][0]
    assert more["tried"] == 1
    fresh = tune("rms_norm", *SMALL, "--fresh", "--json").json()["results"][0]
    assert (fresh["tried"], fresh["reused"]) == (2, 0)


def test_for_people(tune):
    result = tune("rms_norm", *SMALL)
    assert result.status == 0, result.err
    assert "default" in result.out and "best" in result.out and "2 of 2" in result.out


def test_dry_run_measures_nothing(tune, tmp_path):
    result = tune("rms_norm", *SMALL, "--dry-run")
    assert result.status == 0, result.err
    assert "exhaustive search: 2 of 2 candidates, about " in result.out
    assert not (tmp_path / "trials").exists()
    there = tune("rms_norm/sm90/bulk_v1", "rows=16384", "--device", "h100", "--dry-run", "--json")
    row = there.json()["results"][0]
    assert row["search"] == "model"
    assert row["planned"] <= max(5, len(row["candidates"]) // 5)
    assert row["best"] is None and row["trials"] == []


def test_budgets(tune):
    row = tune("rms_norm", *SMALL, "--budget-trials", "1", "--json").json()["results"][0]
    assert (row["planned"], row["tried"]) == (1, 1)
    assert row["best"]["tiling"] == row["candidates"][0]["tiling"]
    start = time.monotonic()
    result = tune("silu_mul", "--budget-seconds", "0.001", "--json")
    assert time.monotonic() - start < 60
    assert result.json()["results"][0]["stopped"] == "budget"


def test_history(tune, tmp_path):
    table = tmp_path / "out" / "history.csv"
    assert tune("rms_norm", *SMALL, "--history", str(table)).status == 0
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["status"] for row in rows] == ["ok", "ok"]
    assert {row["reused"] for row in rows} == {"false"}
    document = tmp_path / "history.json"
    assert tune("rms_norm", *SMALL, "--history", str(document)).status == 0
    same = json.loads(document.read_text(encoding="utf-8"))
    assert [list(row) for row in same] == [list(rows[0])] * 2
    assert sorted(row["tiling"] for row in same) == sorted(row["tiling"] for row in rows)


def test_export(tune, tmp_path):
    assert tune("rms_norm", "--export", str(tmp_path)).status == 3
    assert tune("rms_norm", *SMALL).status == 0
    result = tune("rms_norm", "--export", str(tmp_path), "--json")
    assert result.status == 0, result.err
    written = json.loads(pathlib.Path(result.json()["path"]).read_text(encoding="utf-8"))
    assert list(written) == ["schema", "op", "device", "cc", "sm_count", "entries"]
    assert list(written["entries"][0]) == [
        "variant", "source", "problem", "tiling", "mode", "median_us", "date", "driver",
    ]  # fmt: skip
    assert len(written["entries"]) == 1


def test_import_says_which_line_and_why(tune, tmp_path):
    assert tune("rms_norm", *SMALL).status == 0
    good = [json.loads(line) for line in only(tmp_path / "trials").open(encoding="utf-8")]
    first = good[0]
    lines = [
        first,
        {**first, "schema": 2},
        {**first, "device": "Another"},
        {**first, "tiling": "strem=true"},
        {**first, "problem": "rows=64 colums=8"},
        {**first, "variant": "rms_norm/cpu/rows_v99"},
        {key: value for key, value in first.items() if key != "status"},
    ]
    bad = tmp_path / "bad.jsonl"
    bad.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"sch', encoding="utf-8")
    result = tune("--import", str(bad), "--device", "cpu")
    assert result.status == 1
    for number, reason in enumerate(
        [
            "schema: expected 1, got 2",
            "device: expected",
            "tiling",
            "key: expected one of rows",
            "rows_v99",
            "status: expected a value, got none",
            "no JSON",
        ],
        start=2,
    ):
        line = next(x for x in result.err.splitlines() if f"bad.jsonl:{number}:" in x)
        assert reason in line
    assert "bad.jsonl:1:" not in result.err

    file = tmp_path / "good.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in good), encoding="utf-8")
    elsewhere = {"EINKORN_TRIALS": str(tmp_path / "elsewhere")}
    imported = tune("--import", str(file), "--device", "cpu", "--json", **elsewhere)
    assert imported.json() == {"imported": 2, "store": str(tmp_path / "elsewhere")}
    assert tune("rms_norm", *SMALL, "--json", **elsewhere).json()["results"][0]["tried"] == 0


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["rms_norm", "--search", "annealing"], 2, "expected one of exhaustive, random, model"),
        (["rms_norm", "--history", "x.txt"], 2, "ending in .csv or .json"),
        (["rms_norm", "--budget-trials", "0"], 2, "--budget-trials"),
        (["rms_norm", "colums=3"], 2, "did you mean 'cols'?"),
        (["rms_norm", "--import", "x.jsonl"], 2, "--import takes no op"),
        (["--import", "/nonexistent.jsonl"], 1, "/nonexistent.jsonl"),
        (["rms_norm", "rows=0"], 3, "an empty problem takes no time"),
        (["rms_norm/smxx/rows_v1", *SMALL], 3, "tensors are on cpu"),
    ],
)
def test_bad_usage(tune, arguments, status, message):
    result = tune(*arguments, "--device", "cpu")
    assert (result.status, message in result.err) == (status, True), result.err


def test_interrupt_keeps_what_was_measured(tune, tmp_path):
    trials = tmp_path / "trials"
    # Small problems by name, so that some are done and some are not when the signal comes.
    process = subprocess.Popen(
        [str(BIN), "tune", "silu_mul", "--device", "cpu", "--json"],
        env=clean_environment(EINKORN_TRIALS=str(trials), **NO_GPU),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while not list(trials.glob("v1/*/*.jsonl")) and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.02)
    # As a terminal does it: to the whole group, the worker included.
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    if process.returncode == 0:
        pytest.skip("it was done before the signal came")
    assert process.returncode == 128 + signal.SIGINT, err
    got = json.loads(out)
    assert got["interrupted"] is True
    kept = [json.loads(line) for line in only(trials).open(encoding="utf-8")]
    assert kept and all(trial["status"] == "ok" for trial in kept)
    assert got["results"][0]["best"] is not None
