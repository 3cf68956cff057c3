"""The tree is clean, and every rule finds the fault that is planted for it."""

import json
import pathlib
import shutil

import pytest
from building import SOURCE
from lint import documents, frozen, knowledge, ops, readme_tables, sources
from lint.tree import Tree
from lint_tree import RULES, problems

OP = "ops/norm/rms_norm"


def test_this_tree_is_clean():
    assert problems(Tree(SOURCE)) == []


@pytest.fixture(scope="module")
def pristine(tmp_path_factory) -> pathlib.Path:
    """A copy of the tree without history."""
    copy = tmp_path_factory.mktemp("pristine")
    for name in Tree(SOURCE).files:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SOURCE / name, copy / name)
    return copy


class Planted:
    """A tree to plant faults in."""

    def __init__(self, root: pathlib.Path, pristine: pathlib.Path):
        self.root = root
        self.pristine = pristine

    def write(self, name: str, text: str):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def replace(self, name: str, old: str, new: str):
        text = (self.root / name).read_text(encoding="utf-8")
        assert old in text, f"{name} no longer holds {old!r}: the test plants nothing"
        self.write(name, text.replace(old, new))

    def append(self, name: str, text: str):
        self.write(name, (self.root / name).read_text(encoding="utf-8") + text)

    def remove(self, name: str):
        (self.root / name).unlink()

    def copy(self, old: str, new: str):
        self.write(new, (self.root / old).read_text(encoding="utf-8"))

    def found(self, rule) -> list[str]:
        """What the planted fault adds; faults that the tree has already are another test's."""
        before = {str(problem) for problem in rule(Tree(self.pristine))}
        return [text for text in map(str, rule(Tree(self.root))) if text not in before]


@pytest.fixture
def planted(pristine, tmp_path) -> Planted:
    copy = tmp_path / "tree"
    shutil.copytree(pristine, copy)
    return Planted(copy, pristine)


def one(found: list[str], *parts: str) -> bool:
    """Exactly one problem, and it says all of this."""
    assert len(found) == 1, found
    for part in parts:
        assert part in found[0], found
    return True


def test_the_copy_is_as_clean_as_the_tree(pristine):
    assert problems(Tree(pristine)) == problems(Tree(SOURCE))


def test_every_rule_is_tested():
    """By name of its function, in this file."""
    text = pathlib.Path(__file__).read_text(encoding="utf-8")
    for name, rule in RULES.items():
        module = rule.__module__.rsplit(".", 1)[1]
        assert f"{module}.{rule.__name__}" in text, name


# Lists and files


def test_file_without_a_line(planted):
    planted.copy(f"{OP}/cpu/rows_v1.cc", f"{OP}/cpu/rows_v2.cc")
    found = planted.found(ops.check_lists)
    assert one(found, "rows_v2.cc: no line names it; add EK_VARIANT(rms_norm, cpu, rows, 2) to")


def test_kernel_without_a_line(planted):
    planted.copy(f"{OP}/sm90/bulk_v1.cu", f"{OP}/sm90/bulk_v2.cu")
    assert one(planted.found(ops.check_lists), "bulk_v2.cu: no line names it")


def test_line_without_a_file(planted):
    planted.append(f"{OP}/variants.inc", "EK_VARIANT(rms_norm, cpu, ghost, 1)\n")
    found = planted.found(ops.check_lists)
    assert one(found, f"{OP}/variants.inc:", "cpu/ghost_v1.cc: listed, but no such file")


def test_line_without_a_kernel(planted):
    planted.remove(f"{OP}/sm90/bulk_v1.cu")
    assert one(planted.found(ops.check_lists), "sm90/bulk_v1.cu: listed, but no such file")


def test_line_twice(planted):
    planted.append(f"{OP}/variants.inc", "EK_VARIANT(rms_norm, cpu, rows, 1)\n")
    assert one(planted.found(ops.check_lists), "cpu/rows_v1 is listed twice")


def test_line_of_an_unknown_arch(planted):
    planted.append(f"{OP}/variants.inc", "EK_VARIANT(rms_norm, sm91, rows, 1)\n")
    assert one(planted.found(ops.check_lists), "sm91 is no row of ops/arches.inc")


def test_line_for_another_op(planted):
    planted.replace(f"{OP}/variants.inc", "EK_VARIANT(rms_norm, cpu", "EK_VARIANT(silu_mul, cpu")
    assert one(planted.found(ops.check_lists), "listed for silu_mul, expected rms_norm")


def test_no_op_line(planted):
    planted.replace(f"{OP}/variants.inc", "EK_OP(rms_norm)\n", "")
    assert one(planted.found(ops.check_lists), "expected one line EK_OP(rms_norm), got none")


