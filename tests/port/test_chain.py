"""Call chains: from public functions to launches, in the small repositories and in odd ones."""

import pytest
from chain_support import of_files, repo
from einkorn.port.errors import PortError

STEPS = {
    ("pybind", "scale_rows"): [
        (0, "rowops.scale.scale_rows", 0),
        (1, "rowops.scale._run", 13),
        (2, "rowops::ops::scale_rows", 18),
        (3, "rowops::kernels::view_of", 15),
        (3, "rowops::kernels::scale_rows", 16),
        (4, "rowops::kernels::for_type", 30),
        (4, "rowops::kernels::Scaler::launch", 31),
        (5, "rowops::kernels::scale_kernel", 50),
    ],
    ("pybind", "rowops::kernels::row_sums"): [
        (0, "rowops::kernels::row_sums", 0),
        (1, "rowops::kernels::run_kernel", 38),
        (2, "rowops::kernels::Scaler::RowSums::operator()", 26),
    ],
    ("torch_library", "soft_clip"): [
        (0, "softclip.soft_clip", 0),
        (1, "softclip::clip_cuda", 12),
        (2, "softclip::launch_clip", 20),
        (3, "softclip::clip_kernel", 23),
        (1, "softclip::clip_cpu", 12),
    ],
    ("torch_library", "soft_clip_"): [
        (0, "softclip.soft_clip_", 0),
        (1, "softclip::clip_in_place_cuda", 16),
        (2, "softclip::clip_cuda", 26),
        (3, "softclip::launch_clip", 20),
        (4, "softclip::clip_kernel", 23),
    ],
    ("torch_custom_op", "gatelib.gate.gate"): [
        (0, "gatelib.gate.gate", 0),
        (1, "gatelib.gate._gate_out", 14),
        (2, "gate_out", 20),
        (3, "gate_kernel", 27),
    ],
    ("torch_custom_op", "gate_add"): [
        (0, "gatelib.gate.gate_add", 0),
        (1, "gatelib.gate._gate_add_cuda", 38),
        (2, "gate_out", 30),
        (3, "gate_kernel", 27),
    ],
    ("tvm_ffi", "add_bias"): [
        (0, "biaslib.add_bias", 0),
        (1, "biaslib._module", 18),
        (1, "add_bias_launcher", 18),
        (2, "bias_kernel", 33),
    ],
    ("tvm_ffi", "biaslib.scale_bias"): [
        (0, "biaslib.scale_bias", 0),
        (1, "scale_bias", 23),
        (2, "scale_kernel", 48),
    ],
    ("ctypes", "scan"): [
        (0, "scanlib.scan", 0),
        (1, "scan_rows", 15),
        (2, "launch_scan", 57),
        (3, "scan_kernel", 47),
    ],
    ("ctypes", "reset"): [
        (0, "scanlib.reset", 0),
        (1, "scan_reset", 22),
        (2, "zero_kernel", 68),
    ],
    ("load_inline", "horner"): [
        (0, "polylib.horner.horner", 0),
        (1, "polylib.horner._inline", 60),
        (1, "horner_cuda", 60),
        (2, "horner_kernel", 33),
    ],
    ("load_inline", "powers"): [
        (0, "polylib.horner.powers", 0),
        (1, "polylib.horner._extension", 65),
        (1, "powers", 66),
        (2, "powers_kernel", 18),
    ],
    ("load_jit", "shiftlib.jit.shift.shift"): [
        (0, "shiftlib.jit.shift.shift", 0),
        (1, "shiftlib.jit.shift._jit_shift_module", 34),
        (2, "shiftlib.jit.utils.make_cpp_args", 12),
        (1, "shift", 35),
        (2, "host::RuntimeCheck", 35),
        (2, "host::div_ceil", 36),
        (2, "host::LaunchKernel::LaunchKernel", 37),
        (2, "shift_kernel", 37),
    ],
    ("triton", "rms_scale"): [
        (0, "normlib.functional.rms_scale", 0),
        (1, "normlib.kernels.RmsScaleFunction.forward", 5),
        (2, "normlib.kernels.rms_scale_forward", 60),
        (3, "normlib.kernels.block_of", 44),
        (3, "normlib.kernels._forward_kernel", 45),
        (4, "normlib.kernels._mean_square", 18),
        (1, "normlib.kernels.RmsScaleFunction.backward", 5),
        (2, "normlib.kernels.rms_scale_backward", 65),
        (3, "normlib.kernels._backward_kernel", 52),
    ],
}
STREAM = "at::cuda::getCurrentCUDAStream()"
TVM_STREAM = (
    "stream = static_cast<cudaStream_t>("
    "TVMFFIEnvGetStream(x.device().device_type, x.device().device_id))"
)
SHIFT = "shiftlib/jit/csrc/elementwise/shift.cuh"
# Kernel, file, line, grid, block, shared memory, stream: all launches of each repository.
LAUNCHES = {
    "pybind": [
        ("run_kernel<Sums::RowSums>", "csrc/scale.cu", 38, "x.rows", "256", "0", STREAM),
        (
            *("scale_kernel<T, kVector, kNegate>", "csrc/scale.cuh", 50, "grid = dim3(x.rows)"),
            *("128", "bytes = 128 * sizeof(float4)", STREAM),
        ),
    ],
    "torch_library": [
        (
            *("clip_kernel<T>", "csrc/clip.cuh", 23, "(count + block - 1) / block", "block"),
            *("0", "stream"),
        )
    ],
    "torch_custom_op": [
        (
            *("gate_kernel<kBlock>", "csrc/gate.cu", 27),
            "blocks = at::cuda::getCurrentDeviceProperties()->multiProcessorCount",
            *("kBlock = 128", "0", STREAM),
        )
    ],
    "tvm_ffi": [
        (
            *("bias_kernel<float, true>", "csrc/bias.cu", 33),
            *("grid = dim3(static_cast<unsigned>(x.size(0)))", "width / 4", "0", TVM_STREAM),
        ),
        (
            *("bias_kernel<float, false>", "csrc/bias.cu", 37),
            *("grid = dim3(static_cast<unsigned>(x.size(0)))", "128", "0", TVM_STREAM),
        ),
        ("scale_kernel", "csrc/bias.cu", 48, "1", "bias.size(0)", "0", ""),
    ],
    "ctypes": [
        (
            "scan_kernel<kWarps>",
            "src/scan.cu",
            47,
            "dim3(rows)",
            "dim3(kWarps * 32)",
            "0",
            "stream",
        ),
        ("zero_kernel", "src/scan.cu", 68, "dim3(1)", "dim3(quads)", "0", "stream"),
    ],
    "load_inline": [
        ("powers_kernel<float>", "polylib/csrc/powers.cu", 18, "count / 64", "64", "0", ""),
        (
            *("horner_kernel<256>", "polylib/horner.py", 33, "(count + 255) / 256", "256", "0"),
            "c10::cuda::getCurrentCUDAStream()",
        ),
    ],
    "load_jit": [
        (
            *("shift_kernel<kBy>", SHIFT, 37, "blocks = div_ceil(elements, kBlock)"),
            *("kBlock = 256", "0", "device.unwrap()"),
        ),
        (
            *("shift_by_kernel<T, true>", SHIFT, 53, "host::div_ceil(count / 4, kBlock)"),
            *("kBlock = 256", "0", "x.device()"),
        ),
    ],
    "triton": [
        ("_forward_kernel", "normlib/kernels.py", 45, "(rows,)", "num_warps = warps", "0", ""),
        (
            *("_backward_kernel", "normlib/kernels.py", 52),
            *("grid = lambda meta: (dy.shape[0],)", "", "0", ""),
        ),
    ],
}
# Entries that together reach all of a repository.
ENTRIES = {
    "pybind": ["scale_rows", "rowops::ops::row_sums"],
    "torch_library": ["soft_clip", "soft_clip_"],
    "torch_custom_op": ["gatelib.gate.gate", "gate_add"],
    "tvm_ffi": ["add_bias", "biaslib.scale_bias"],
    "ctypes": ["scan", "reset"],
    "load_inline": ["powers", "horner"],
    "load_jit": ["shiftlib.jit.shift.shift", "shift_by"],
    "triton": ["rms_scale"],
}


