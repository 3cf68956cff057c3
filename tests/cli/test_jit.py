"""einkorn jit, cache, pack, warmup, clangd: without a GPU, each test with a cache of its own."""

import json
import os
import pathlib
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
def einkorn(tmp_path):
    """Runs the command with a cache below tmp_path."""

    def run(*words, **variables):
        environment = clean_environment(
            **(NO_GPU | {"EINKORN_CACHE_DIR": str(tmp_path / "cache")} | variables)
        )
        return subprocess.run(
            [str(BIN), *map(str, words)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=tmp_path,
        )

    return run


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
                   "--explain")  # fmt: skip
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
    assert einkorn(*words, "--fail-on-spill").returncode == 1


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


def test_a_pack_serves_with_compiling_off_and_no_compiler(einkorn, tmp_path):
    manifest = tmp_path / "kernels.json"
    manifest.write_text(json.dumps({
        "kernels": [{"file": str(ADD), "instantiate": ["add_constant<int, 4>"]}],
        "problems": [{"op": "rms_norm", "problem": "rows=16 cols=512 dtype=bf16"}],
    }))  # fmt: skip
    pack = tmp_path / "shipped.pack"
    done = einkorn("pack", "--manifest", manifest, "--arch", "sm_80,sm_90a", "--output", pack,
                   "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kernels"] == 4
    index = json.loads((pack / "pack.json").read_text())
    assert {entry["arch"] for entry in index["kernels"]} == {"sm_80", "sm_90a"}

    nothing = {
        "EINKORN_JIT": "off",
        "EINKORN_PACK": str(pack),
        "EINKORN_NVRTC": "/nowhere/libnvrtc.so",
        "EINKORN_NVCC": "/nowhere/nvcc",
    }
    (document,) = compile_add(einkorn, 4, **nothing)
    assert outcomes(document) == ["miss", "hit"]
    missing = einkorn("jit", "compile", ADD, "--entry", "add_constant<int, 5>", "--arch", "sm_90a",
                      **nothing)  # fmt: skip
    assert missing.returncode == 1
    assert "add_constant<int, 5>" in missing.stderr
    refused = einkorn("pack", "--manifest", manifest, "--arch", "sm_80", "--output", pack)
    assert refused.returncode == 2
    assert "--overwrite" in refused.stderr


def test_a_kernel_that_does_not_compile_makes_no_pack(einkorn, tmp_path):
    (tmp_path / "bad.cu").write_text("__global__ void k() { oops; }")
    manifest = tmp_path / "kernels.json"
    manifest.write_text('{"kernels": [{"file": "bad.cu", "instantiate": ["k"]}]}')
    done = einkorn("pack", "--manifest", manifest, "--arch", "sm_90a", "--output", "p", "--json")
    assert done.returncode == 1
    assert "oops" in json.loads(done.stdout)["failed"][0]["error"]
    assert not (tmp_path / "p").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("p.")]


def test_warmup_fills_the_cache(einkorn, tmp_path):
    manifest = tmp_path / "kernels.json"
    manifest.write_text('{"problems": [{"op": "silu_mul", "problem": "rows=8 cols=256"}]}')
    first = json.loads(einkorn("warmup", manifest, "--arch", "sm_90a", "--json").stdout)
    assert first["kernels"] == 1 and first["failed"] == []
    assert json.loads(einkorn("cache", "stat", "--json").stdout)["entries"] == 1
    manifest.write_text('{"problems": [{"op": "silu_mul"}]}')
    done = einkorn("warmup", manifest, "--arch", "sm_90a")
    assert done.returncode == 2
    assert 'problem 0: expected a text "problem"' in done.stderr
    assert einkorn("warmup", manifest).returncode == 2


def test_run_without_a_gpu_compiles_and_says_so(einkorn):
    done = einkorn("jit", "run", ADD, "--entry", "add_constant<float, 1>", "--arg", "y=f32[n]",
                   "--arg", "x=f32[n]", "--arg", "n=1024", "--grid", "(n+255)/256",
                   "--check", "y == x + 1")  # fmt: skip
    assert done.returncode == 3
    assert "cuda:0" in done.stderr


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--arg", "x"), "expected name=value"),
        (("--arg", "x=f32"), "expected a number or dtype[sizes]"),
        (("--arg", "x=f31[4]"), "f31"),
        (("--arg", "x=f32[m]"), 'unknown name "m"'),
        (("--arg", "n=1", "--arg", "n=2"), "each name once"),
        (("--arg", "x=f32[4]:ones"), ":random, :zeros or :iota"),
        (("--grid", "(n+1"), "--grid"),
        (("--grid", "1-2"), "whole number from 0 on"),
        (("--block", "1,2,3,4"), "up to three sizes"),
        (("--check", "x + 1"), 'expected "left == right"'),
        (("--check", "x == (1"), "--check"),
    ],
)
def test_run_says_what_is_wrong_with_an_argument(einkorn, words, text):
    done = einkorn("jit", "run", ADD, "--entry", "add_constant<int, 4>", *words)
    assert done.returncode == 2, done.stderr
    assert text in done.stderr


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

    assert run().returncode == 0
    text = pathlib.Path(tmp_path, ".clangd").read_text()
    assert "CompileFlags" in text and str(SOURCE) in text
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