@pytest.mark.parametrize("name", ["cpu/rows_v0.cc", "cpu/rows.cc", "cpu/Rows_v1.cc"])
def test_variant_with_a_bad_name(planted, name):
    planted.copy(f"{OP}/cpu/rows_v1.cc", f"{OP}/{name}")
    assert one(planted.found(ops.check_lists), "expected a name like <design>_v<N>")


def test_variant_in_a_folder_that_is_no_arch(planted):
    planted.copy(f"{OP}/cpu/rows_v1.cc", f"{OP}/sm75/rows_v1.cc")
    assert one(planted.found(ops.check_lists), "an arch of ops/arches.inc")


def test_op_not_in_the_central_list(planted):
    planted.replace("ops/variants.inc", f'#include "{OP}/variants.inc"\n', "")
    assert one(planted.found(ops.check_central_list), "expected one line", "got 0")


def test_central_line_without_an_op(planted):
    planted.append("ops/variants.inc", '#include "ops/norm/no_norm/variants.inc"\n')
    assert one(planted.found(ops.check_central_list), "which is no op's list")


def test_op_without_its_files(planted):
    planted.remove(f"{OP}/reference.cc")
    assert one(planted.found(ops.check_op_folders), "reference.cc: every op has this file")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kName = "rms_norm"', 'kName = "rmsnorm"', "kName: expected rms_norm"),
        ('kFamily = "norm"', 'kFamily = "norms"', "kFamily: expected norm"),
        ("namespace rms_norm {", "namespace rmsnorm {", "expected a namespace rms_norm"),
    ],
)
def test_op_named_otherwise_than_its_folder(planted, old, new, message):
    planted.replace(f"{OP}/contract.h", old, new)
    assert one(planted.found(ops.check_op_folders), message)


# What a clone forgets


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("bulk_v1.cc", "rms_norm::sm90 {", "rms_norm::sm80 {", "expected namespace einkorn::"),
        ("bulk_v1.cc", "constexpr Variant bulk_v1", "constexpr Variant bulk_v2", "named bulk_v1"),
        ("bulk_v1.cc", '"sm90", "bulk", 1', '"sm90", "bulk", 2', "make_variant: expected"),
        ("bulk_v1.cc", "rms_norm::sm90::bulk_v1", "rms_norm::sm90::bulk_v2", "as the entry"),
        ("bulk_v1.cu", "rms_norm::sm90 {", "rms_norm::sm80 {", "bulk_v1.cu: expected namespace"),
        ("bulk_v1.cu", " bulk_v1(", " bulk_v2(", "expected a kernel named bulk_v1"),
    ],
)
def test_variant_source_that_names_another(planted, file, old, new, message):
    planted.replace(f"{OP}/sm90/{file}", old, new)
    assert any(message in text for text in planted.found(ops.check_variant_sources))


def test_variant_that_launches_another_kernel(planted):
    planted.replace(f"{OP}/sm90/bulk_v1.cc", f"{OP}/sm90/bulk_v1.cu", f"{OP}/smxx/rows_v1.cu")
    found = planted.found(ops.check_variant_sources)
    assert any(f"names {OP}/smxx/rows_v1.cu, not its own" in text for text in found), found


# Documents


def test_table_out_of_date_and_rewritten(planted):
    planted.replace(f"{OP}/sm90/bulk_v1.cc", "persistent groups", "assorted groups")
    assert one(planted.found(readme_tables.check), "out of date; lint_tree.py --fix")
    list(readme_tables.check(Tree(planted.root), fix=True))
    assert planted.found(readme_tables.check) == []
    assert "assorted groups" in (planted.root / OP / "README.md").read_text(encoding="utf-8")


def test_no_table(planted):
    planted.replace(f"{OP}/README.md", "<!-- variants -->", "")
    assert one(planted.found(readme_tables.check), "expected one table between")


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("docs/guide/nothing.md", "no such file"),
        ("HACKING.md#no-such-heading", "no such heading"),
        ("#no-such-heading", "no such heading"),
    ],
)
def test_broken_link(planted, link, message):
    planted.write("docs/notes.md", f"# Notes\n\nSee [this](../{link}).\n")
    if link.startswith("#"):
        planted.write("docs/notes.md", f"# Notes\n\nSee [this]({link}).\n")
    assert one(planted.found(documents.check_links), "docs/notes.md:3", message)


def test_links_that_hold(planted):
    text = "# My `Notes`, all\n\n[a](#my-notes-all) [b](../HACKING.md) [c](https://x.y/z)\n"
    planted.write("docs/notes.md", text + "`[d](nowhere)`\n")
    assert planted.found(documents.check_links) == []