@pytest.mark.parametrize(("kind", "entry"), STEPS)
def test_steps(kind, entry):
    chain = repo(kind).follow(entry)
    assert [(one.depth, one.symbol, one.called_at) for one in chain.steps] == STEPS[kind, entry]


@pytest.mark.parametrize("kind", LAUNCHES)
def test_launches(kind):
    launches = dict.fromkeys(
        one for entry in ENTRIES[kind] for one in repo(kind).follow(entry).launches
    )
    found = [
        (one.kernel, one.file, one.line, one.grid, one.block, one.shared, one.stream)
        for one in launches
    ]
    assert sorted(found) == sorted(LAUNCHES[kind])


@pytest.mark.parametrize("kind", LAUNCHES)
def test_kernels_that_launches_name_are_defined(kind):
    for entry in ENTRIES[kind]:
        chain = repo(kind).follow(entry)
        assert chain.kernels or kind == "triton"
        assert all(one.is_kernel for one in chain.kernels)
        assert [gap for gap in chain.gaps if "not defined here" in gap.what] == []


def test_registrations_on_the_path_and_no_others():
    def of(kind, entry):
        return [(one.public_name, one.line) for one in repo(kind).follow(entry).registrations]

    assert of("pybind", "scale_rows") == [("_C.ops.scale_rows", 10)]
    assert of("torch_library", "soft_clip_") == [("softclip::clip_", 34), ("softclip::clip_", 35)]
    assert of("torch_custom_op", "gatelib.gate.gate") == [
        ("gatelib::gate_out", 18),
        ("gatelib_C.gate_out", 33),
    ]
    assert of("load_jit", "shift_by") == [("run", 28)]
    assert of("ctypes", "scan_rows") == [("_library.scan_rows", 52)]
    assert of("triton", "rms_scale") == [("_forward_kernel", 14), ("_backward_kernel", 25)]


