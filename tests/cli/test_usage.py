"""What the user gets for what is typed: help, exit statuses, and messages for mistakes."""

import pytest
from conftest import NO_GPU

VERBS = ["list", "explain", "run", "check", "bench", "doctor"]


def test_version(einkorn):
    result = einkorn("--version")
    assert result.status == 0
    assert result.out.startswith("einkorn ")
    assert result.err == ""


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["help"]])
def test_help(einkorn, golden, arguments):
    result = einkorn(*arguments)
    assert result.status == 0
    golden("help.txt", result.out)


def test_no_arguments_is_bad_usage(einkorn):
    result = einkorn()
    assert result.status == 2
    assert result.out == ""
    assert "Usage: einkorn <verb>" in result.err


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_has_examples(einkorn, verb):
    for arguments in ([verb, "--help"], ["help", verb]):
        result = einkorn(*arguments)
        assert result.status == 0
        assert "--json" in result.out
        assert f"einkorn {verb}" in result.out.split("Examples:")[1]


MISTAKES = {
    "verb": (["lsit"], ["verb", "got 'lsit'", "did you mean 'list'"]),
    "option before the verb": (["--json", "list"], ["verb", "got '--json'"]),
    "what to list": (["list", "variant"], ["got 'variant'", "did you mean 'variants'"]),
    "too many arguments": (["list", "ops", "arches"], ["unexpected argument 'arches'"]),
    "option": (["bench", "rms_norm", "--peer"], ["--peer'", "did you mean '--peers'"]),
    "option with value": (["explain", "rms_norm", "--devcie=cpu"], ["did you mean '--device'"]),
    "option without its value": (["explain", "rms_norm", "--device"], ["--device", "--help"]),
    "level": (["check", "--level", "7"], ["--level", "7"]),
    "seconds": (["bench", "rms_norm", "--seconds", "soon"], ["--seconds"]),
    "no op": (["explain"], ["expected an op", "rms_norm"]),
    "two ops": (["bench", "rms_norm", "silu_mul"], ["expected one op", "rms_norm silu_mul"]),
    "op": (["explain", "rmsnorm"], ["got 'rmsnorm'", "did you mean 'rms_norm'"]),
    "variant": (
        ["explain", "rms_norm/sm90/blk_v1"],
        ["sm90/blk_v1", "cpu/reference_v1", "did you mean 'sm90/bulk_v1'"],
    ),
    "key": (["explain", "rms_norm", "colums=4"], ["colums", "rows", "did you mean 'cols'"]),
    "value that is no number": (["explain", "rms_norm", "cols=many"], ["cols", "many"]),
    "value out of range": (["explain", "rms_norm", "cols=0"], ["cols", "1..262144", "0"]),
    "dtype": (["explain", "rms_norm", "dtype=bf17"], ["dtype", "bf17", "bf16"]),
    "dtype the op lacks": (["explain", "rms_norm", "dtype=i8"], ["dtype", "i8", "bf16"]),
    "enum": (["explain", "rms_norm", "rounding=lama"], ["rounding", "lama", "llama"]),
    "key without a name": (["explain", "rms_norm", "=4"], ["expected key=value"]),
    "key twice": (["explain", "rms_norm", "cols=4", "cols=8"], ["cols", "twice"]),
    "device to explain for": (["explain", "rms_norm", "--device", "h1000"], ["h1000", "h100"]),
    "device to run on": (["check", "--device", "gpu"], ["gpu", "cuda"]),
    "known device to run on": (["bench", "rms_norm", "--device", "h100"], ["h100", "cuda"]),
    "case": (
        ["bench", "rms_norm", "--case", "llama3_8b_prefil"],
        ["--case", "did you mean 'llama3_8b_prefill'"],
    ),
    "case and problem": (["bench", "rms_norm", "cols=8", "--case", "tiny"], ["--case", "one of"]),
    "problem for all ops": (["check", "rows=1"], ["key=value needs exactly one op"]),
    "all and an op": (["check", "--all", "rms_norm"], ["--all"]),
    "a variant and all": (
        ["bench", "rms_norm/cpu/reference_v1", "--all-variants"],
        ["--all-variants"],
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_bad_usage_and_says_what_to_do(einkorn, mistake):
    arguments, expected = MISTAKES[mistake]
    result = einkorn(*arguments, **NO_GPU)
    assert result.status == 2, result
    assert result.out == ""
    assert result.err.startswith("einkorn: error: ")
    for text in expected:
        assert text in result.err


def test_environment_naming_no_variant_is_bad_usage(einkorn):
    result = einkorn("explain", "rms_norm", "--device", "cpu", EINKORN_RMS_NORM="cpu/fast_v9")
    assert result.status == 2
    assert "cpu/fast_v9" in result.err
    assert "EINKORN_RMS_NORM" in result.err


def test_missing_plugin_is_a_failure(einkorn):
    result = einkorn("list", EINKORN_PLUGINS="/nonexistent/plugin.so")
    assert result.status == 1
    assert "/nonexistent/plugin.so" in result.err
    assert result.out == ""


@pytest.mark.parametrize("verb", ["check", "bench", "run"])
def test_absent_device_runs_nothing(einkorn, verb, tmp_path):
    result = einkorn(verb, "rms_norm", "--device", "cuda", cwd=tmp_path, **NO_GPU)
    assert result.status == 3
    assert "/nonexistent/libcuda.so.1" in result.err
    assert list(tmp_path.iterdir()) == []


def test_variant_that_refuses_the_problem_runs_nothing(einkorn):
    arguments = ["rms_norm/sm90/bulk_v1", "rows=2", "cols=8", "--device", "cpu"]
    assert einkorn("explain", *arguments, **NO_GPU).status == 3
    assert einkorn("check", *arguments, **NO_GPU).status == 3
    result = einkorn("bench", *arguments, **NO_GPU)
    assert result.status == 3
    assert "sm90/bulk_v1" in result.err
    assert "refused: " in result.err
