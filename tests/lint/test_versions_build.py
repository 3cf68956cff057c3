"""What `einkorn new` and `einkorn clone` make builds at once, and passes its check.

In a copy of the tree; the new files are compiled and linked in front of the library that is built,
which then gives everything else.
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess

import pytest
from building import BUILD, CXX, SOURCE, built_arches, cache, compile_flags, link_flags
from lint.tree import Tree
from lint_tree import problems

BIN = pathlib.Path(os.environ.get("EINKORN_BIN", BUILD / "einkorn")).resolve()
CLI_OBJECTS = ("CMakeFiles/einkorn_cli.dir/cli", "CMakeFiles/einkorn_command.dir/cli")

MADE = [
    ("new", "op", "norm/tiny_norm"),
    ("new", "variant", "tiny_norm/cpu/blocks"),
    ("new", "variant", "tiny_norm/sm90/ring"),
    ("clone", "rms_norm/cpu/rows_v1"),
    ("clone", "silu_mul/smxx/flat_v1"),
    ("clone", "silu_mul/smxx/flat_v2", "v5"),
]


def run(*words, **options) -> subprocess.CompletedProcess:
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> pathlib.Path:
    """The sources, with all of MADE in them."""
    copy = tmp_path_factory.mktemp("made") / "tree"
    for name in Tree(SOURCE).files:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SOURCE / name, copy / name)
    for words in MADE:
        run(BIN, *words, "--tree", copy, "--allow-dirty")
    return copy


def new_sources(tree: pathlib.Path) -> list[str]:
    before = set(Tree(SOURCE).files)
    folder = {arch: arch in built_arches() for arch in ("cpu", "smxx", "sm80", "sm90", "sm100")}
    return [
        name
        for name in Tree(tree).matching(".cc", under="ops/")
        if name not in before and folder.get(name.split("/")[3], True)
    ]


# As ek_embed() in cmake/generated.cmake calls the embedder: file, endings below ops/, the rest.
EMBEDDED = [
    ("embedded_sources", (".cu", ".cuh"), ["src/jit/embedded.h", "jit", "embedded_sources"]),
    (
        "host_sources",
        (".cc", ".h"),
        ["src/trials/embedded.h", "trials", "host_source_digests", "digests"],
    ),
]


def embed(tree: pathlib.Path, work: pathlib.Path) -> list[pathlib.Path]:
    """What the build embeds of the sources, with the new ones."""
    for name, endings, words in EMBEDDED:
        listed = (BUILD / f"generated/{name}.txt").read_text().split()
        names = {path for path in listed if (tree / path).exists()}
        names |= set(Tree(tree).matching(*endings, under="ops/"))
        (work / f"{name}.txt").write_text("\n".join(sorted(names)) + "\n")
        run(BUILD / "einkorn_embed", tree, work / f"{name}.txt", work / f"{name}.cc", *words)
    return [work / f"{name}.cc" for name, _, _ in EMBEDDED]


@pytest.fixture(scope="module")
def built(tree, tmp_path_factory) -> pathlib.Path:
    """The command with what was made in it."""
    work = tmp_path_factory.mktemp("built")
    root = str(SOURCE)
    flags = [str(tree) + flag[len(root) :] if flag.startswith(root) else flag
             for flag in compile_flags()]  # fmt: skip
    flags += ["-isystem", cache()["EK_hwy_INCLUDE"], "-Wall", "-Wextra", "-Wconversion", "-Wshadow"]
    sources = [tree / name for name in new_sources(tree)]
    sources += [tree / "src/registry/builtin.cc", *embed(tree, work)]
    objects = [work / f"{index}.o" for index in range(len(sources))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(
            pool.map(
                lambda pair: run(CXX, *flags, "-Werror", "-c", pair[0], "-o", pair[1]),
                zip(sources, objects, strict=True),
            )
        )
    assert len(done) >= 10
    cli = [one for folder in CLI_OBJECTS for one in sorted((BUILD / folder).glob("*.o"))]
    assert len(cli) > 20
    target = work / "einkorn"
    run(CXX, *cli, *objects, *link_flags(), cache()["EK_muparser_LIBRARY"], "-rdynamic",
        "-o", target)  # fmt: skip
    return target


def answer(built: pathlib.Path, *words: str, status: int = 0):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("EINKORN_")}
    clean["EINKORN_CACHE_DIR"] = str(built.parent / "cache")
    done = subprocess.run([built, *words, "--json"], env=clean, capture_output=True, text=True)
    assert done.returncode == status, f"{words}\n{done.stdout}{done.stderr}"
    return json.loads(done.stdout) if done.stdout else done.stderr


def passed(document) -> list[str]:
    return [row["variant"] for row in document["results"] if row["status"] == "pass"]


def test_the_tree_is_as_clean_as_before(tree):
    assert problems(Tree(tree)) == problems(Tree(SOURCE))


def test_a_new_op_passes_its_check(built):
    document = answer(built, "check", "tiny_norm", "--device", "cpu", "--level", "1")
    assert passed(document).count("tiny_norm/cpu/reference_v1") == 4


def test_a_new_variant_is_listed_and_refuses_until_it_is_written(built):
    listed = {op["op"]: op["variants"] for op in answer(built, "list")}
    assert listed["tiny_norm"][:2] == ["tiny_norm/cpu/blocks_v1", "tiny_norm/sm90/ring_v1"]
    said = answer(built, "explain", "tiny_norm/cpu/blocks_v1", "--device", "cpu", status=3)
    tried = {row["variant"]: row["refusal"] for row in said["tried"]}
    assert "not written yet" in tried["tiny_norm/cpu/blocks_v1"]


def test_a_clone_passes_its_check_and_is_not_chosen(built):
    document = answer(built, "check", "rms_norm/cpu/rows_v2", "--level", "0")
    assert passed(document) and set(passed(document)) == {"rms_norm/cpu/rows_v2"}
    assert len(passed(document)) == len(document["results"])
    chosen = answer(built, "explain", "rms_norm", "--device", "cpu")["chosen"]
    assert chosen == "rms_norm/cpu/rows_v1"


def test_a_cloned_kernel_compiles(built):
    words = ["check", "silu_mul/smxx/flat_v5", "--device", "cpu", "--level", "0", "--compile"]
    document = answer(built, *words, status=3)  # nothing of it can run on a CPU
    if not document.get("compiled"):
        pytest.skip("no NVRTC here, or smxx is not built")
    for row in document["compiled"]:
        assert row["error"] is None
        assert row["kernel"].startswith("einkorn::silu_mul::smxx::flat_v5<")