def test_entries_by_file_and_public_name():
    assert repo("pybind").follow("rowops/scale.py:scale_rows").steps[0].line == 8
    assert [one.symbol for one in repo("ctypes").follow("scanlib/__init__.py").entries] == [
        "scanlib.scan",
        "scanlib.reset",
    ]
    chain = repo("triton").follow("RmsScaleFunction")
    assert [one.name for one in chain.entries] == ["forward", "backward"]
    assert (len(chain.launches), chain.gaps) == (2, [])
    assert repo("torch_library").follow("softclip::clip").entries[0].symbol == "softclip::clip_cuda"


def test_no_such_entry_says_what_is_alike():
    with pytest.raises(PortError, match="scale_row") as raised:
        repo("pybind").follow("scale_row")
    assert "scale_rows" in str(raised.value)


def test_two_functions_of_one_name_are_both_followed(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "a.cu": "int help(int x) { return x; }\nint run(int x) { return help(x); }\n",
            "b.cu": "int help(int x) { return 2 * x; }\nint run(int x) { return help(x); }\n",
        },
    )
    chain = surveyed.follow("run")
    assert [(one.symbol, one.file) for one in chain.steps] == [
        ("run", "a.cu"),
        ("help", "a.cu"),
        ("run", "b.cu"),
        ("help", "b.cu"),
    ]
    assert "names several functions" in chain.gaps[0].what


def test_two_definitions_of_a_declared_function_are_a_gap(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "a.h": "#pragma once\nint help(int x);\n",
            "main.cc": '#include "a.h"\nint run(int x) { return help(x); }\n',
            "one.cc": '#include "a.h"\nint help(int x) { return x; }\n',
            "two.cc": '#include "a.h"\nint help(int x) { return 2 * x; }\n',
            "unrelated.cc": "namespace other { int help(int x) { return 3; } }\n",
        },
    )
    chain = surveyed.follow("run")
    assert [one.file for one in chain.steps] == ["main.cc", "one.cc", "two.cc"]
    assert [(gap.file, gap.line) for gap in chain.gaps] == [("main.cc", 2)]


