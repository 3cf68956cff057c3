"""Mistakes in what einkorn jit compile and disasm are given, told before or after compiling."""

import json
import os

import pytest

KERNEL = "template <class T, int N> __global__ void k(T* y, const T* x, int n) {}\n"
HOST = 'extern "C" float addf(float a, float b) { return a + b; }\n'


@pytest.fixture
def compile_(alone, tmp_path):
    (tmp_path / "my.cuh").write_text(KERNEL)
    (tmp_path / "c.cc").write_text(HOST)

    def run(*words, **variables):
        return alone("jit", "compile", *words, **variables)

    return run


KERNEL_HERE = ("my.cuh", "--entry", "k<int, 1>")
MISTAKES = {
    "no kernel named": (("my.cuh",), "--entry: expected a kernel of my.cuh, got none",
                        "it has k<class T, int N>"),
    "an empty one": (("my.cuh", "--entry", ""), "got an empty text", "it has k<class T, int N>"),
    "none to name": (("c.cc",), "--entry: expected a kernel of c.cc", "--cpu compiles host code"),
    "an empty C function": (("c.cc", "--cpu", "--entry", ""), "expected the name of a C function",
                            ""),
    "file": (("my2.cuh", "--entry", "k"), 'expected a file or a shipped source, got "my2.cuh"',
             "did you mean my.cuh?"),
    "shipped file": (("ops/norm/rms_norm/smxx/row_v1.cu", "--entry", "k"), "expected a file",
                     "did you mean ops/norm/rms_norm/smxx/rows_v1.cu?"),
    "folder": ((".", "--entry", "k"), 'file: expected a file, got ".", which is a folder', ""),
    "arch": ((*KERNEL_HERE, "--arch", "sm90a"), '--arch: expected one such as sm_90a, got "sm90a"',
             "did you mean sm_90a?"),
    "empty arch": ((*KERNEL_HERE, "--arch", "sm_80, "), 'got ""', ""),
    "arch of a GPU": (("c.cc", "--cpu", "--arch", "sm_90a"), "--arch: expected a CPU with --cpu",
                      "x86-64-v3"),
    "compiler": ((*KERNEL_HERE, "--compiler", "nvc"),
                 "--compiler: expected one of nvrtc, nvrtc-worker, nvcc, got 'nvc'",
                 "did you mean 'nvcc'?"),
    "compiler of the host": (("c.cc", "--entry", "addf", "--compiler", "c++"), "for kernels",
                             "jit compile --cpu compiles host code"),
    "compiler of kernels": (("c.cc", "--cpu", "--compiler", "nvcc"),
                            "--compiler: expected c++ with --cpu, got 'nvcc'", ""),
    "include folder": ((*KERNEL_HERE, "-I", "nofolder"),
                       '--include: expected a folder, got "nofolder"', ""),
    "time limit": ((*KERNEL_HERE, "--time-limit", "-3"),
                   '--time-limit: expected a number above 0, got "-3"', ""),
    "no time": ((*KERNEL_HERE, "--time-limit", "0"), "expected a number above 0", ""),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(compile_, tmp_path, mistake):
    words, *texts = MISTAKES[mistake]
    done = compile_(*words)
    assert done.returncode == 2, done.stderr
    for text in texts:
        assert text in done.stderr
    assert not (tmp_path / "cache").exists()


def test_a_fifo_is_not_waited_for(compile_, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    done = compile_("fifo", "--entry", "k")
    assert done.returncode == 2
    assert 'file: expected a file, got "fifo", which is no regular file' in done.stderr


def test_host_code_for_the_gpu_is_told_how_it_compiles(compile_):
    done = compile_("c.cc", "--entry", "addf", "--arch", "sm_90a")
    assert done.returncode == 1
    assert "--cpu" in done.stderr


@pytest.mark.parametrize("compiler", ["nvrtc", "nvrtc-worker"])
def test_compilers_that_the_help_names(compile_, compiler):
    done = compile_(*KERNEL_HERE, "--arch", "sm_90a", "--compiler", compiler, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["compiler"].startswith("nvrtc")


def test_the_time_limit_of_the_environment(alone, compile_):
    bad = {"EINKORN_JIT_TIMEOUT": "abc"}
    done = compile_("c.cc", "--cpu", **bad)
    assert done.returncode == 2
    assert 'EINKORN_JIT_TIMEOUT: expected seconds above 0, got "abc"' in done.stderr
    doctor = alone("doctor", "--json", **bad)
    assert doctor.returncode == 1
    assert [one for one in json.loads(doctor.stdout)["problems"] if "EINKORN_JIT_TIMEOUT" in one]
    workers = json.loads(alone("doctor", "--json", EINKORN_JIT_WORKERS="many").stdout)
    assert [one for one in workers["problems"] if "EINKORN_JIT_WORKERS" in one]
    short = compile_("c.cc", "--cpu", EINKORN_JIT_TIMEOUT="0.001")
    assert short.returncode == 1
    assert "still compiling after 0.001 s, ended" in short.stderr
    assert compile_("c.cc", "--cpu", "--time-limit", "100", EINKORN_JIT_TIMEOUT="0.001"
                    ).returncode == 0  # fmt: skip


def test_blanks_between_archs(compile_):
    done = compile_(*KERNEL_HERE, "--arch", "sm_80, sm_90a", "--json")
    assert done.returncode == 0, done.stderr
    assert [one["arch"] for one in json.loads(done.stdout)] == ["sm_80", "sm_90a"]


def test_what_compiled_is_told_beside_what_did_not(compile_, tmp_path):
    (tmp_path / "new.cu").write_text(
        "#if __CUDA_ARCH__ < 900\n#error too old\n#endif\n"
        'extern "C" __global__ void k(int* p) { *p = 1; }\n'
    )
    words = ("new.cu", "--entry", "k", "--arch", "sm_80,sm_86,sm_90a")
    done = compile_(*words, "--json")
    assert done.returncode == 1
    assert [one["arch"] for one in json.loads(done.stdout)] == ["sm_90a"]
    for arch in ("sm_80", "sm_86"):
        assert f"arch: {arch}" in done.stderr
    text = compile_(*words, "--explain")
    assert "sm_90a  k" in text.stdout
    assert text.stdout.count("failed: ") >= 2


def test_errors_name_a_key(compile_, tmp_path):
    keys = []
    for body in ("oops;", "oops2;", "oops;"):
        (tmp_path / "bad.cu").write_text(f"__global__ void k() {{ {body} }}\n")
        done = compile_("bad.cu", "--entry", "k", "--arch", "sm_90a")
        assert done.returncode == 1
        keys.append(done.stderr.partition("  key: ")[2].partition("\n")[0])
    assert keys[0] == keys[2] != keys[1]
    assert len(keys[0]) == 12 and int(keys[0], 16) >= 0


def test_disasm_speaks_of_files_and_keys(alone, compile_):
    done = alone("jit", "disasm", "nothing")
    assert done.returncode == 2
    assert 'expected a file, or the beginning of a key of the cache, got "nothing"' in done.stderr
    (host,) = json.loads(compile_("c.cc", "--cpu", "--json").stdout)
    done = alone("jit", "disasm", host["key"])
    assert done.returncode == 2
    assert "key: expected that of a kernel, got " + host["key"][:12] in done.stderr
    done = alone("jit", "disasm", *KERNEL_HERE, "--arch", "sm_80,sm_90a")
    assert done.returncode == 2
    assert "--arch: expected one to disassemble, got 2" in done.stderr
