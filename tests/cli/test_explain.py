"""einkorn explain, also for devices that are not here."""

import json

import pytest
from conftest import GOLDEN, NO_GPU

KEYS = ["op", "problem", "device", "chosen", "quality", "source", "tried", "tiling", "tuned_on"]

# Name of the golden file: arguments.
EXPLAINED = {
    "explain_rms_norm_h100": ["rms_norm", "rows=16384", "cols=4096", "dtype=bf16", "--device",
                              "h100"],
    "explain_rms_norm_a100": ["rms_norm", "rows=16384", "cols=4096", "dtype=bf16", "--device",
                              "a100"],
    "explain_rms_norm_named": ["rms_norm/cpu/reference_v1", "cols=64", "--device", "h100"],
    "explain_silu_mul_b200": ["silu_mul", "rows=16384", "cols=14336", "--device", "b200"],
}  # fmt: skip


@pytest.mark.parametrize("name", EXPLAINED)
def test_explain_json(einkorn, request, name):
    """As in the golden file; further variants may have come since, each with its verdict."""
    result = einkorn("explain", *EXPLAINED[name], "--json", **NO_GPU)
    got = result.json()
    assert list(got) == KEYS
    assert result.status == (0 if got["chosen"] else 3)
    path = GOLDEN / f"{name}.json"
    if request.config.getoption("--update-golden"):
        path.write_text(result.out, encoding="utf-8")
    want = json.loads(path.read_text(encoding="utf-8"))
    variants = [attempt["variant"] for attempt in want["tried"]]
    got["tried"] = [attempt for attempt in got["tried"] if attempt["variant"] in variants]
    assert got == want


def test_explain_for_people(einkorn):
    result = einkorn("explain", *EXPLAINED["explain_rms_norm_h100"], **NO_GPU)
    assert result.status == 0
    assert "rows=16384 cols=4096" in result.out
    assert "NVIDIA H100" in result.out
    assert "(not here: from the table)" in result.out
    assert "cpu/reference_v1" in result.out
    assert "refused: " in result.out


def test_environment_chooses(einkorn):
    result = einkorn(
        "explain", "rms_norm", "--device", "cpu", "--json", EINKORN_RMS_NORM="cpu/reference_v1"
    )
    assert result.status == 0
    assert result.json()["chosen"] == "rms_norm/cpu/reference_v1"
    assert result.json()["source"] == "EINKORN_RMS_NORM"


def test_argument_wins_over_environment(einkorn):
    result = einkorn(
        "explain", "rms_norm/reference", "--device", "cpu", "--json",
        EINKORN_RMS_NORM="sm90/bulk_v1",
    )  # fmt: skip
    assert result.json()["chosen"] == "rms_norm/cpu/reference_v1"
    assert result.json()["source"] == "argument"


def test_default_device_is_the_cpu_without_a_gpu(einkorn):
    result = einkorn("explain", "rms_norm", "--json", **NO_GPU)
    assert result.status == 0
    assert "/cpu/" in result.json()["chosen"]
