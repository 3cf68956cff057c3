"""einkorn profile: stage times on the CPU, what is said where tools are missing, progress."""

import json
import re
import signal
import subprocess

import pytest
from conftest import BIN, NO_GPU, clean_environment

PAIR = ["profile", "gated_norm_pair", "rows=64", "cols=1024", "--device", "cpu"]
QUICK = ["--seconds", "0.01"]
PARAMS = [
    "mode", "op", "variant", "problem", "tiling", "device", "driver", "versions", "commit", "date",
    "seed",
]  # fmt: skip
EVENT = [
    "total_us", "q1_us", "q3_us", "samples", "input_sets", "predicted_us", "stages", "concurrent",
]  # fmt: skip
STAGE = [
    "name", "median_us", "q1_us", "q3_us", "share", "predicted_us", "gbps", "tflops", "branches",
]  # fmt: skip
STATIC = [
    "stage", "blocks", "threads", "registers", "static_smem", "dynamic_smem", "spill_bytes",
    "occupancy_percent", "waves",
]  # fmt: skip

NCU_HEADER = [
    "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream",
    "Block Size", "Grid Size", "Device", "CC",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "gpu__time_duration.sum",
    "lts__t_sector_hit_rate.pct", "sm__throughput.avg.pct_of_peak_sustained_elapsed",
]  # fmt: skip


def check_event(got: dict):
    assert list(got)[: len(PARAMS + EVENT)] == PARAMS + EVENT
    assert got["mode"] == "event"
    assert 0 < got["q1_us"] <= got["total_us"] <= got["q3_us"]
    for stage in got["stages"]:
        assert list(stage) == STAGE
        assert 0 < stage["q1_us"] <= stage["median_us"] <= stage["q3_us"]
        assert stage["share"] == pytest.approx(stage["median_us"] / got["total_us"], abs=2e-3)


def test_event_times_stages_and_writes_a_folder(einkorn, tmp_path):
    result = einkorn(*PAIR, *QUICK, "--json", cwd=tmp_path, **NO_GPU)
    assert result.status == 0, result.err
    got = result.json()
    check_event(got)
    assert got["variant"] == "gated_norm_pair/cpu/concurrent_v1"
    assert [stage["branches"] for stage in got["stages"]] == [[0], [1], []]
    (both,) = got["concurrent"]
    assert list(both) == ["name", "sum_us", "longest_us", "joint_us", "gain"]
    assert both["gain"] == pytest.approx(both["sum_us"] / both["joint_us"], abs=2e-3)

    (folder,) = tmp_path.glob("out/profiles/event/gated_norm_pair-cpu-concurrent_v1/rows=64*/*")
    assert sorted(file.name for file in folder.iterdir()) == [
        "params.json", "profile.json", "report.txt",
    ]  # fmt: skip
    assert json.loads((folder / "profile.json").read_text(encoding="utf-8")) == got
    params = json.loads((folder / "params.json").read_text(encoding="utf-8"))
    assert params == {key: got[key] for key in PARAMS}


def test_event_for_people_into_a_folder(einkorn, tmp_path):
    result = einkorn(*PAIR, *QUICK, "--output", str(tmp_path / "here"), **NO_GPU)
    assert result.status == 0, result.err
    for text in ("median µs", "of total", "the whole plan", "norms: branches alone", "gain"):
        assert text in result.out
    assert (tmp_path / "here" / "report.txt").read_text(encoding="utf-8") in result.out


def test_event_of_one_stage_with_a_tiling(einkorn, tmp_path):
    result = einkorn(
        "profile", "rms_norm/cpu/rows_v1", "rows=64", "cols=1024", "--tiling", "stream=true",
        "--device", "cpu", *QUICK, "--json", cwd=tmp_path, **NO_GPU,
    )  # fmt: skip
    assert result.status == 0, result.err
    got = result.json()
    check_event(got)
    assert got["tiling"] == "stream=true"
    (stage,) = got["stages"]
    assert stage["median_us"] == got["total_us"]
    assert stage["gbps"] > 0


def test_profiles_of_the_same_second_do_not_overwrite(einkorn, tmp_path):
    for _ in range(3):
        assert einkorn(*PAIR, *QUICK, cwd=tmp_path, **NO_GPU).status == 0
    assert len(list(tmp_path.glob("out/profiles/event/*/*/*/profile.json"))) == 3


@pytest.mark.parametrize("mode", ["timeline", "counters"])
def test_modes_of_a_gpu_on_a_cpu(einkorn, tmp_path, mode):
    result = einkorn(*PAIR, "--mode", mode, cwd=tmp_path, **NO_GPU)
    assert result.status == 3
    assert f"--mode {mode} reads a CUDA device" in result.err
    assert "hint: --mode event" in result.err
    assert not (tmp_path / "out").exists()


def test_counters_of_a_device_that_is_not_here(einkorn, tmp_path):
    result = einkorn(
        "profile", "gated_norm_pair", "rows=64", "cols=4096", "--device", "h100", "--mode",
        "counters", "--json", cwd=tmp_path, **NO_GPU,
    )  # fmt: skip
    assert result.status == 3, result.err
    got = result.json()
    assert list(got) == [*PARAMS, "kernels", "static", "reason"]
    assert got["kernels"] == []
    assert "is not in this machine" in got["reason"]
    assert [list(one) for one in got["static"]] == [STATIC] * 3
    for one in got["static"]:
        assert one["registers"] > 0
        assert one["spill_bytes"] == 0
        assert 0 < one["occupancy_percent"] <= 100


