"""einkorn pack and warmup, and the manifests they read: without a GPU."""

import json

import pytest
from conftest import SOURCE

ADD = SOURCE / "examples" / "jit_kernel" / "add_constant.cuh"
KERNEL = "template <class T, int N> __global__ void k(T* y, const T* x, int n) {}\n"


def test_a_pack_serves_with_compiling_off_and_no_compiler(alone, tmp_path):
    manifest = tmp_path / "kernels.json"
    manifest.write_text(json.dumps({
        "kernels": [{"file": str(ADD), "instantiate": ["add_constant<int, 4>"]}],
        "problems": [{"op": "rms_norm", "problem": "rows=16 cols=512 dtype=bf16"}],
    }))  # fmt: skip
    pack = tmp_path / "shipped.pack"
    done = alone("pack", "--manifest", manifest, "--arch", "sm_80,sm_90a", "--output", pack,
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
    done = alone("jit", "compile", ADD, "--entry", "add_constant<int, 4>", "--arch", "sm_90a",
                 "--json", **nothing)  # fmt: skip
    assert done.returncode == 0, done.stderr
    (document,) = json.loads(done.stdout)
    assert [step["outcome"] for step in document["trace"]] == ["miss", "hit"]
    missing = alone("jit", "compile", ADD, "--entry", "add_constant<int, 5>", "--arch", "sm_90a",
                      **nothing)  # fmt: skip
    assert missing.returncode == 1
    assert "add_constant<int, 5>" in missing.stderr
    refused = alone("pack", "--manifest", manifest, "--arch", "sm_80", "--output", pack)
    assert refused.returncode == 2
    assert "--overwrite" in refused.stderr


def test_a_kernel_that_does_not_compile_makes_no_pack(alone, tmp_path):
    (tmp_path / "bad.cu").write_text("__global__ void k() { oops; }")
    manifest = tmp_path / "kernels.json"
    manifest.write_text('{"kernels": [{"file": "bad.cu", "instantiate": ["k"]}]}')
    done = alone("pack", "--manifest", manifest, "--arch", "sm_90a", "--output", "p", "--json")
    assert done.returncode == 1
    assert "oops" in json.loads(done.stdout)["failed"][0]["error"]
    assert not (tmp_path / "p").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("p.")]


def test_warmup_fills_the_cache(alone, tmp_path):
    manifest = tmp_path / "kernels.json"
    manifest.write_text('{"problems": [{"op": "silu_mul", "problem": "rows=8 cols=256"}]}')
    first = json.loads(alone("warmup", manifest, "--arch", "sm_90a", "--json").stdout)
    assert first["kernels"] == 1 and first["failed"] == []
    assert json.loads(alone("cache", "stat", "--json").stdout)["entries"] == 1
    manifest.write_text('{"problems": [{"op": "silu_mul"}]}')
    done = alone("warmup", manifest, "--arch", "sm_90a")
    assert done.returncode == 2
    assert 'problem 0: expected a text "problem"' in done.stderr
    assert alone("warmup", manifest).returncode == 2


def write_manifest(tmp_path, *kernels, **rest):
    (tmp_path / "kernels").mkdir(exist_ok=True)
    (tmp_path / "kernels" / "my.cuh").write_text(KERNEL)
    path = tmp_path / "kernels" / "manifest.json"
    path.write_text(json.dumps({"kernels": list(kernels)} | rest))
    return path


GOOD = {"file": "my.cuh", "instantiate": "k<int, 1>", "arch": "sm_90a"}


def test_overwrite_replaces_packs_alone(alone, tmp_path):
    manifest = write_manifest(tmp_path, GOOD)
    kept = tmp_path / "important" / "src" / "x"
    kept.parent.mkdir(parents=True)
    kept.write_text("precious")
    for output in (tmp_path / "important", kept):
        done = alone("pack", "--manifest", manifest, "--output", output, "--overwrite")
        assert done.returncode == 2, done.stderr
        assert f"--output: expected a new or empty folder or a pack, got {output}" in done.stderr
    assert kept.read_text() == "precious"
    for words in ((), ("--overwrite",), ("--overwrite",)):
        done = alone("pack", "--manifest", manifest, "--output", "my.pack", *words)
        assert done.returncode == 0, done.stderr
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("my.pack.")]