def test_snippet_that_drifted(planted):
    snippet = '<!-- from: ops/variants.inc -->\n```cpp\n#include "ops/no/op/variants.inc"\n```\n'
    planted.write("docs/notes.md", f"# Notes\n\n{snippet}")
    assert one(planted.found(documents.check_snippets), "not what the file says")


def test_snippet_from_nowhere(planted):
    planted.write("docs/notes.md", "<!-- from: no/file.cc -->\n```cpp\nint x;\n```\n")
    assert one(planted.found(documents.check_snippets), "no such file")


def test_variable_that_is_not_documented(planted):
    planted.append("src/core/device.cc", 'const char* unused = "EINKORN_NEW_SWITCH";\n')
    found = planted.found(documents.check_environment)
    assert one(found, "EINKORN_NEW_SWITCH is read by the sources, but not listed")


def test_variable_that_nothing_reads(planted):
    planted.append("docs/guide/environment.md", "\n`EINKORN_OLD_SWITCH`\n")
    found = planted.found(documents.check_environment)
    assert one(found, "EINKORN_OLD_SWITCH is listed, but nothing reads it")


# Frozen versions


FROZEN = "ops/frozen.json"
KERNEL = f"{OP}/smxx/loop_v1.cu"


def test_frozen_version_that_changes(planted):
    planted.replace(KERNEL, "terms >= 64", "terms >= 32")
    assert one(planted.found(frozen.check), KERNEL, "einkorn clone rms_norm/smxx/loop_v1")


def test_comments_and_formatting_of_a_frozen_version_may_change(planted):
    planted.replace(KERNEL, "terms >= 64", "terms  /* so many */\n>= 64")
    planted.append(KERNEL, "// more\n")
    assert planted.found(frozen.check) == []


def test_host_side_of_a_frozen_kernel_may_change(planted):
    planted.append(f"{OP}/smxx/loop_v1.cc", "// int host;\nnamespace einkorn {}\n")
    assert planted.found(frozen.check) == []


def test_own_header_of_a_frozen_version(planted):
    planted.write(f"{OP}/smxx/loop_v1.cuh", "#pragma once\n")
    assert one(planted.found(frozen.check), "loop_v1.cuh: rms_norm/smxx/loop_v1 is frozen")


def test_measured_version_that_is_not_frozen(planted):
    lock = json.loads((planted.root / FROZEN).read_text())
    del lock["rms_norm/sm90/bulk_v1"]
    planted.write(FROZEN, json.dumps(lock))
    found = planted.found(frozen.check)
    assert one(found, "rms_norm/sm90/bulk_v1 has numbers in bench/results/", "--freeze")


def test_version_with_a_devlog_that_is_not_frozen(planted):
    planted.copy(f"{OP}/cpu/rows_v1.cc", f"{OP}/cpu/other_v1.cc")
    planted.append(f"{OP}/variants.inc", "EK_VARIANT(rms_norm, cpu, other, 1)\n")
    planted.write("docs/devlog/20990101-other.md", "# rms_norm: cpu/other_v1\n")
    found = planted.found(frozen.check)
    assert one(found, "rms_norm/cpu/other_v1 has numbers in docs/devlog/20990101-other.md")
    frozen.freeze(Tree(planted.root), "rms_norm/cpu/other_v1")
    assert planted.found(frozen.check) == []


def test_frozen_version_that_is_gone(planted):
    planted.replace(f"{OP}/variants.inc", "EK_VARIANT(rms_norm, smxx, loop, 1)\n", "")
    assert one(planted.found(frozen.check), "rms_norm/smxx/loop_v1 is frozen, but no list has it")


def test_code_tokens():
    text = 'a += R"x(// "no)x" + "/*" /* yes "b" */ + 1\'000\'\\\'\'; // c\n#include <d>'
    assert frozen.code_tokens(text) == [
        "a", "+", "=", 'R"x(// "no)x"', "+", '"/*"', "+", "1\'000", "\'\\\'\'", ";",
        "#", "include", "<", "d", ">",
    ]  # fmt: skip


# Knowledge


PAGE = "docs/knowledge/optimizations/row_in_registers.md"


def test_knowledge_page_without_a_section(planted):
    planted.replace(PAGE, "## Pitfalls", "## Notes")
    assert one(planted.found(knowledge.check), PAGE, "expected the sections When to apply")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("results/2026-11-28-rms_norm-16384x512", "results/none", "none-h100.json: no such file"),
        ("29.78 | H100 80GB HBM3 | 2026-11-28 |", "29.78 | H100 | then |", "expected a date"),
        ("29.78 | H100 80GB HBM3 | 2026-11-28 |", "29.78 | H100 | |", "four filled cells"),
        ("| what | device | date | source |", "| what | where | date | source |", "a table"),
    ],
)
def test_knowledge_page_without_evidence(planted, old, new, message):
    planted.replace(PAGE, old, new)
    assert one(planted.found(knowledge.check), PAGE, message)


