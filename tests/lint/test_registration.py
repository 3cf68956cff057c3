"""Registration by list, proved with the linker: nothing is lost, nothing is forgotten.

A static library keeps every variant, also when sections that nothing uses are dropped; a line with
no file does not link and says which. (A file with no line is found by the linter: test_lint_tree.)
"""

import re
import subprocess

from building import CXX, SOURCE, built_arches, compile_flags, link_flags

PROGRAM = r"""
#include <cstdio>
#include <einkorn/registry.h>
int main() {
  const auto view = einkorn::registry();
  for (const einkorn::OpEntry& entry : view->ops()) {
    for (const einkorn::Variant* variant : entry.variants) std::puts(variant->id().c_str());
  }
}
"""
RMS_NORM_LIST = "ops/norm/rms_norm/variants.inc"


def compile_object(source, target, *first: str):
    command = [CXX, *first, *compile_flags(), "-c", str(source), "-o", str(target)]
    subprocess.run(command, check=True, capture_output=True, text=True)


def listed_ids() -> list[str]:
    built = built_arches()
    ids = []
    for include in re.findall(r'^#include "(.*)"', (SOURCE / "ops/variants.inc").read_text(), re.M):
        text = (SOURCE / include).read_text()
        op = re.search(r"^EK_OP\((\w+)\)", text, re.M)[1]
        pattern = r"^EK_VARIANT\((\w+), (\w+), (\w+), (\d+)\)"
        for owner, arch, design, version in re.findall(pattern, text, re.M):
            assert owner == op
            if arch in built:
                ids.append(f"{op}/{arch}/{design}_v{version}")
        ids.append(f"{op}/cpu/reference_v1")
    return ids


def test_a_static_library_keeps_every_variant(tmp_path):
    source = tmp_path / "list.cc"
    source.write_text(PROGRAM)
    compile_object(source, tmp_path / "list.o", "-ffunction-sections", "-fdata-sections")
    target = tmp_path / "list"
    command = [CXX, str(tmp_path / "list.o"), "-Wl,--gc-sections", *link_flags(), "-o", str(target)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    # EINKORN_PLUGINS of the caller would add to the list.
    done = subprocess.run([str(target)], env={}, check=True, capture_output=True, text=True)
    assert done.stdout.split() == listed_ids()
    assert len(listed_ids()) > 5


def test_a_line_with_no_file_does_not_link_and_names_it(tmp_path):
    overlay = tmp_path / "overlay"
    shadow = overlay / RMS_NORM_LIST
    shadow.parent.mkdir(parents=True)
    real = (SOURCE / RMS_NORM_LIST).read_text()
    shadow.write_text(real + "EK_VARIANT(rms_norm, cpu, ghost, 1)\n")
    # Its own build of the lists' reader; the library's is then not looked for.
    builtin = tmp_path / "builtin.o"
    compile_object(SOURCE / "src/registry/builtin.cc", builtin, "-I", str(overlay))
    source = tmp_path / "list.cc"
    source.write_text(PROGRAM)
    compile_object(source, tmp_path / "list.o")
    command = [CXX, str(tmp_path / "list.o"), str(builtin), *link_flags(), "-o"]
    done = subprocess.run([*command, str(tmp_path / "list")], capture_output=True, text=True)
    assert done.returncode != 0
    missing = set(re.findall(r"undefined (?:reference to|symbol:) [`']?([\w:]+)", done.stderr))
    assert missing == {"einkorn::rms_norm::cpu::ghost_v1"}
