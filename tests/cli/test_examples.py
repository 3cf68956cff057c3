"""The examples run and print what they promise; plugins that do not fit are refused by name."""

import os
import pathlib
import subprocess

import pytest
from conftest import BIN, NO_GPU, SOURCE, clean_environment

EXAMPLES = BIN.parent / "examples"
CXX = os.environ.get("EINKORN_CXX", "c++")


def run_example(name: str, *words: str) -> str:
    done = subprocess.run(
        [str(EXAMPLES / name), *words],
        env=clean_environment(**NO_GPU),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def compile_plugin(folder: pathlib.Path, body: str) -> str:
    source = folder / "plugin.cc"
    source.write_text(f"#include <einkorn/registry.h>\n{body}", encoding="utf-8")
    target = folder / "plugin.so"
    include = ["-I", str(SOURCE / "include"), "-isystem", str(SOURCE / ".deps" / "include")]
    command = [CXX, "-std=c++20", "-fPIC", "-shared", *include, str(source), "-o", str(target)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return str(target)


def test_rms_norm_call():
    lines = run_example("rms_norm_call").splitlines()
    # 1, 2, 3, 4 over sqrt(7.5), and 5, 6, 7, 8 over sqrt(43.5).
    assert lines[0] == "0.3651 0.7303 1.0954 1.4606"
    assert lines[1] == "0.7581 0.9097 1.0613 1.2130"
    assert lines[2] == "rms_norm: y dim 1: expected cols = 4 (from x), got 5"


def test_outside_op_is_explained_and_run():
    out = run_example("outside_op")
    assert "n=4\n  cpu/simple_v1: chosen\n  cpu/reference_v1: would serve\n" in out
    assert "  cpu/simple_v1: n 100000000 > 16777216, too long for one thread\n" in out
    assert "  cpu/reference_v1: chosen\n" in out
    sums = [line for line in out.splitlines() if line.startswith("1.5 * ")]
    assert len(sums) == 4
    for line in sums:
        x, y = float(line.split()[2]), float(line.split()[-1])
        assert y == pytest.approx(1.5 * x + 0.25, abs=2e-4)


def test_plugin_is_listed_explained_and_checked(einkorn):
    plugin = {"EINKORN_PLUGINS": str(EXAMPLES / "plugin.so"), **NO_GPU}
    listed = einkorn("list", **plugin)
    assert listed.status == 0, listed.err
    assert "scale_add (example): y = scale * x + shift" in listed.out
    assert "rms_norm (norm)" in listed.out

    explained = einkorn("explain", "scale_add", "n=5", "--device", "cpu", "--json", **plugin)
    assert explained.status == 0, explained.err
    assert explained.json()["chosen"] == "scale_add/cpu/simple_v1"

    checked = einkorn("check", "scale_add", "--device", "cpu", "--json", **plugin)
    assert checked.status == 0, checked.err
    results = checked.json()["results"]
    assert {r["variant"] for r in results} == {
        "scale_add/cpu/simple_v1",
        "scale_add/cpu/reference_v1",
    }
    assert {r["status"] for r in results} <= {"pass", "skipped"}
    assert any(r["status"] == "pass" for r in results)


def test_plugins_are_not_there_unasked(einkorn):
    assert "scale_add" not in einkorn("list", **NO_GPU).out


def test_missing_file(einkorn, tmp_path):
    path = str(tmp_path / "nothing.so")
    done = einkorn("list", EINKORN_PLUGINS=path)
    assert done.status != 0
    assert f"EINKORN_PLUGINS: {path}: expected a loadable shared object, got: " in done.err
    assert "hint: paths are separated by ':'; correct or unset the variable" in done.err


def test_two_plugins_of_one_op(einkorn):
    path = str(EXAMPLES / "plugin.so")
    done = einkorn("list", EINKORN_PLUGINS=f"{path}:{path}")
    assert done.status != 0
    assert "register_op: name: expected a new one, got 'scale_add', which exists" in done.err


def test_other_layout(einkorn, tmp_path):
    body = """
    extern "C" const einkorn::Plugin* einkorn_plugin_v1() {
      static const einkorn::Plugin plugin{
          sizeof(einkorn::OpDef) + 8, sizeof(einkorn::Variant), "old",
          [](einkorn::PluginHost&) {}};
      return &plugin;
    }
    """
    path = compile_plugin(tmp_path, body)
    done = einkorn("list", EINKORN_PLUGINS=path)
    assert done.status != 0
    assert f"EINKORN_PLUGINS: {path}: expected a plugin for this einkorn" in done.err
    assert "hint: rebuild it against these headers" in done.err


def test_no_entry(einkorn, tmp_path):
    path = compile_plugin(tmp_path, "int unused;")
    done = einkorn("list", EINKORN_PLUGINS=path)
    assert done.status != 0
    assert "expected a function einkorn_plugin_v1, got none" in done.err
    assert 'hint: export it with extern "C"' in done.err


def test_use_of_the_registry_while_loading(einkorn, tmp_path):
    body = """
    extern "C" const einkorn::Plugin* einkorn_plugin_v1() {
      static const einkorn::Plugin plugin{
          .name = "eager", .add = [](einkorn::PluginHost&) { einkorn::registry(); }};
      return &plugin;
    }
    """
    done = einkorn("list", EINKORN_PLUGINS=compile_plugin(tmp_path, body))
    assert done.status != 0
    assert "registry: expected no use by a plugin that is being loaded" in done.err


def test_jit_kernel_compiles_without_a_gpu():
    out = run_example("jit_kernel", str(SOURCE / "examples" / "jit_kernel" / "add_constant.cuh"))
    assert out.startswith("add_constant<int, 4>: ")
    assert out.endswith(" registers, 0 bytes spilled\n")
