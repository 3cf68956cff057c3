"""einkorn predict: on a machine without a GPU, fast, for trees as well."""

import statistics
import time

import pytest

KEYS = ["device", "variant", "problem", "predicted_us", "roof", "stages", "tiling", "predicted_by",
        "datasheet_us", "launch_us", "work", "ridge", "peaks"]  # fmt: skip
PROBLEM = ["rows=16384", "cols=4096", "dtype=bf16"]


def test_an_h100_from_the_table(einkorn):
    document = einkorn("predict", "rms_norm", *PROBLEM, "--device", "h100", "--json").json()
    assert list(document) == KEYS
    assert document["variant"] == "rms_norm/smxx/rows_v1"
    assert document["roof"] == "memory"
    # 2 * 16384 * 4096 * 2 bytes and the weight, over 3350 GB/s, and a launch.
    assert document["launch_us"] == 1.57
    assert document["datasheet_us"] == pytest.approx(80.13 + 1.57, abs=0.05)
    assert document["predicted_us"] == pytest.approx(88.19 + 1.57, abs=0.05)
    assert document["predicted_by"] == document["peaks"]["measured"]["source"]
    assert document["predicted_by"].startswith("measured 2026-11-28")
    assert document["stages"][0]["intensity"] == pytest.approx(1, abs=0.01)
    assert document["peaks"]["datasheet"]["tflops"]["tensor_16bit"] == pytest.approx(989.4)
    assert document["peaks"]["measured"]["gbps"] == 3044
    ridge = document["peaks"]["datasheet"]["ridge"]
    assert ridge["tensor_16bit"] == pytest.approx(295.3, abs=0.1)
    assert ridge["f32"] == document["peaks"]["datasheet"]["tflops"]["f32"] * 1000 / 3350


def test_stages_of_a_tree(einkorn):
    document = einkorn("predict", "gated_norm_pair", *PROBLEM, "--device", "h200", "--json").json()
    names = [stage["name"] for stage in document["stages"]]
    assert names == ["norms/gate/rows_v1", "norms/up/rows_v1", "product/flat_v1"]
    single = sum(stage["predicted_us"] for stage in document["stages"])
    # The norms share the memory: side by side they save a launch.
    assert document["predicted_us"] == pytest.approx(single - document["launch_us"], abs=0.01)
    moved = sum(stage["bytes"] for stage in document["stages"])
    assert moved == document["work"]["est_bytes"] > document["work"]["min_bytes"]


def test_text_and_all_variants(einkorn):
    done = einkorn("predict", "rms_norm", *PROBLEM, "--device", "h100", "--all-variants")
    assert "rms_norm/sm90/bulk_v1" in done.out
    assert "3350 GB/s, f32 67.0 TFLOP/s, ridge at 20.0 flop/byte (datasheet)" in done.out
    small = einkorn("predict", "rms_norm", "rows=64", "cols=4096", "--device", "h100")
    assert "fits the last-level cache (50 MiB): held against no roof" in small.out


def test_a_tiling_that_does_not_fit(einkorn):
    command = ("predict", "rms_norm", *PROBLEM, "--device", "h100", "--tiling")
    done = einkorn(*command, "lanes=33 items=1 rows=1")
    assert done.status == 2
    assert "lanes 33 is not a power of two from 32 to 1024" in done.err
    done = einkorn(*command, "lane=32")
    assert done.status == 2
    assert "did you mean 'lanes'" in done.err


def test_a_device_without_peaks(einkorn):
    document = einkorn("predict", "rms_norm", *PROBLEM, "--device", "sm_90", "--json").json()
    assert document["predicted_us"] is None
    assert document["peaks"] == {"datasheet": None, "measured": None}
    assert document["roof"] == "unknown"


def test_peaks_that_were_measured_here(einkorn, tmp_path):
    cpu = ("predict", "rms_norm", *PROBLEM, "--device", "cpu", "--json")
    here = {"EINKORN_CACHE_DIR": str(tmp_path)}
    assert einkorn(*cpu, **here).json()["predicted_by"] is None
    measured = einkorn("doctor", "--measure", "--json", **here).json()
    rates = {row["what"]: row["value"] for row in measured["measured"] if row["device"] == "cpu"}
    document = einkorn(*cpu, **here).json()
    assert document["predicted_by"].startswith("measured ")
    assert document["peaks"]["measured"]["gbps"] == pytest.approx(rates["copy"])
    expected = document["work"]["est_bytes"] / rates["copy"] / 1000 + document["launch_us"]
    assert document["predicted_us"] == pytest.approx(expected)
    # Of another schema: a warning that names the file, and the answer without it.
    (kept,) = (tmp_path / "peaks").iterdir()
    kept.write_text('{"schema": 99}', encoding="utf-8")
    done = einkorn(*cpu, **here)
    assert done.status == 0
    assert f"{kept}: measured peaks are not used: schema: expected 1, got 99" in done.err
    assert done.json()["predicted_us"] is None


@pytest.mark.parametrize("verb", ["predict", "explain"])
def test_takes_under_30_ms(einkorn, verb):
    times = []
    for _ in range(9):
        start = time.perf_counter()
        einkorn(verb, "rms_norm", *PROBLEM, "--device", "h100")
        times.append(time.perf_counter() - start)
    assert statistics.median(times) < 0.030