def test_knowledge_page_that_the_index_lacks(planted):
    planted.copy(PAGE, "docs/knowledge/optimizations/another.md")
    found = planted.found(knowledge.check)
    assert one(found, "docs/knowledge/README.md", "(optimizations/another.md), got none")


def test_knowledge_page_with_another_title(planted):
    planted.replace(PAGE, "# Keep the row", "# Hold the row")
    assert one(planted.found(knowledge.check), "expected one row [Hold the row")


# Sources


@pytest.mark.parametrize(
    ("file", "include", "message"),
    [
        ("src/core/device.cc", "<einkorn/registry.h>", "core includes include/einkorn/registry.h"),
        ("src/core/device.cc", '"src/cuda/driver.h"', "core includes src/cuda/driver.h of cuda"),
        ("src/cuda/device.cc", '"src/jit/nvrtc.h"', "cuda includes src/jit/nvrtc.h of jit"),
        ("src/jit/jit.cc", "<einkorn/plan.h>", "jit includes include/einkorn/plan.h of plan"),
        ("src/registry/dump.cc", f'"{OP}/contract.h"', f"registry includes {OP}/contract.h of ops"),
        ("src/registry/dump.cc", '"src/measure/check.h"', "of measure, which is not above it"),
        (f"{OP}/launch.cc", '"src/measure/check.h"', "ops includes src/measure/check.h"),
        (f"{OP}/launch.cc", '"ops/activation/silu_mul/params.h"', "belongs to another op"),
        (
            "ops/activation/silu_mul_bwd/launch.cc",
            '"ops/activation/silu_mul/params.h"',
            "belongs to another op",
        ),
        ("ops/activation/gated.h", '"ops/activation/silu_mul/launch.h"', "belongs to another op"),
        ("ops/activation/gated.h", f'"{OP}/contract.h"', "belongs to another op"),
        (
            "cli/list.cc",
            '"python/native/values.h"',
            "cli includes python/native/values.h of python",
        ),
        ("python/native/values.cc", '"src/tune/built.h"', "python includes src/tune/built.h of"),
        (f"{OP}/device.cuh", '"src/core/float.h"', "device includes src/core/float.h of core"),
        ("include/einkorn/device.h", '"src/core/float.h"', "a public header includes src/core"),
    ],
)
def test_include_against_the_layers(planted, file, include, message):
    planted.append(file, f"#include {include}\n")
    assert one(planted.found(sources.check_layers), message)


def test_public_header_without_a_layer(planted):
    planted.write("include/einkorn/extra.h", "#pragma once\n")
    assert any("extra.h: no layer" in text for text in planted.found(sources.check_layers))


def test_header_without_a_guard(planted):
    planted.write("src/core/extra.h", "int x();\n")
    assert one(planted.found(sources.check_headers), "src/core/extra.h: expected #pragma once")


def test_heavy_public_header(planted):
    planted.append("include/einkorn/device.h", "#include <iostream>\n")
    assert one(planted.found(sources.check_headers), "includes <iostream>, which is heavy")


@pytest.mark.parametrize(("name", "lines"), [("extra.cc", 601), ("device/extra.cuh", 1001)])
def test_too_long(planted, name, lines):
    planted.write(f"src/cuda/{name}", "//\n" * lines)
    assert one(planted.found(sources.check_lengths), f"{lines} lines, the limit is")


def test_generated_files_may_be_long(planted):
    planted.write("python/einkorn/extra.py", f"# {sources.GENERATED}\n" + "#\n" * 601)
    assert not planted.found(sources.check_lengths)


def test_long_files_are_told(planted):
    planted.write("src/core/extra.cc", "//\n" * 301)
    assert "src/core/extra.cc: 301 lines" in sources.long_files(Tree(planted.root))
    assert planted.found(sources.check_lengths) == []


@pytest.mark.parametrize(
    "name",
    ["src/core/FooBar.cc", "cli/foo-bar.cc", "tests/unit/Foo_test.cc", "python/einkorn/Ops.py"],
)
def test_name_that_is_not_snake_case(planted, name):
    planted.write(name, "")
    assert one(planted.found(sources.check_names), name, "expected a snake_case name")


# In pieces, so that the rule does not find this file.
@pytest.mark.parametrize("parts", [("", "home", "me", "einkorn"), ("", "root", "einkorn")])
def test_path_of_one_machine(planted, parts):
    path = "/".join(parts)
    planted.write("docs/notes.md", f"# Notes\n\nSee {path} for more.\n")
    assert one(planted.found(sources.check_machine_paths), f"a path of one machine: {path}")
