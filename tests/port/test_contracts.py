"""Contracts along whole call chains, and which of them are hidden."""

from chain_support import of_files, repo
from contract_support import contracts, hidden, rows
from einkorn.port.contracts.collect import hidden_of

KERNEL = "__global__ void kernel(const float* x, int n) {}\n"
BINDING = """
#include "run.cu"
void run_op(at::Tensor input, at::Tensor weight, int64_t groups) {
  launch(input, weight, input.size(0), groups);
}
PYBIND11_MODULE(_C, m) { m.def("run_op", &run_op); }
"""
PYTHON = """
import torch
from . import _C

def run(x, w, groups=1):
    if x.dim() != 2:
        raise ValueError("x")
    assert w.dtype in (torch.float16,), "w"
    _C.run_op(x, w, groups)
"""


def surveyed(tmp_path, body, python=PYTHON):
    launcher = f"{KERNEL}void launch(Tensor a, Tensor b, int n, int groups) {{\n{body}\n"
    launcher += "  kernel<<<n, 32>>>(a.data_ptr<float>(), groups);\n}\n"
    files = {"csrc/run.cu": launcher, "csrc/binding.cpp": BINDING, "pkg/__init__.py": python}
    return contracts(of_files(tmp_path, files), "pkg/__init__.py:run")


def test_arguments_have_the_names_that_users_give(tmp_path):
    body = "assert(n % 8 == 0); assert(b.size(0) == n); assert(groups > 1);"
    found = [one for one in surveyed(tmp_path, body) if one.side == "launcher"]
    assert [(one.argument, one.property, one.normal) for one in found] == [
        ("x", "shape", "x.shape[0] % 8 == 0"),
        ("w", "shape", "w.shape[0] == x.shape[0]"),
        ("groups", "value", "1 < groups"),
    ]


def test_hidden_are_those_that_python_does_not_state(tmp_path):
    body = """
  TORCH_CHECK(a.dim() == 2 && a.is_contiguous());
  TORCH_CHECK(b.scalar_type() == at::kHalf || b.scalar_type() == at::kBFloat16);
  TORCH_CHECK(b.dim() == 2);
  if (n == 0) return;
  static_assert(sizeof(float) == 4);
"""
    found = surveyed(tmp_path, body)
    assert len(found) == 8
    assert rows(hidden_of(found)) == [
        ("x", "stride", "a.is_contiguous()"),
        ("w", "rank", "b.dim() == 2"),
    ]


def test_a_check_in_some_cases_only_states_nothing(tmp_path):
    python = PYTHON.replace(
        "    assert w", "    if groups > 1:\n        assert w.dim() == 2\n    assert w"
    )
    found = surveyed(tmp_path, "TORCH_CHECK(b.dim() == 2);", python)
    assert rows(hidden_of(found)) == [("w", "rank", "b.dim() == 2")]


def test_what_the_wrapper_makes_is_not_asked_of_users(tmp_path):
    python = PYTHON.replace("_C.run_op(x, w,", "_C.run_op(x.view(-1), w.contiguous(),")
    body = "TORCH_CHECK(a.dim() == 1 && a.size(0) > 8 && b.is_contiguous() && b.dim() == 2);"
    found = [one for one in surveyed(tmp_path, body, python) if one.side == "launcher"]
    assert [(one.argument, one.normal) for one in found] == [
        ("x", "8 < x.numel"),
        ("w", "w.rank == 2"),
    ]


def test_keywords_and_defaults(tmp_path):
    python = PYTHON.replace("_C.run_op(x, w, groups)", "_C.run_op(x, groups=groups, weight=w)")
    found = surveyed(tmp_path, "assert(b.dim() == 2);", python)
    assert ("w", "rank", "b.dim() == 2") in rows(found)


def test_an_entry_in_cpp_is_compared_with_the_python_that_calls_it(tmp_path):
    surveyed(tmp_path, "assert(a.dim() == 2); assert(a.size(1) == 4);")
    found = contracts(of_files(tmp_path, {}), "run_op")
    assert rows(hidden_of(found)) == [("x", "shape", "a.size(1) == 4")]


