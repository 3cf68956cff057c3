"""einkorn jit, cache, pack, warmup, clangd: without a GPU, each test with a cache of its own."""

import json
import os
import pathlib
import re
import subprocess

import pytest
from conftest import BIN, NO_GPU, SOURCE, clean_environment

ADD = SOURCE / "examples" / "jit_kernel" / "add_constant.cuh"
SPILLING = """
extern "C" __global__ void __launch_bounds__(1024, 2) spilling(float* p, int stride) {
  float v[64];
  #pragma unroll
  for (int i = 0; i < 64; ++i) v[i] = p[i * stride + threadIdx.x];
  #pragma unroll
  for (int i = 0; i < 64; ++i) p[i * stride + threadIdx.x] = v[63 - i] * v[(i * 7) % 64];
}
"""


@pytest.fixture
def einkorn(alone):
    return alone


def compile_add(einkorn, constant=4, *words, **variables):
    done = einkorn(
        "jit", "compile", ADD, "--entry", f"add_constant<int, {constant}>", "--arch", "sm_90a",
        "--json", *words, **variables,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def outcomes(document):
    return [step["outcome"] for step in document["trace"]]


def test_compile_fills_the_cache_for_every_arch(einkorn):
    done = einkorn("jit", "compile", ADD, "--entry", "add_constant<float, 1>",
                   "--arch", "sm_80,sm_90a", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout)
    assert (first["arch"], second["arch"]) == ("sm_80", "sm_90a")
    assert first["entries"][0]["registers"] > 0
    assert first["entries"][0]["spill_stores"] == 0
    listed = json.loads(einkorn("cache", "ls", "--json").stdout)
    assert {row["key"] for row in listed} == {first["key"], second["key"]}
    assert listed[0]["expressions"] == ["add_constant<float, 1>"]
    assert listed[0]["file"] == "add_constant.cuh"


def test_the_second_time_it_is_found(einkorn):
    (cold,) = compile_add(einkorn)
    assert "compiled" in outcomes(cold) and "published" in outcomes(cold)
    (warm,) = compile_add(einkorn)
    assert "hit" in outcomes(warm) and "compiled" not in outcomes(warm)
    assert warm["key"] == cold["key"]


def test_explain_shows_the_order_tried(einkorn):
    done = einkorn("jit", "compile", ADD, "--entry", "add_constant<int, 4>", "--arch", "sm_90a",
                   "--explain", "--time-limit", "100")  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout
    assert lines.index("memory") < lines.index("store") < lines.index("compiled")
    # In this process a compilation cannot be ended, which the time limit asks for.
    assert "nvrtc " in lines and "skipped: a compilation within this process" in lines


def test_a_missing_compiler_is_named_with_every_place(einkorn):
    done = einkorn("jit", "compile", ADD, "--entry", "add_constant<int, 4>", "--arch", "sm_90a",
                   EINKORN_NVRTC="/nowhere/libnvrtc.so", EINKORN_NVCC="/nowhere/nvcc")  # fmt: skip
    assert done.returncode == 1
    assert "no compiler serves" in done.stderr
    assert "/nowhere/libnvrtc.so" in done.stderr
    assert "/nowhere/nvcc" in done.stderr


def test_errors_name_file_line_and_what_to_do(einkorn, tmp_path):
    source = tmp_path / "bad.cu"
    source.write_text('extern "C" __global__ void k() {\n  oops = 1;\n}\n')
    done = einkorn("jit", "compile", source, "--entry", "k", "--arch", "sm_90a")
    assert done.returncode == 1
    assert f'jit: {source}(2): error: identifier "oops" is undefined' in done.stderr
    assert "hint:" in done.stderr and "full log:" in done.stderr


def test_an_unknown_arch_lists_the_known(einkorn):
    done = einkorn("jit", "compile", ADD, "--entry", "add_constant<int, 4>", "--arch", "sm_99")
    assert done.returncode == 2
    assert "expected one of sm_" in done.stderr


def test_fail_on_spill(einkorn, tmp_path):
    source = tmp_path / "spilling.cu"
    source.write_text(SPILLING)
    words = ("jit", "compile", source, "--entry", "spilling", "--arch", "sm_90a")
    assert einkorn(*words).returncode == 0
    done = einkorn(*words, "--fail-on-spill")
    assert done.returncode == 1
    assert "--fail-on-spill: registers spilled\n  spilling for sm_90a: " in done.stderr
    host = einkorn("jit", "compile", source, "--cpu", "--fail-on-spill")
    assert host.returncode == 2
    assert "got --cpu" in host.stderr


def test_a_host_function_for_the_cpu(einkorn, tmp_path):
    source = tmp_path / "scale.c"
    source.write_text("void scale(float* p, long n) { for (long i = 0; i < n; ++i) p[i] *= 2; }\n")
    done = einkorn("jit", "compile", source, "--cpu", "--entry", "scale", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["image_bytes"] > 1000


def test_a_source_that_nvrtc_rejects_goes_to_nvcc(einkorn, tmp_path):
    doctor = json.loads(einkorn("doctor", "--json").stdout)
    nvcc = next(one for one in doctor["compilers"] if one["name"] == "nvcc")
    if nvcc["identity"] is None:
        pytest.skip(nvcc["reason"])
    source = tmp_path / "std.cu"
    source.write_text(
        "#include <type_traits>\ntemplate <class T> __global__ void k(T* p) {\n"
        "  *p = std::is_floating_point_v<T> ? 1 : 2;\n}\n"
    )
    done = einkorn("jit", "compile", source, "--entry", "k<float>", "--arch", "sm_90a", "--json")
    assert done.returncode == 0, done.stderr
    (document,) = json.loads(done.stdout)
    assert document["compiler"].startswith("nvcc")
    assert document["entries"][0]["lowered"] == "_Z1kIfEvPT_"
    (again,) = json.loads(
        einkorn(
            "jit", "compile", source, "--entry", "k<float>", "--arch", "sm_90a", "--json"
        ).stdout
    )
    assert "compiled" not in outcomes(again)


def test_explain_key_says_what_differs(einkorn, tmp_path):
    header = tmp_path / "h.cuh"
    source = tmp_path / "k.cu"
    source.write_text('#include "h.cuh"\nextern "C" __global__ void k(int* p) { *p = N; }\n')
    keys = []
    for value in (1, 2):
        header.write_text(f"#define N {value}\n")
        done = einkorn("jit", "compile", source, "--entry", "k", "--arch", "sm_90a", "--json")
        keys.append(json.loads(done.stdout)[0]["key"])
    done = einkorn("jit", "explain-key", keys[0][:12], keys[1][:12], "--json")
    assert json.loads(done.stdout)["differences"] == ["file h.cuh: content differs"]
    unknown = einkorn("jit", "explain-key", "zz", keys[1])
    assert unknown.returncode == 2
    assert "einkorn cache ls" in unknown.stderr
    assert 'first key: expected the beginning of one key of the cache, got "zz"' in unknown.stderr
    assert "second key: expected" in einkorn("jit", "explain-key", keys[0], "zz").stderr
    assert 'got ""' in einkorn("jit", "explain-key", keys[0], "").stderr


def test_verify_finds_damage(einkorn, tmp_path):
    compile_add(einkorn)
    assert einkorn("cache", "verify").returncode == 0
    (artifact,) = (tmp_path / "cache").rglob("artifact.bin")
    artifact.write_bytes(artifact.read_bytes()[:-1])
    done = einkorn("cache", "verify", "--json")
    assert done.returncode == 1
    assert len(json.loads(done.stdout)["unsound"]) == 1
    # The next use builds it again.
    (document,) = compile_add(einkorn)
    assert "compiled" in outcomes(document)


def test_stat_gc_clear(einkorn):
    for constant in range(3):
        compile_add(einkorn, constant)
    stat = json.loads(einkorn("cache", "stat", "--json").stdout)
    assert stat["entries"] == 3
    collected = json.loads(einkorn("cache", "gc", "--max", "1K", "--json").stdout)
    assert collected["removed"] == 3
    compile_add(einkorn)
    assert json.loads(einkorn("cache", "clear", "--json").stdout)["removed"] == 1
    assert "no kernel in the cache" in einkorn("cache", "ls").stdout


def test_a_folder_that_others_may_write_to_is_not_used(einkorn, tmp_path):
    (tmp_path / "cache").mkdir(mode=0o777)
    os.chmod(tmp_path / "cache", 0o777)
    done = einkorn("jit", "compile", ADD, "--entry", "add_constant<int, 4>", "--arch", "sm_90a")
    assert done.returncode == 0
    assert "others may write to it (mode 0777, expected 0700)" in done.stderr
    compile_add(einkorn, EINKORN_CACHE_TRUST="1")
    assert list((tmp_path / "cache").rglob("artifact.bin"))


def test_modes(einkorn):
    words = ("jit", "compile", ADD, "--entry", "add_constant<int, 4>", "--arch", "sm_90a")
    done = einkorn(*words, EINKORN_JIT="cache-only")
    assert done.returncode == 1
    assert "EINKORN_JIT=cache-only forbids compiling" in done.stderr
    compile_add(einkorn)
    assert einkorn(*words, EINKORN_JIT="cache-only").returncode == 0
    assert einkorn(*words, EINKORN_JIT="maybe").returncode != 0


def test_clangd_refuses_to_overwrite(einkorn, tmp_path):
    environment = clean_environment(**NO_GPU)

    def run(*words):
        return subprocess.run(
            [str(BIN), "clangd", "--output", str(tmp_path / ".clangd"), *words],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            cwd=SOURCE,
        )

    first = run()
    assert first.returncode == 0
    text = pathlib.Path(tmp_path, ".clangd").read_text()
    assert "CompileFlags" in text and str(SOURCE) in text
    # What it says is what it wrote, whatever the clangd here knows.
    (written,) = re.findall(r"--cuda-gpu-arch=(\w+)", text)
    told = f"device sources for {written}"
    if written != "sm_90a":
        told += " instead of sm_90a, which clangd "
    assert told in first.stdout
    again = run()
    assert again.returncode == 2
    assert "overwrite" in again.stderr
    assert run("--overwrite").returncode == 0


def test_groups_have_help(einkorn):
    for group in ("jit", "cache"):
        done = einkorn(group, "--help")
        assert done.returncode == 0
        assert "Usage: einkorn " + group in done.stdout
        assert einkorn(group).returncode == 2
    assert einkorn("jit", "compil").returncode == 2
    assert "compile" in einkorn("jit", "compil").stderr
    assert einkorn("help", "jit", "compile").returncode == 0
