"""einkorn jit run without a GPU: all that needs none is checked first, and --cpu runs functions."""

import json

import pytest
from conftest import SOURCE

ADD = SOURCE / "examples" / "jit_kernel" / "add_constant.cuh"
ARGUMENTS = ("--arg", "y=f32[n]", "--arg", "x=f32[n]", "--arg", "n=1024")


@pytest.fixture
def run(alone):
    def call(*words):
        return alone("jit", "run", ADD, "--entry", "add_constant<float, 1>", *words)

    return call


def test_it_compiles_and_says_that_no_device_is_here(run):
    done = run(*ARGUMENTS, "--grid", "cdiv(n, 256)", "--check", "y == x + 1")
    assert done.returncode == 3
    assert "add_constant<float, 1> compiled for sm_90a (" in done.stderr
    assert " registers, 0 B static shared memory, 0 B spilled) and takes these arguments" in (
        done.stderr
    )
    assert "--device cuda:0: not here" in done.stderr


def test_arguments_are_checked_against_the_kernel(run):
    done = run("--arg", "y=f16[n]", *ARGUMENTS[2:])
    assert done.returncode == 2
    assert "argument 1 (float*) dtype: expected f32, got f16" in done.stderr
    assert "--arg, in order: y=f16[n]  x=f32[n]  n=1024" in done.stderr
    done = run(*ARGUMENTS, "--arg", "z=4")
    assert done.returncode == 2
    assert "arguments: expected 3 (float*, float const*, int), got 4" in done.stderr
    done = run("--arg", "y=f32[4]", "--arg", "x=f32[4]", "--arg", "n=1.5")
    assert done.returncode == 2
    assert "argument 3 (int) value: expected an integer" in done.stderr


MISTAKES = [
    (("--arg", "x"), "expected name=value"),
    (("--arg", "1x=3"), "expected a name of letters, digits and _"),
    (("--arg", "x y=3"), "expected a name of letters, digits and _"),
    (("--check", "y = 1 == 1", "--arg", "y=f32[4]"), "--check: expected no assignment"),
    (("--arg", "x=f32"), "expected a number or dtype[sizes]"),
    (("--arg", "x=f31[4]"), "--arg x: dtype: expected one of"),
    (("--arg", "x=f32[m]"), '--arg x, size: unknown name "m"'),
    (("--arg", "x=f32[n]", "--arg", "n=1.5"), "--arg x, size: expected whole numbers, got n = 1.5"),
    (("--arg", "n=1", "--arg", "n=2"), "each name once"),
    (("--arg", "x=f32[4]:ones"), ":random, :zeros or :iota"),
    (("--grid", "(n+1"), "--grid"),
    (("--grid", "1-2"), "whole number from 0 to 2^53"),
    (("--grid", ""), "--grid: expected a whole number, got an empty text"),
    (("--grid", "1/0"), "--grid: expected a whole number, got a division by 0"),
    (("--grid", "ceil(n)", "--arg", "n=1"), 'unknown name "ceil"; known are + - * / %, cdiv(a, b)'),
    (("--grid", "n", "--arg", "n=1e14"), "--grid: expected sizes below 2^32, got 100000000000000"),
    (("--grid", "1,65536"), "grid: expected x <= 2147483647, y and z <= 65535"),
    (("--block", "1,2,3,4"), "up to three sizes"),
    (("--block", "0"), "block: expected 1 to 1024 threads"),
    (("--block", "2000"), "block: expected 1 to 1024 threads"),
    (("--cluster", "3", "--grid", "4"), "cluster: expected a divisor of grid 4x1x1"),
    (("--cluster", "2", "--grid", "4", "--arch", "sm_80"), "--cluster: expected none before sm_90"),
    (("--check", "x + 1"), 'expected "left == right"'),
    (("--check", "x == (1"), "--check"),
    (("--check", "z == 1", "--arg", "y=f32[4]"), '--check: unknown name "z"'),
    (("--entry", "add_constant<float, 2>"), "--entry: expected one to run, got 2"),
    (("--arch", "sm_80,sm_90a"), "--arch: expected that of the device, got 2"),
    (("--device", "cpu"), "--device: expected cuda:N for a kernel, got 'cpu'"),
    (("--compiler", "c++"), "--compiler: expected one of nvrtc, nvrtc-worker, nvcc for kernels"),
    (("--tolerance", "x"), '--tolerance: expected a number from 0, got "x"'),
    (("--tolerance", "-1"), '--tolerance: expected a number from 0, got "-1"'),
]


@pytest.mark.parametrize(("words", "text"), MISTAKES)
def test_it_says_what_is_wrong(run, tmp_path, words, text):
    done = run(*words)
    assert done.returncode == 2, done.stderr
    assert text in done.stderr
    assert not (tmp_path / "cache").exists(), "nothing is compiled for it"


HOST = """
#include <cstdint>
namespace mine {
template <class T> void add(T* y, const T* x, int n, float c) {
  for (int i = 0; i < n; ++i) y[i] = x[i] + c;
}
}
extern "C" void nothing(float* y, const float* x, long n) {}
void throws(float* y) { throw 1; }
"""


@pytest.fixture
def run_cpu(alone, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "f.cc").write_text(HOST)

    def call(entry, *words):
        return alone("jit", "run", "sub/f.cc", "--cpu", "--entry", entry, *words)

    return call


def test_a_function_of_the_cpu_runs(run_cpu):
    arguments = (*ARGUMENTS, "--arg", "c=0.1")
    done = run_cpu("mine::add<float>", *arguments, "--check", "y == x + c", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["kernel"] == "mine::add<float>"
    assert document["check"]["elements"] == 1024 and document["check"]["wrong"] == 0
    assert document["median_us"] > 0 and document["grid"] is None
    text = run_cpu("mine::add<float>", *arguments, "--check", "y == x + 2 * c")
    assert text.returncode == 1
    assert "fails for 1024 of 1024 elements" in text.stdout


@pytest.mark.parametrize("dtype", ["f64", "f32", "i32"])
def test_zeros_fail_the_check(run_cpu, tmp_path, dtype):
    kind = {"f64": "double", "f32": "float", "i32": "int"}[dtype]
    (tmp_path / "sub" / "f.cc").write_text(
        f"void zeros({kind}* y, const {kind}* x, int n) {{ for (int i = 0; i < n; ++i) y[i] = 0; }}"
    )
    words = ("--arg", f"y={dtype}[n]", "--arg", f"x={dtype}[n]", "--arg", "n=1024")
    done = run_cpu("zeros", *words, "--check", "y == x", "--json")
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["check"]["wrong"] > 900


def test_mistakes_with_a_function_of_the_cpu(run_cpu):
    for words in (("--grid", "1"), ("--block", "256"), ("--smem", "0"), ("--pdl",),
                  ("--device", "cuda:0")):  # fmt: skip
        done = run_cpu("nothing", *words)
        assert done.returncode == 2
        assert f"{words[0]}: expected none with --cpu" in done.stderr
    done = run_cpu("nothing", "--arg", "y=f16[4]", "--arg", "x=f32[4]", "--arg", "n=4")
    assert done.returncode == 2
    assert "nothing: argument 1 (float*) dtype: expected f32, got f16" in done.stderr
    done = run_cpu("throws", "--arg", "y=f32[4]")
    assert done.returncode == 1
    assert "throws: threw: something that is no std::exception" in done.stderr
    done = run_cpu("missing")
    assert done.returncode == 1
    assert "--entry: expected a function of" in done.stderr
    assert 'got "missing": ' in done.stderr
    assert "einkorn_entry" not in done.stderr
    assert done.stderr.count("hint:") == 1