@pytest.mark.parametrize("option", ["--output", "--manifest"])
def test_empty_paths_are_bad_usage(alone, tmp_path, option):
    given = {"--output": "my.pack", "--manifest": write_manifest(tmp_path, GOOD)} | {option: ""}
    words = [word for pair in given.items() for word in pair]
    done = alone("pack", *words)
    assert done.returncode == 2
    assert f"{option}: expected a path, got an empty text" in done.stderr
    assert not (tmp_path / "my.pack").exists()


def test_kernels_that_name_their_arch_need_none(alone, tmp_path):
    done = alone("warmup", write_manifest(tmp_path, GOOD))
    assert done.returncode == 0, done.stderr
    bare = {key: value for key, value in GOOD.items() if key != "arch"}
    done = alone("warmup", write_manifest(tmp_path, GOOD, bare))
    assert done.returncode == 2
    assert "kernel 1: --arch: expected one" in done.stderr


def test_what_is_ready_and_compiled_is_counted(alone, tmp_path):
    bad = GOOD | {"instantiate": "k<oops, 1>"}
    done = alone("warmup", write_manifest(tmp_path, GOOD, bad))
    assert done.returncode == 1
    assert "1 kernel ready, 1 of them compiled now; 1 failed" in done.stdout
    done = alone("warmup", write_manifest(tmp_path, GOOD, bad), "--json")
    document = json.loads(done.stdout)
    assert (document["kernels"], document["compiled"], len(document["failed"])) == (2, 0, 1)


MISTAKES = {
    "key of a kernel": (GOOD | {"optons": ["-x"]}, "kernel 0: key: expected one of file, ",
                        "did you mean 'options'?"),
    "another": (GOOD | {"archs": "sm_80"}, "got 'archs'", "did you mean 'arch'?"),
    "no such file": (GOOD | {"file": "my2.cuh"}, "kernel 0: file: expected a file or a shipped",
                     "did you mean {folder}/my.cuh?"),
    "a folder": (GOOD | {"file": "."}, "kernel 0: file: ", "which is a folder"),
    "arch": (GOOD | {"arch": "sm90a"}, 'kernel 0: arch: expected one such as sm_90a, got "sm90a"',
             "did you mean sm_90a?"),
    "include folder": (GOOD | {"include_dirs": ["no"]}, "kernel 0: include_dirs: expected a folder",
                       "{folder}/no"),
    "no kernel": (GOOD | {"instantiate": [""]}, 'kernel 0: expected kernels in "instantiate"', ""),
    "no object": (3, "kernel 0: expected an object", ""),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_in_a_kernel(alone, tmp_path, mistake):
    kernel, *texts = MISTAKES[mistake]
    done = alone("warmup", write_manifest(tmp_path, kernel))
    assert done.returncode == 2
    for text in texts:
        assert text.format(folder=tmp_path / "kernels") in done.stderr
    assert not list((tmp_path / "cache").rglob("artifact.bin"))


def test_mistakes_in_the_whole(alone, tmp_path):
    manifest = write_manifest(tmp_path, GOOD, problem=[])
    done = alone("warmup", manifest)
    assert done.returncode == 2
    assert "key: expected one of kernels, problems, got 'problem'" in done.stderr
    manifest.write_text('{"kernels": [\n  {"file": "my.cuh",}\n]}')
    done = alone("warmup", manifest)
    assert done.returncode == 2
    assert f"manifest {manifest}: expected JSON: line 2, column" in done.stderr
    manifest.write_text('{"problems": [{"op": "rmsnorm", "problem": "rows=1"}]}')
    done = alone("warmup", manifest)
    assert done.returncode == 2
    assert "problem 0: op: expected one of" in done.stderr
    assert "did you mean 'rms_norm'?" in done.stderr
