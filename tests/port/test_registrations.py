"""Registrations: all that the small repositories make, none that they don't; odd spellings."""

import chain_support
import pytest
from chain_support import of_files, repo, rows

EXPECTED = {
    "pybind": [
        ("pybind", "_C.Counter.__init__", "py::init<>()", "csrc/bindings.cpp", 6),
        ("pybind", "_C.Counter.add", "rowops::Counter::add", "csrc/bindings.cpp", 7),
        ("pybind", "_C.Counter.reset", "lambda", "csrc/bindings.cpp", 8),
        ("pybind", "_C.ops.scale_rows", "rowops::ops::scale_rows", "csrc/bindings.cpp", 10),
        ("pybind", "_C.ops.row_sums", "rowops::ops::row_sums", "csrc/bindings.cpp", 11),
        ("pybind", "_C.limits.largest_width", "lambda", "csrc/bindings.cpp", 13),
        ("pybind", "_C.version", "rowops::version", "csrc/bindings.cpp", 14),
    ],
    "torch_library": [
        (
            "torch_library",
            "softclip::clip",
            "clip(Tensor x, float limit) -> Tensor",
            "csrc/clip.cu",
            33,
        ),
        (
            "torch_library",
            "softclip::clip_",
            "clip_(Tensor(a!) x, float limit) -> ()",
            "csrc/clip.cu",
            34,
        ),
        ("torch_library", "softclip::clip_", "softclip::clip_in_place_cuda", "csrc/clip.cu", 35),
        ("torch_library", "softclip::clip", "softclip::clip_cuda", "csrc/clip.cu", 38),
        ("torch_library", "softclip::clip", "softclip::clip_cpu", "csrc/clip.cu", 40),
        ("torch_custom_op", "softclip::clip", "softclip._fake_clip", "softclip/__init__.py", 19),
    ],
    "torch_custom_op": [
        ("pybind", "gatelib_C.gate_out", "gate_out", "csrc/gate.cu", 33),
        (
            "torch_custom_op",
            "gatelib::gate_add",
            "gate_add(Tensor x, Tensor gate, Tensor y) -> Tensor",
            "gatelib/gate.py",
            7,
        ),
        ("torch_custom_op", "gatelib::gate_out", "gatelib.gate._gate_out", "gatelib/gate.py", 18),
        ("torch_custom_op", "gatelib::gate_out", "gatelib.gate._", "gatelib/gate.py", 23),
        (
            "torch_custom_op",
            "gatelib::gate_add",
            "gatelib.gate._gate_add_cuda",
            "gatelib/gate.py",
            34,
        ),
    ],
    "tvm_ffi": [
        ("tvm_ffi", "add_bias", "add_bias_launcher", "csrc/export.cu", 6),
        ("tvm_ffi", "biaslib.scale_bias", "scale_bias", "csrc/export.cu", 10),
        ("tvm_ffi", "biaslib.largest", "lambda", "csrc/export.cu", 10),
    ],
    "ctypes": [
        ("ctypes", "_library.scan_rows", "scan_rows", "src/scan.cu", 52),
        ("ctypes", "_library.scan_reset", "scan_reset", "src/scan.cu", 63),
    ],
    "load_inline": [
        ("pybind", "powers_extension.powers", "powers", "polylib/csrc/powers.cu", 23),
        ("load_inline", "horner_inline.horner_cuda", "horner_cuda", "polylib/horner.py", 47),
        ("load_inline", "powers_extension", "csrc/powers.cu", "polylib/horner.py", 54),
    ],
    "load_jit": [
        ("load_jit", "shift", "shift<{args}>", "shiftlib/jit/shift.py", 17),
        ("load_jit", "run", "ShiftBy<{args}>::run", "shiftlib/jit/shift.py", 28),
        ("load_jit", "check", "ShiftBy<{args}>::check", "shiftlib/jit/shift.py", 28),
    ],
    "triton": [
        ("triton", "_forward_kernel", "normlib.kernels._forward_kernel", "normlib/kernels.py", 14),
        (
            "triton",
            "_backward_kernel",
            "normlib.kernels._backward_kernel",
            "normlib/kernels.py",
            25,
        ),
    ],
}


@pytest.mark.parametrize("kind", EXPECTED)
def test_all_and_no_others(kind):
    assert rows(repo(kind).registrations) == EXPECTED[kind]


def test_each_kind_has_a_repository():
    assert {one.name for one in chain_support.REPOS.iterdir() if one.is_dir()} >= set(EXPECTED)


def found(root, **files):
    texts = {
        "a.cu": files.get("cu", ""),
        "a.py": files.get("py", ""),
        "setup.py": files.get("setup", ""),
    }
    surveyed = of_files(root, {name: text for name, text in texts.items() if text})
    return [(one.public_name, one.symbol) for one in surveyed.registrations], surveyed.sources.gaps


