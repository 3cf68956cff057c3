"""einkorn bench, run and doctor on the CPU, and Ctrl-C."""

import json
import signal
import subprocess
import time

import pytest
from conftest import BIN, NO_GPU, clean_environment

QUICK = ["--device", "cpu", "--seconds", "0.01"]
SMALL = ["rows=64", "cols=1024", "dtype=f32"]
BENCH_KEYS = ["op", "device", "driver", "versions", "commit", "date", "results"]
RESULT_KEYS = [
    "variant", "case", "problem", "tiling", "median_us", "q1_us", "q3_us", "samples", "gbps",
    "tflops", "roof", "percent_of_roof", "percent_of_measured_roof",
    "predicted_us", "copy_us", "copied_by", "percent_of_copy", "input_sets", "clocks", "peers",
]  # fmt: skip
RUN_KEYS = [
    "op", "device", "driver", "versions", "commit", "date", "explain", "check", "bench",
    "compiled", "not_compiled", "report",
]  # fmt: skip


def check_bench(results: list[dict]):
    assert results
    for row in results:
        assert list(row) == RESULT_KEYS
        assert 0 < row["q1_us"] <= row["median_us"] <= row["q3_us"]
        assert row["gbps"] > 0
        assert row["copy_us"] > 0
        assert row["roof"] in ("memory", "compute", "latency", "cache")
        assert row["roof"] != "cache" or row["percent_of_roof"] == 0


def test_bench_json_and_file(einkorn, tmp_path):
    file = tmp_path / "folder" / "bench.json"
    result = einkorn("bench", "rms_norm", *SMALL, *QUICK, "--json", "--output", str(file), **NO_GPU)
    assert result.status == 0, result.err
    got = result.json()
    assert list(got) == BENCH_KEYS
    assert got["op"] == "rms_norm"
    check_bench(got["results"])
    assert got["results"][0]["case"] == "command line"
    assert json.loads(file.read_text(encoding="utf-8")) == got


def test_bench_case_all_variants(einkorn):
    result = einkorn(
        "bench", "silu_mul", "--case", "tiny", "--case", "odd_columns_f32", "--all-variants",
        *QUICK, "--json", **NO_GPU,
    )  # fmt: skip
    assert result.status == 0, result.err
    rows = result.json()["results"]
    assert {row["case"] for row in rows} == {"tiny", "odd_columns_f32"}
    assert all(row["variant"].startswith("silu_mul/cpu/") for row in rows)


def test_bench_for_people(einkorn):
    result = einkorn("bench", "rms_norm", *SMALL, *QUICK, **NO_GPU)
    assert result.status == 0
    for text in ("device", "median µs", "GB/s", "of copy", "rms_norm/cpu/"):
        assert text in result.out


def test_bench_call_cost(einkorn):
    result = einkorn(
        "bench", "rms_norm", "rows=1", "cols=64", "--call-cost", "--device", "cpu", "--json",
        **NO_GPU,
    )  # fmt: skip
    assert result.status == 0, result.err
    got = result.json()
    assert list(got) == ["device", "call_cost"]
    assert list(got["call_cost"][0]) == ["op", "case", "op_ns", "bare_launch_ns"]
    assert got["call_cost"][0]["op_ns"] > 0


def test_bench_output_that_cannot_be_written(einkorn):
    result = einkorn("bench", "rms_norm", *SMALL, *QUICK, "--output", "/proc/no.json", **NO_GPU)
    assert result.status == 1
    assert "/proc/no.json" in result.err
    assert "median µs" in result.out, "the measurement is shown all the same"