def test_what_is_not_included_is_not_called(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "a.cc": "#include <cmath>\nfloat run(float x) { return floor(x) + max(x, 1.0f); }\n",
            "b.cc": "float max(float a, float b) { return a; }\n"
            "struct T { float floor(float x) { return x; } };\n",
        },
    )
    assert [one.symbol for one in surveyed.follow("run").steps] == ["run"]


def test_declared_and_defined_nowhere_is_a_gap(tmp_path):
    surveyed = of_files(
        tmp_path, {"a.cc": "int gone(int x);\nint run(int x) { return gone(x); }\n"}
    )
    assert [(gap.what, gap.line) for gap in surveyed.follow("run").gaps] == [
        ("gone: declared, defined nowhere here", 2)
    ]


def test_methods_of_unknown_objects_are_not_guessed(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "a.cc": "struct Box { int size() { return 1; } };\n"
            "int run(Map m) { return m.size(); }\n"
            "int of_box(Box b) { return b.size(); }\n"
        },
    )
    assert [one.symbol for one in surveyed.follow("run").steps] == ["run"]
    assert [one.symbol for one in surveyed.follow("of_box").steps] == ["of_box", "Box::size"]


def test_a_generic_lambda_is_called_with_types(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "a.cu": """
struct Fast { static void go() {} };
struct Slow { static void go() {} };
struct Never { static void go() {} };
template <typename F>
void choose(bool fast, F&& body) {
  if (fast) { body.template operator()<Fast>(); } else { body.template operator()<Slow>(); }
}
void run(bool fast) {
  choose(fast, [&]<typename Way>() { Way::go(); });
}
"""
        },
    )
    assert [one.symbol for one in surveyed.follow("run").steps] == [
        "run",
        "choose",
        "Fast::go",
        "Slow::go",
    ]


def test_recursion_and_cyclic_includes_end(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "a.h": '#include "b.h"\ninline int f(int x) { return x ? g(x - 1) : 0; }\n',
            "b.h": '#include "a.h"\n#include "missing.h"\ninline int g(int x) { return f(x); }\n',
            "m.py": "from n import g\n\ndef f():\n    return g()\n",
            "n.py": "from m import f\n\ndef g():\n    x = f()\n    x = x.y\n    return x\n",
        },
    )
    assert [one.symbol for one in surveyed.follow("a.h:f").steps] == ["f", "g"]
    assert [one.symbol for one in surveyed.follow("m.f").steps] == ["m.f", "n.g"]


def test_an_extension_without_sources_is_a_gap(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "pkg/__init__.py": "",
            "pkg/ops.py": "from ._C import lib\n\ndef f(x):\n    return lib.f(x)\n",
        },
    )
    chain = surveyed.follow("f")
    assert [(gap.what, gap.file, gap.line) for gap in chain.gaps] == [
        ("pkg._C.lib.f: registered nowhere here", "pkg/ops.py", 4)
    ]


def test_a_registration_of_what_is_defined_nowhere_is_a_gap(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "a.cc": 'PYBIND11_MODULE(lib, m) { m.def("f", &gone); }\n',
            "a.py": "import lib\n\ndef f(x):\n    return lib.f(x)\n",
        },
    )
    chain = surveyed.follow("f")
    assert [one.symbol for one in chain.steps] == ["a.f"]
    assert [gap.what for gap in chain.gaps] == ["lib.f leads to gone, defined nowhere here"]


def test_calls_of_a_registered_lambda(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "a.cc": "int one(int x) { return x; }\nint two(int x) { return x; }\n"
            "PYBIND11_MODULE(lib, m) {\n"
            '  m.def("f", [](int x) {\n    return one(x);\n  });\n'
            '  m.def("g", [](int x) { return two(x); });\n}\n',
            "a.py": "import lib\n\ndef f(x):\n    return lib.f(x)\n",
        },
    )
    assert [one.symbol for one in surveyed.follow("f").steps] == ["a.f", "one"]


