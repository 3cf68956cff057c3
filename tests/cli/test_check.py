"""einkorn check."""

from conftest import NO_GPU

RESULT_KEYS = ["variant", "case", "level", "status", "reason", "error", "tolerance"]
SMALL = ["rows=3", "cols=65", "dtype=bf16"]


def test_check_problem_json(einkorn):
    result = einkorn("check", "rms_norm", *SMALL, "--device", "cpu", "--json", **NO_GPU)
    assert result.status == 0, result.err
    got = result.json()
    assert list(got) == ["device", "results"]
    by_status = {row["variant"]: row["status"] for row in got["results"]}
    assert by_status["rms_norm/cpu/reference_v1"] == "pass"
    assert by_status["rms_norm/sm90/bulk_v1"] in ("skipped", "refused")
    for row in got["results"]:
        assert list(row) == RESULT_KEYS
        assert list(row["tolerance"]) == ["relative", "absolute", "rms"]
        assert (row["reason"] is None) == (row["status"] == "pass")
        assert (row["error"] is None) == (row["status"] not in ("pass", "fail"))


def test_check_one_variant(einkorn):
    result = einkorn("check", "silu_mul/reference", *SMALL, "--device", "cpu", "--json", **NO_GPU)
    assert result.status == 0
    assert [row["variant"] for row in result.json()["results"]] == ["silu_mul/cpu/reference_v1"]


def test_check_cases_of_a_level(einkorn):
    result = einkorn("check", "--level", "0", "--device", "cpu", "--json", **NO_GPU)
    assert result.status == 0, result.out
    rows = result.json()["results"]
    assert {row["level"] for row in rows} == {0}
    ops = einkorn("list", "--json").json()
    assert {row["variant"].split("/")[0] for row in rows} == {op["op"] for op in ops}


def test_check_for_people(einkorn):
    result = einkorn("check", "rms_norm", *SMALL, "--device", "cpu", **NO_GPU)
    assert result.status == 0
    assert "cpu/reference_v1" in result.out
    assert " passed, 0 failed" in result.out
    verbose = einkorn("check", "rms_norm", *SMALL, "--device", "cpu", "--verbose", **NO_GPU)
    assert "command line" in verbose.out


def test_same_seed_same_error(einkorn):
    arguments = ["check", "rms_norm", *SMALL, "--device", "cpu", "--json"]
    seeds = ["1", "1", "2"]
    outs = [einkorn(*arguments, "--seed", seed, **NO_GPU).json()["results"] for seed in seeds]
    assert outs[0] == outs[1]
    assert outs[0] != outs[2]


def test_compile_without_a_compiler_says_so_and_checks_on(einkorn):
    result = einkorn(
        "check", "rms_norm", *SMALL, "--device", "cpu", "--compile",
        EINKORN_NVRTC="/nonexistent/libnvrtc.so.13", **NO_GPU,
    )  # fmt: skip
    assert result.status == 0
    assert "were not compiled" in result.out
    assert "/nonexistent/libnvrtc.so.13" in result.out


def test_compile_reports_registers_and_spills(einkorn):
    """Needs NVRTC, which the set-up brings wherever the tests run."""
    result = einkorn(
        "check", "rms_norm", *SMALL, "--device", "cpu", "--compile", "--json", **NO_GPU
    )
    assert result.status == 0, result.out + result.err
    rows = result.json()["compiled"]
    assert {row["arch"] for row in rows} == {"sm_80", "sm_90a", "sm_100a"}
    for row in rows:
        assert list(row) == [
            "variant", "arch", "kernel", "problem", "registers", "static_smem", "stack_bytes",
            "spill_stores", "spill_loads", "compile_ms", "status", "error",
        ]  # fmt: skip
        assert row["status"] == "not run: no device"
        assert row["registers"] > 0
        assert row["spill_stores"] == row["spill_loads"] == 0
    kernels = [(row["variant"], row["arch"], row["kernel"]) for row in rows]
    assert len(kernels) == len(set(kernels))
    # Whatever was ready first: by variant, then by arch.
    groups = list(dict.fromkeys((row["variant"], row["arch"]) for row in rows))
    archs = ["sm_80", "sm_90a", "sm_100a"]
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    assert groups == sorted(groups, key=lambda g: (variants.index(g[0]), archs.index(g[1])))
    assert [(row["variant"], row["arch"]) for row in rows] == [
        group for group in groups for row in rows if (row["variant"], row["arch"]) == group
    ]