@pytest.mark.parametrize("as_json", [True, False])
def test_run_writes_a_report(einkorn, tmp_path, as_json):
    arguments = ["run", "rms_norm", *SMALL, *QUICK] + (["--json"] if as_json else [])
    result = einkorn(*arguments, cwd=tmp_path, **NO_GPU)
    assert result.status == 0, result.out + result.err
    (folder,) = (tmp_path / "out" / "run").glob("rms_norm-*")
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    text = (folder / "report.txt").read_text(encoding="utf-8")
    assert list(report) == RUN_KEYS
    check_bench(report["bench"])
    assert {row["status"] for row in report["check"]} <= {"pass", "refused", "skipped"}
    assert report["explain"][0]["case"] == "command line"
    assert "not run: no device" in text
    if as_json:
        assert result.json() == report
    else:
        assert text in result.out
        assert str(folder.relative_to(tmp_path)) in result.out


def test_run_without_a_compiler_measures_on(einkorn, tmp_path):
    result = einkorn(
        "run", "rms_norm", *SMALL, *QUICK, "--output", str(tmp_path / "here"), "--json",
        EINKORN_NVRTC="/nonexistent/libnvrtc.so.13", **NO_GPU,
    )  # fmt: skip
    assert result.status == 0, result.err
    got = result.json()
    assert got["compiled"] == []
    assert "/nonexistent/libnvrtc.so.13" in got["not_compiled"]
    check_bench(got["bench"])
    assert (tmp_path / "here" / "report.txt").is_file()


def test_doctor_json(einkorn):
    result = einkorn("doctor", "--json", EINKORN_NUM_THREADS="1")
    assert result.status == 0, result.out
    got = result.json()
    assert list(got) == [
        "version", "commit", "devices", "cpu", "no_cuda", "driver", "libraries", "caches",
        "compilers", "environment", "measured", "problems", "notes",
    ]  # fmt: skip
    assert got["devices"][0]["name"] == "cpu"
    assert got["cpu"]["threads"] == 1
    assert [row["library"] for row in got["libraries"]] == [
        "libcuda", "libnvrtc", "libnvidia-ml", "libcublasLt", "libcupti",
    ]  # fmt: skip
    assert {
        "name": "EINKORN_NUM_THREADS",
        "value": "1",
        "meaning": "threads of the CPU variants",
    } in (got["environment"])
    assert got["caches"]["mode"] == "on"
    assert [row["name"] for row in got["compilers"]][:2] == ["nvrtc", "nvrtc-worker"]
    assert got["measured"] is None


PROBLEMS = {
    "typo": ({"EINKORN_NVRCT": "x"}, ["EINKORN_NVRCT", "did you mean EINKORN_NVRTC?"]),
    "typo of an op": ({"EINKORN_RMSNORM": "x"}, ["did you mean EINKORN_RMS_NORM?"]),
    "library": (NO_GPU, ["EINKORN_LIBCUDA", "/nonexistent/libcuda.so.1"]),
    "variant": ({"EINKORN_RMS_NORM": "fast"}, ["EINKORN_RMS_NORM", "'fast'"]),
    "threads": ({"EINKORN_NUM_THREADS": "many"}, ["EINKORN_NUM_THREADS", "many"]),
    "plugin": ({"EINKORN_PLUGINS": "/nonexistent.so"}, ["/nonexistent.so"]),
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_doctor_finds(einkorn, problem):
    variables, expected = PROBLEMS[problem]
    result = einkorn("doctor", **variables)
    assert result.status == 1
    for text in expected:
        assert text in result.out
    assert einkorn("doctor", "--json", **variables).json()["problems"]


@pytest.mark.parametrize("as_json", [True, False])
def test_ctrl_c_prints_what_was_measured(tmp_path, as_json):
    arguments = [str(BIN), "bench", "rms_norm", "--case", "tiny", "--case", "square_f32"]
    arguments += ["--device", "cpu", "--seconds", "30"] + (["--json"] if as_json else [])
    process = subprocess.Popen(
        arguments, env=clean_environment(**NO_GPU), cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "stopping after this measurement" in err
    if as_json:
        assert json.loads(out)["interrupted"] is True
    else:
        assert "stopped by Ctrl-C" in out