def test_casts_and_overloads_lead_to_the_function(tmp_path):
    registered, _ = found(
        tmp_path,
        cu="""
PYBIND11_MODULE(lib, m) {
  m.def("a", static_cast<int (*)(int)>(&ns::a));
  m.def("b", py::overload_cast<int>(&ns::b), py::arg("x") = 1);
  m.def("c", (int (*)(int)) & ns::c);
  m.def("d", &ns::d<float, 4>);
}
""",
    )
    assert registered == [
        ("lib.a", "ns::a"),
        ("lib.b", "ns::b"),
        ("lib.c", "ns::c"),
        ("lib.d", "ns::d<float, 4>"),
    ]


def test_a_function_that_is_handed_the_module(tmp_path):
    registered, _ = found(
        tmp_path,
        cu='void bind(py::module_& m) { m.def("f", &f); }\nvoid other(Map& m) { m.def("g", g); }\n',
        setup='ext = CUDAExtension(name="pkg._C", sources=["a.cu"])\n',
    )
    assert registered == [("_C.f", "f")]


def test_a_name_that_is_no_literal_is_a_gap(tmp_path):
    registered, gaps = found(tmp_path, cu="PYBIND11_MODULE(lib, m) { m.def(kName, &f); }\n")
    assert registered == []
    assert [(gap.file, gap.line) for gap in gaps] == [("a.cu", 1)]


def test_other_chains_of_def_are_none(tmp_path):
    registered, _ = found(
        tmp_path, cu='PYBIND11_MODULE(lib, m) { m.def("f", f); table.def("g", g); }\n'
    )
    assert registered == [("lib.f", "f")]


def test_torch_library_spellings(tmp_path):
    registered, gaps = found(
        tmp_path,
        cu="""
TORCH_LIBRARY_FRAGMENT(lib, m) {
  m.def("f(Tensor x,"
        " int n) -> Tensor", {at::Tag::pt2_compliant_tag});
  m.def(torch::schema("g(Tensor x) -> Tensor"), &g);
}
TORCH_LIBRARY_IMPL(lib, Meta, m) { m.impl("f", TORCH_FN(f_meta)); }
TORCH_LIBRARY_EXPAND(lib2, ops) {
  ops.impl("h", torch::kCUDA, &h);
  ops.impl("i", torch::dispatch(c10::DispatchKey::CPU, TORCH_BOX(&i)));
}
""",
    )
    assert registered == [
        ("lib::f", "f(Tensor x, int n) -> Tensor"),
        ("lib::g", "g"),
        ("lib::f", "f_meta"),
        ("lib2::h", "h"),
        ("lib2::i", "i"),
    ]
    assert gaps == []


def test_tvm_globals(tmp_path):
    registered, _ = found(
        tmp_path,
        cu="""
TVM_FFI_REGISTER_GLOBAL("lib.f").set_body_typed(f);
TVM_FFI_STATIC_INIT_BLOCK() { refl::ObjectDef<Pool>().def("take", &Pool::take); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(g, (ns::g<float, true>));
""",
    )
    assert registered == [("lib.f", "f"), ("Pool.take", "Pool::take"), ("g", "ns::g<float, true>")]


def test_helpers_that_register_ops(tmp_path):
    registered, _ = found(
        tmp_path,
        py="""
import torch

@register_custom_op(op_name="first", mutates_args=["out"])
def _first(x, out): ...

direct_register_custom_op(op_name="second", op_func=_first, mutates_args=[], fake_impl=_fake)

@torch.library.impl(library, "third", "CUDA")
def third(x): ...

library = torch.library.Library("lib", "DEF")
""",
    )
    assert registered == [
        ("first", "a._first"),
        ("second", "a._first"),
        ("second", "_fake"),
        ("lib::third", "a.third"),
    ]


def test_wrappers_that_are_no_literals_are_a_gap(tmp_path):
    registered, gaps = found(
        tmp_path, py='def f(name):\n    return load_jit("x", cuda_wrappers=[(name, name)])\n'
    )
    assert registered == []
    assert [(gap.file, gap.line) for gap in gaps] == [("a.py", 2)]


def test_only_the_files_asked_for():
    surveyed = repo("torch_library")
    only = chain_support.registrations_of(surveyed.cpp, surveyed.python, ["softclip/__init__.py"])
    assert [one.file for one in only] == ["softclip/__init__.py"]


def test_functions_of_c_linkage_that_python_does_not_take_are_none(tmp_path):
    surveyed = of_files(
        tmp_path,
        {
            "a.cc": 'extern "C" int used(int x) { return x; }\n'
            'extern "C" int unused() { return 0; }\n',
            "a.py": "import ctypes\nlib = ctypes.CDLL('a.so')\n\n"
            "def f(x):\n    return lib.used(x)\n\ndef g(other):\n    return other.unused()\n",
        },
    )
    assert [one.symbol for one in surveyed.registrations] == ["used"]
