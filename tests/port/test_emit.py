"""A closure written as a folder: layout, includes, licences, record, and what is never done."""

import json
import pathlib
import shutil
import subprocess

import port_trees
import pytest
from einkorn.port.emit.unit import EmitReport, emit
from einkorn.port.errors import PortError

FILES = {
    "LICENSE": "Permission is hereby granted, free of charge, ... without restriction\n",
    "NOTICE": "Whose it is.\n",
    "README.md": "Not code.\n",
    "src/ops/scale.cu": """\
        #include <cuda_runtime.h>
        #include "common.h"
        #include "detail/kernel.cuh"

        namespace up::ops {
        void scale(float* x, int n) { kernels::scale<<<blocks(n), 256>>>(x, n); }
        }
        """,
    "src/ops/detail/kernel.cuh": """\
        #pragma once
        #include <ops/detail/math.cuh>
        namespace up::ops::kernels {
        __device__ inline float unused_helper(float x) {
          return x * 3;
        }
        __global__ inline void scale(float* x, int n) {
          int i = blockIdx.x * 256 + threadIdx.x;
          if (i < n) x[i] = up::twice(x[i]);
        }
        }
        """,
    "src/ops/detail/math.cuh": """\
        #pragma once
        namespace up {
        __device__ inline float twice(float x) { return x + x; }
        }
        """,
    "src/common.h": """\
        #pragma once
        namespace up { inline int blocks(int n) { return (n + 255) / 256; } }
        """,
    "src/other.h": "namespace up { int other(); }\n",
}


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    port_trees.write(tmp_path / "repo", FILES)
    return tmp_path / "repo"


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    return {
        one.relative_to(folder).as_posix(): one.read_bytes()
        for one in folder.rglob("*")
        if one.is_file()
    }


def actions(report: EmitReport) -> dict[str, str]:
    return {one.path: one.action for one in report.changes}