def test_virtual_functions_lead_to_those_that_override_them(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "a.h": """
template <typename T>
struct Root {
  void run(int x) { step(x); }
  virtual void step(int x) = 0;
};
struct Base : Root<int> {};
struct One : public Base {
  void step(int x) override { first(x); }
  void first(int x) {}
};
struct Other { void step(int x) {} };
struct Sibling : Root<float> { void step(int x) override {} };
""",
            "a.cc": '#include "a.h"\nvoid go(Base* base) { base->run(1); }\n',
        },
    )
    assert [one.symbol for one in surveyed.follow("go").steps] == [
        "go",
        "Root::run",
        "One::step",
        "One::first",
    ]


def test_using_namespace_and_the_side_tell_functions_of_one_name_apart(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "a.cu": """
namespace lib::host { inline int at(int x) { return x; } }
namespace lib::device { __device__ int at(int x) { return x; } }
namespace lib {
__global__ void k(int* x) { using namespace device; *x = at(*x); }
void run(int* x) { using namespace host; k<<<at(1), 32>>>(x); }
}
"""
        },
    )
    chain = surveyed.follow("lib::run")
    assert [one.symbol for one in chain.functions] == [
        "lib::run",
        "lib::host::at",
        "lib::k",
        "lib::device::at",
    ]
    assert chain.gaps == []


def test_a_launcher_object_with_an_unknown_kernel_is_a_gap(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "a.cu": "struct LaunchKernel { LaunchKernel(int grid, int block); };\n"
            "void run(int* x) {\n  auto kernel = choose(x);\n"
            "  LaunchKernel(1, 32)(kernel, x);\n}\n"
        },
    )
    chain = surveyed.follow("run")
    assert chain.launches == []
    assert [(gap.line, "kernel" in gap.what) for gap in surveyed.sources.gaps] == [(4, True)]


def test_registered_classes_that_python_or_an_alias_chooses(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "csrc/a.cuh": """
template <int N> struct Warp { static void run() {} };
template <int N> struct Block { static void run() {} };
template <int N> struct Third { static void run() {} };
template <int N> using Chosen = std::conditional_t<(N > 4), Block<N>, Warp<N>>;
""",
            "a.py": """
def _choose(n):
    if n == "Warp":
        return "Third"
    return "Block"

def _module(n):
    cls = _choose(n)
    return load_jit(
        "a",
        cuda_files=["a.cuh"],
        cuda_wrappers=[("one", f"Chosen<{n}>::run"), ("two", f"{cls}<{n}>::run")],
    )

def one(n):
    _module(n).one()

def two(n):
    _module(n).two()
""",
        },
    )
    assert [one.symbol for one in surveyed.follow("a.one").steps] == [
        "a.one",
        "a._module",
        "a._choose",
        "Block::run",
        "Warp::run",
    ]
    chain = surveyed.follow("a.two")
    assert [one.symbol for one in chain.steps] == [
        "a.two",
        "a._module",
        "a._choose",
        "Block::run",
        "Third::run",
    ]
    assert len(chain.gaps) == 1


def test_a_kernel_that_is_a_template_argument(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "a.cu": """
__global__ void first(int* x) {}
template <typename T> __global__ void second(T* x) {}
struct Launcher { Launcher(int grid, int block); };
struct Op {
  static constexpr auto kernel = second<float>;
  template <auto kKernel>
  static void launch(int n, int* x) { Launcher(n, 32)(kKernel, x); }
  static void run(int* x) {
    launch<first>(1, x);
    launch<kernel>(2, x);
  }
};
"""
        },
    )
    chain = surveyed.follow("Op::run")
    assert [(one.kernel, one.line) for one in chain.launches] == [
        ("first", 8),
        ("second<float>", 8),
    ]
    assert [one.symbol for one in chain.kernels] == ["first", "second"]
    assert chain.gaps == []


def test_a_namespace_that_a_base_class_is_qualified_by_is_no_class(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "a.h": "namespace space {\ntemplate <typename T> struct Base {};\n"
            "template <typename T> int help(T x) { return x; }\n}\n"
            "struct S : space::Base<int> {};\n",
            "a.cc": '#include "a.h"\nusing namespace space;\nint run(int x) { return help(x); }\n',
        },
    )
    assert [one.symbol for one in surveyed.follow("run").steps] == ["run", "space::help"]