def test_without_python_the_entry_is_the_public_side(tmp_path):
    text = f"{KERNEL}void launch(Tensor a) {{ assert(a.dim() == 2); assert(a.is_cuda());"
    text += " kernel<<<1, 32>>>(a.data_ptr<float>(), 1); }\n"
    text += 'void run(Tensor x) { TORCH_CHECK(x.dim() == 2, "x"); launch(x); }\n'
    found = contracts(of_files(tmp_path, {"run.cu": text}), "run")
    assert [(one.side, one.argument, one.condition) for one in found] == [
        ("public", "x", "x.dim() == 2"),
        ("launcher", "x", "a.dim() == 2"),
        ("launcher", "x", "a.is_cuda()"),
    ]
    assert rows(hidden_of(found)) == [("x", "device", "a.is_cuda()")]


def test_checking_functions_count_for_each_argument(tmp_path):
    text = f"""{KERNEL}
void check(const Tensor& tensor, int rank) {{ TORCH_CHECK(tensor.dim() == rank); }}
void run(Tensor x, Tensor w) {{
  check(x, 2);
  check(w, 1);
  kernel<<<1, 32>>>(x.data_ptr<float>(), 1);
}}
"""
    found = contracts(of_files(tmp_path, {"run.cu": text}), "run")
    assert [(one.argument, one.normal) for one in found] == [
        ("x", "x.rank == 2"),
        ("w", "w.rank == 1"),
    ]


def test_structs_carry_arguments(tmp_path):
    text = """
struct Params { int rows; int columns; const float* data; };
__global__ void kernel(Params params) { auto v = reinterpret_cast<const float4*>(params.data); }
void launch(Params params) {
  assert(params.rows % 4 == 0);
  assert(params.columns <= 64);
  kernel<<<1, 32>>>(params);
}
void run(Tensor x, int width) {
  Params params{int(x.size(0))};
  params.columns = width;
  params.data = x.data_ptr<float>();
  launch(params);
}
"""
    found = contracts(of_files(tmp_path, {"run.cu": text}), "run")
    assert [(one.argument, one.property) for one in found] == [
        ("x", "alignment"),
        ("x", "shape"),
        ("width", "value"),
    ]


def test_views_made_by_a_conversion_are_seen_through():
    found = {one.line: one.normal for one in contracts(repo("pybind"), "scale_rows")}
    assert found[28] == "factors.shape[0] == x.shape[0]"
    assert found[27] == "x.shape[-1] <= 8192"
    assert ("factors", "shape", "factors.rows == x.rows") not in hidden("pybind", "scale_rows")


def test_alignment_that_kernels_ask_for():
    assert ("x", "alignment", "address(x) % 16 == 0") in hidden("tvm_ffi", "add_bias")
    assert ("x", "alignment", "address(x) % 16 == 0") in hidden("load_jit", "shift_by")


def test_statements_of_python_are_public_and_those_of_triton_launchers_are_not():
    sides = [(one.side, one.condition) for one in contracts(repo("triton"), "rms_scale")]
    assert ("launcher", "weight.shape == (width)") in sides


def test_a_status_that_comes_back_is_no_requirement():
    assert hidden("ctypes", "scan") == [("x", "shape", "rows > 0")]
    public = [one.condition for one in contracts(repo("ctypes"), "scan") if one.side == "public"]
    assert public == ["columns <= 1024"]


def test_matchers_of_a_jit_kernel():
    found = rows(contracts(repo("load_jit"), "shiftlib.jit.shift.shift"))
    assert ("x", "dtype", "x.dtype() == int32_t") in found
    assert ("x", "shape", "x.size(0) == count") in found
    assert ("out", "stride", "out.is_contiguous()") in found


def test_recursion_ends(tmp_path):
    text = f"""{KERNEL}
void run(Tensor x, int n) {{
  int m = n; n = m; m = n + m;
  assert(m > 0);
  if (n > 1) {{ run(x, n - 1); }}
  kernel<<<1, 32>>>(x.data_ptr<float>(), n);
}}
"""
    found = contracts(of_files(tmp_path, {"run.cu": text}), "run")
    assert [(one.argument, one.condition) for one in found] == [("n", "m > 0")]