def test_a_plan_writes_nothing(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    report = emit(root, "src/ops/scale.cu", tmp_path / "out", {"up": "mine"})
    assert not (tmp_path / "out").exists()
    assert actions(report) == {
        "LICENSE": "create",
        "NOTICE": "create",
        "common.h": "create",
        "ops/detail/kernel.cuh": "create",
        "ops/detail/math.cuh": "create",
        "ops/scale.cu": "create",
    }
    text = report.text()
    assert "-namespace up::ops {\n+namespace mine::ops {" in text
    assert "external, not copied:\n  cuda" in text
    assert "nothing was written" in text


def test_includes_and_namespaces(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out"
    report = emit(root, "src/ops/scale.cu", out, {"up": "mine::deep"}, write=True)
    scale = (out / "ops/scale.cu").read_text()
    assert scale.splitlines()[:5] == [
        "#include <cuda_runtime.h>",
        '#include "../common.h"',
        '#include "detail/kernel.cuh"',
        "",
        "namespace mine::deep::ops {",
    ]
    kernel = (out / "ops/detail/kernel.cuh").read_text()
    assert '#include "math.cuh"' in kernel
    assert "mine::deep::twice(x[i])" in kernel
    assert report.units == ["ops/scale.cu"]
    # Nothing but includes and names differs: every line is where it was.
    for path, source in (("ops/scale.cu", "src/ops/scale.cu"), ("common.h", "src/common.h")):
        assert len((out / path).read_text().splitlines()) == len(
            (root / source).read_text().splitlines()
        )


def test_of_a_function(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    by_file = emit(root, "src/ops/scale.cu", tmp_path / "out")
    by_name = emit(root, "up::ops::scale", tmp_path / "out")
    assert actions(by_name) == actions(by_file)


def test_record(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out"
    emit(root, "src/ops/scale.cu", out, {"up": "mine"}, write=True)
    text = (out / "provenance.json").read_text()
    data = json.loads(text)
    assert str(tmp_path) not in text
    assert data["repository"]["licence"] == "MIT"
    assert data["namespaces"] == {"up": "mine"}
    assert data["external"] == ["cuda"]
    (common,) = [one for one in data["files"] if one["path"] == "common.h"]
    digest = subprocess.run(["sha256sum", root / "src/common.h"], capture_output=True, text=True)
    assert common["source"] == "src/common.h"
    assert common["sha256"] == digest.stdout.split()[0]
    assert common["sha256"] != common["written_sha256"]


def test_twice_gives_the_same_bytes(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out"
    emit(root, "src/ops/scale.cu", out, {"up": "mine"}, write=True)
    before = contents(out)
    report = emit(root, "src/ops/scale.cu", out, {"up": "mine"}, write=True)
    assert set(actions(report).values()) == {"same"}
    assert contents(out) == before


@pytest.mark.parametrize("prune", [False, True])
def test_over_its_own_output(root: pathlib.Path, tmp_path: pathlib.Path, prune: bool) -> None:
    out = tmp_path / "out"
    emit(root, "src/ops/scale.cu", out, {"up": "mine"}, write=True, prune=prune)
    before = contents(out)
    emit(out, "ops/scale.cu", out, {"up": "mine"}, write=True, prune=prune)
    assert contents(out) == before
    emit(out, "ops/scale.cu", tmp_path / "copy", {"up": "mine"}, write=True, prune=prune)
    assert contents(tmp_path / "copy") == before


def test_pruned_lines_keep_their_numbers(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out"
    emit(root, "src/ops/scale.cu", out, prune=True, write=True)
    was = (root / "src/ops/detail/kernel.cuh").read_text().splitlines()
    now = (out / "ops/detail/kernel.cuh").read_text().splitlines()
    assert now[3:6] == ["", "", ""] and was[3].startswith("__device__ inline float unused_helper")
    assert now[6:] == was[6:]


def test_what_is_named_anywhere_is_not_pruned(tmp_path: pathlib.Path) -> None:
    kernel = FILES["src/ops/detail/kernel.cuh"] + "#define MAYBE(x) unused_helper(x)\n"
    port_trees.write(tmp_path / "repo", {**FILES, "src/ops/detail/kernel.cuh": kernel})
    emit(tmp_path / "repo", "src/ops/scale.cu", tmp_path / "out", prune=True, write=True)
    assert "unused_helper(float x)" in (tmp_path / "out/ops/detail/kernel.cuh").read_text()


def test_foreign_and_edited_files_stay(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "common.h").write_text("mine\n")
    (out / "beside.txt").write_text("mine too\n")
    report = emit(root, "src/ops/scale.cu", out)
    assert actions(report)["common.h"] == "foreign"
    assert [one.name for one in report.collisions if one.kind == "foreign"] == ["common.h"]
    with pytest.raises(PortError, match=r"common\.h"):
        emit(root, "src/ops/scale.cu", out, write=True)
    assert contents(out) == {"common.h": b"mine\n", "beside.txt": b"mine too\n"}

    emit(root, "src/ops/scale.cu", out, write=True, force=True)
    assert (out / "beside.txt").read_text() == "mine too\n"
    assert (out / "common.h").read_text() != "mine\n"
    (out / "common.h").write_text("edited\n")
    with pytest.raises(PortError, match=r"common\.h"):
        emit(root, "src/ops/scale.cu", out, write=True)


def test_what_changed_upstream_is_an_update(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out"
    emit(root, "src/ops/scale.cu", out, write=True)
    (root / "src/common.h").write_text("#pragma once\nnamespace up { int blocks(int); }\n")
    (root / "src/ops/detail/kernel.cuh").write_text("namespace up::ops::kernels {}\n")
    report = emit(root, "src/ops/scale.cu", out, write=True)
    assert actions(report)["common.h"] == "update"
    assert actions(report)["ops/detail/math.cuh"] == "stale"
    assert (out / "ops/detail/math.cuh").exists()


def test_links_are_not_followed(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    out, outside = tmp_path / "out", tmp_path / "outside"
    outside.mkdir()
    out.mkdir()
    (out / "ops").symlink_to(outside)
    (out / "common.h").symlink_to(tmp_path / "target.h")
    with pytest.raises(PortError, match="expected folders, got 'ops', a link"):
        emit(root, "src/ops/scale.cu", out, write=True, force=True)
    assert sorted(one.name for one in out.iterdir()) == ["common.h", "ops"]
    assert not list(outside.iterdir()) and not (tmp_path / "target.h").exists()
    link = tmp_path / "link"
    link.symlink_to(outside)
    with pytest.raises(PortError, match="a link"):
        emit(root, "src/ops/scale.cu", link)


@pytest.mark.parametrize("where", ["", "out", "src"])
def test_nothing_is_written_into_the_surveyed_folder(root: pathlib.Path, where: str) -> None:
    with pytest.raises(PortError, match="outside of the surveyed one"):
        emit(root, "src/ops/scale.cu", root / where, write=True)


def test_wrong_entries(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    for entry in ("src/missing.cu", "nothing_of_this_name"):
        with pytest.raises(PortError):
            emit(root, entry, tmp_path / "out")
    (tmp_path / "file").write_text("")
    with pytest.raises(PortError, match="a folder, new or of an earlier run"):
        emit(root, "src/ops/scale.cu", tmp_path / "file")


def test_odd_files_keep_their_bytes(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    latin = b"// caf\xe9\r\nnamespace up { int blocks(int n); }\r\n"
    (root / "src/common.h").write_bytes(latin)
    report = emit(root, "src/ops/scale.cu", tmp_path / "same", write=True)
    assert (tmp_path / "same/common.h").read_bytes() == latin
    assert any("not UTF-8" in one.what for one in report.gaps)
    emit(root, "src/ops/scale.cu", tmp_path / "new", {"up": "mine"}, write=True)
    assert (tmp_path / "new/common.h").read_bytes() == latin.replace(
        b"namespace up", b"namespace mine"
    )


@pytest.mark.parametrize("prune", [False, True])
def test_the_folder_compiles(root: pathlib.Path, tmp_path: pathlib.Path, prune: bool) -> None:
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if nvcc is None:
        pytest.skip("nvcc is not installed, and NVRTC takes no unit with host code")
    out = tmp_path / "out"
    report = emit(root, "src/ops/scale.cu", out, {"up": "mine::deep"}, write=True, prune=prune)
    done = subprocess.run(
        [nvcc, "-ptx", "-arch=compute_90", out / report.units[0], "-o", tmp_path / "x.ptx"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_odd_trees(tmp_path: pathlib.Path) -> None:
    (tmp_path / "secret.h").write_text("int secret;\n")
    root = tmp_path / "repo"
    port_trees.write(
        root,
        {
            "k.cu": '#include "a.h"\n#include "gone.h"\n#include "link.h"\nvoid f() {}\n',
            "a.h": '#include "b.h"\n',
            "b.h": '#include "a.h"\n#include <vendor/x.h>\n',
        },
    )
    (root / "link.h").symlink_to(tmp_path / "secret.h")
    (root / "loop").symlink_to(root)
    report = emit(root, "k.cu", tmp_path / "out", write=True)
    assert actions(report) == {"a.h": "create", "b.h": "create", "k.cu": "create"}
    assert any("gone.h" in one.what for one in report.gaps)
    assert "vendor" in report.external
    assert json.loads((tmp_path / "out/provenance.json").read_text())["repository"]["licence"] == ""
