import port_trees
from einkorn.port.closure.includes import closure_of
from einkorn.port.closure.symbols import device_functions


def closure(tmp_path, files, entries, functions=None, include_dirs=()):
    index = port_trees.index_of(tmp_path, files)
    used = None
    if functions is not None:
        used = [one for name in functions for one in index.named(name) if one.is_definition]
    return closure_of(index, entries, used, list(include_dirs)), index


def paths(found):
    return [one.path for one in found.files]


def test_quotes_angles_cycles_and_conditions(tmp_path):
    files = {
        "src/a.cu": '#include "b.h"\n#include <lib/c.h>\n#if 0\n#include "../x/d.h"\n#endif\n',
        "src/b.h": '#pragma once\n#include "a_more.h"\n',
        "src/a_more.h": '#include "b.h"\n// #include "not.h"\nconst char* s = "#include no.h";\n',
        "include/lib/c.h": "",
        "x/d.h": "",
        "src/unrelated.h": "",
    }
    found, index = closure(tmp_path, files, ["src/a.cu"], include_dirs=["include"])
    assert paths(found) == ["include/lib/c.h", "src/a.cu", "src/a_more.h", "src/b.h", "x/d.h"]
    assert found.external == []
    assert index.sources.gaps == []
    assert found.lines == 5 + 2 + 3


def test_an_include_directory_that_nobody_named(tmp_path):
    files = {"k/a.cu": "#include <lib/c.h>\n", "k/include/lib/c.h": ""}
    found, _ = closure(tmp_path, files, ["k/a.cu"])
    assert paths(found) == ["k/a.cu", "k/include/lib/c.h"]


def test_of_several_the_nearest_or_a_gap(tmp_path):
    files = {"p/a.cu": "#include <u/c.h>\n", "p/i/u/c.h": "", "q/u/c.h": "", "r/u/c.h": ""}
    found, index = closure(tmp_path, files, ["p/a.cu"])
    assert paths(found) == ["p/a.cu", "p/i/u/c.h"]
    files = {"a.cu": "#include <u/c.h>\n", "q/u/c.h": "", "r/u/c.h": ""}
    found, index = closure(tmp_path / "two", files, ["a.cu"])
    assert paths(found) == ["a.cu", "q/u/c.h"]
    assert "may be any of q/u/c.h, r/u/c.h" in index.sources.gaps[0].what


def test_external_packages(tmp_path):
    text = """\
        #include <vector>
        #include <stdint.h>
        #include <cuda_fp16.h>
        #include <cublas_v2.h>
        #include <torch/extension.h>
        #include <ATen/ATen.h>
        #include <cute/tensor.hpp>
        #include <cub/cub.cuh>
        #include <tvm/ffi/container/tensor.h>
        #include <mystery/a.h>
        #include "nowhere.h"
        #include "third_party/json/json.h"
        #include HEADER
        #include OTHER
        """
    files = {
        "a.cu": text,
        "b.h": '#define HEADER "named.h"\n',
        "named.h": "",
        "third_party/json/json.h": '#include "more.h"',
        "third_party/json/more.h": "",
    }
    found, index = closure(tmp_path, files, ["a.cu"])
    assert paths(found) == ["a.cu", "named.h"]
    assert found.external == [
        *("cccl", "cublas", "cuda", "cutlass", "json", "mystery", "nowhere.h", "torch", "tvm-ffi"),
    ]
    assert [(gap.what, gap.line) for gap in index.sources.gaps] == [
        ("#include OTHER: the sources do not say what the macro stands for", 14),
        ('#include "nowhere.h": not found', 11),
    ]


def test_submodules_are_external_unless_the_entry_is_in_one(tmp_path):
    files = {
        ".gitmodules": '[submodule "x"]\n\tpath = libs/fast\n\turl = u\n',
        "a.cu": '#include "libs/fast/f.h"\n',
        "libs/fast/f.h": '#include "g.h"\n',
        "libs/fast/g.h": "",
    }
    found, _ = closure(tmp_path, files, ["a.cu"])
    assert (paths(found), found.external) == (["a.cu"], ["fast"])
    found, _ = closure(tmp_path, files, ["libs/fast/f.h"])
    assert (paths(found), found.external) == (["libs/fast/f.h", "libs/fast/g.h"], [])


REACH = {
    "a.cu": """\
        #include "b.h"
        int entry(int x) { return Helper::twice(x) + MACRO; }
        int other(int x) { return unused_one(x); }
        """,
    "b.h": """\
        #ifndef B_H
        #define B_H
        #define MACRO kConstant
        #define UNUSED_MACRO 3
        constexpr int kConstant = 4;
        constexpr int kUnused = 5;
        struct Helper {
          Helper() { constructed(); }
          static int twice(int x) { return 2 * x; }
          static int thrice(int x) {
            return only_by_thrice(x);
          }
        };
        int constructed();
        int only_by_thrice(int x);
        int unused_one(int x);
        enum class Unused { kOne };
        #endif
        """,
}


def test_what_is_reached_by_name(tmp_path):
    found, _ = closure(tmp_path, REACH, ["a.cu"], ["entry"])
    a, b = found.files
    assert (a.unused, a.used) == (("other",), 1)
    assert b.unused == (
        *("Helper::thrice", "UNUSED_MACRO", "Unused", "kUnused", "only_by_thrice", "unused_one"),
    )
    # MACRO, kConstant, `constructed`, and Helper's seven lines without the three of `thrice`.
    assert b.used == 1 + 1 + 1 + 4


def test_without_functions_all_of_the_entries_counts(tmp_path):
    found, _ = closure(tmp_path, REACH, ["a.cu"])
    assert found.files[0].unused == ()
    assert "unused_one" not in found.files[1].unused


def test_units_that_instantiate_a_reached_template_belong_to_it(tmp_path):
    files = {
        "run.h": "template <typename T> struct Run { static void go(T x); };\n",
        "run_impl.h": '#include "run.h"\ntemplate <typename T> void Run<T>::go(T x) {}\n',
        "run_float.cu": '#include "run_impl.h"\ntemplate struct Run<float>;\n',
        "other.cu": "template struct Other<float>;\n",
        "main.cu": '#include "run.h"\nvoid entry() { Run<float>::go(1); }\n',
    }
    found, _ = closure(tmp_path, files, ["main.cu"], ["entry", "Run::go"])
    assert paths(found) == ["main.cu", "run.h", "run_float.cu", "run_impl.h"]


def test_an_entry_that_is_not_there(tmp_path):
    found, _ = closure(tmp_path, {"a.cu": ""}, ["none.cu"])
    assert found.files == []


def test_device_functions_that_are_reached(tmp_path):
    text = """\
        __device__ void add(float* p) { atomicAdd(p, 1.0f); }
        __device__ void unused(float* p) {}
        struct Tile { __device__ void store(float* p) { add(p); } __device__ void load() {} };
        template <typename T> __global__ void kernel(float* p) { T tile; tile.store(p); }
        void host(float* p) { kernel<Tile><<<1, 1>>>(p); other(); }
        void other() {}
        """
    index = port_trees.index_of(tmp_path, {"a.cu": text})
    found = device_functions(index, ["a.cu"], index.named("host"))
    assert [one.symbol for one in found] == ["add", "Tile::store", "kernel"]