BAD = {
    "mode": (["rms_norm", "--mode", "evnt"], "expected one of event, counters, timeline"),
    "tiling": (["rms_norm/cpu/rows_v1", "--tiling", "stream=maybe"], "tiling"),
    "no op": ([], "expected an op"),
    "unknown key": (["rms_norm", "colums=3"], "did you mean 'cols'"),
    "seconds": (["rms_norm", "--seconds", "0"], "--seconds"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_usage(einkorn, tmp_path, case):
    words, expected = BAD[case]
    result = einkorn("profile", *words, "--device", "cpu", cwd=tmp_path, **NO_GPU)
    assert result.status == 2
    assert expected in result.err
    assert result.out == ""


def test_an_empty_problem_has_no_stages(einkorn, tmp_path):
    result = einkorn("profile", "rms_norm", "rows=0", "--device", "cpu", cwd=tmp_path, **NO_GPU)
    assert result.status == 1
    assert "no stages" in result.err


def test_the_process_below_ncu_is_no_verb(einkorn):
    assert "profile-run" not in einkorn("--help").out
    result = einkorn("profile-run", "rms_norm")
    assert result.status == 2
    assert "expected variant, device, tiling, seed and problem" in result.err


def stopped(arguments: list[str], tmp_path) -> tuple[int, str, str]:
    """Stopped by Ctrl-C as soon as a round beyond the first is told of."""
    process = subprocess.Popen(
        [str(BIN), *arguments], env=clean_environment(**NO_GPU), cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    lines = []
    for line in process.stderr:
        lines.append(line)
        if re.search(r"round \d+ of \d+, ", line):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, "".join(lines) + err


def test_ctrl_c_keeps_what_was_measured(tmp_path):
    status, out, err = stopped([*PAIR, "--seconds", "60", "--json"], tmp_path)
    assert status == 130, err
    got = json.loads(out)
    check_event(got)
    assert got["interrupted"] is True
    assert list(tmp_path.glob("out/profiles/event/*/*/*/profile.json"))
    # Progress: how long it took, what is left, and what was found so far.
    assert re.search(r"\d s(, about \d+ s left)?: round \d+ of \d+, [\d.]+ µs so far", err)


def test_ctrl_c_keeps_the_rounds_of_a_bench(tmp_path):
    # Enough samples of 5 ms and more that 201 rounds take longer than the first line of progress.
    arguments = ["bench", "rms_norm", "rows=512", "cols=4096", "--device", "cpu", "--tilings"]
    status, out, err = stopped([*arguments, "--seconds", "60", "--json"], tmp_path)
    assert status == 130, err
    for row in json.loads(out)["results"]:
        assert row["samples"] > 0
        assert row["median_us"] > 0
    assert re.search(r"round \d+ of 201, best [\d.]+ µs rms_norm/cpu/rows_v1", err)


@pytest.fixture
def gpu(einkorn):
    """Its arguments; skips where there is none."""
    reason = einkorn("doctor", "--json").json()["no_cuda"]
    if reason:
        pytest.skip(reason.splitlines()[0])
    return ["--device", "cuda:0"]


def test_ncu_that_is_missing(einkorn, tmp_path, gpu):
    result = einkorn(
        "profile", "rms_norm", "rows=64", *gpu, "--mode", "counters", cwd=tmp_path,
        EINKORN_NCU="/nonexistent/ncu",
    )  # fmt: skip
    assert result.status == 3
    for text in ("ncu: missing", "/nonexistent/ncu", "--mode event", "from the compiled kernels"):
        assert text in result.out


def test_counters_of_a_fake_ncu(einkorn, tmp_path, gpu):
    rows = [NCU_HEADER, [""] * 11 + ["%", "ns", "%", "%"]]
    for i in range(3):
        head = [str(i), "1", "einkorn", "127.0.0.1", f"kernel_{i}", "1", "7", "", "", "0", "9.0"]
        rows.append([*head, "91.5", f"{i + 1},234", "51.2", "30"])
    table = "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)
    fake = tmp_path / "ncu"
    fake.write_text(f"#!/bin/sh\ncat <<'END'\n==PROF== Connected\n{table}\nEND\n")
    fake.chmod(0o755)
    result = einkorn(
        "profile", "gated_norm_pair", "rows=64", *gpu, "--mode", "counters", "--json",
        cwd=tmp_path, EINKORN_NCU=str(fake),
    )  # fmt: skip
    assert result.status == 0, result.out
    got = result.json()
    assert [one["bound"] for one in got["kernels"]] == ["memory"] * 3
    assert [one["duration_us"] for one in got["kernels"]] == [1.234, 2.234, 3.234]
    assert got["kernels"][0]["stage"].startswith("norms/gate")
    assert "tensor" in got["kernels"][0]["missing"]
    assert list(tmp_path.glob("out/profiles/counters/*/*/*/ncu.csv"))


def test_cupti_that_is_missing(einkorn, tmp_path, gpu):
    result = einkorn(
        "profile", "rms_norm", "rows=64", *gpu, "--mode", "timeline", cwd=tmp_path,
        EINKORN_CUPTI="/nonexistent/libcupti.so.13",
    )  # fmt: skip
    assert result.status == 1
    assert "libcupti: missing: EINKORN_CUPTI=/nonexistent" in result.err


def test_timeline(einkorn, tmp_path, gpu):
    result = einkorn(
        "profile", "gated_norm_pair", "rows=4096", *gpu, "--mode", "timeline", "--json",
        cwd=tmp_path,
    )  # fmt: skip
    if result.status == 1 and "libcupti" in result.err:
        pytest.skip(result.err)
    assert result.status == 0, result.err
    got = result.json()
    assert len(got["kernels"]) == 3
    assert len({one["stream"] for one in got["kernels"]}) == 2
    assert 0 < got["busy_us"] <= got["span_us"]
    (trace,) = tmp_path.glob("out/profiles/timeline/*/*/*/trace.json")
    events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    assert sum(event["ph"] == "X" for event in events) == 3
