"""Requirements that C++ states, and which argument each is about."""

import pytest
from contract_support import of_launcher, rows


@pytest.mark.parametrize(
    ("statement", "row"),
    [
        ("assert(x.dim() == 2);", ("x", "rank", "x.dim() == 2")),
        ('TORCH_CHECK(x.is_cuda(), "x");', ("x", "device", "x.is_cuda()")),
        ("TORCH_CHECK_EQ(x.size(0), w.size(0));", ("x", "shape", "x.size(0) == w.size(0)")),
        ("TVM_FFI_ICHECK_GE(groups, 2);", ("groups", "value", "groups >= 2")),
        ('host::RuntimeCheck(groups > 0, "g");', ("groups", "value", "groups > 0")),
        ("static_assert(sizeof(int) == 4);", ("", "dtype", "sizeof(int) == 4")),
        (
            'if (x.stride(-1) != 1) { throw std::runtime_error("x"); }',
            ("x", "stride", "x.stride(-1) == 1"),
        ),
        ("if (x.numel() == 0) return;", ("x", "shape", "x.numel() != 0")),
        ("if (groups > 8) { abort(); }", ("groups", "value", "groups <= 8")),
        (
            'if (!is_sm90()) { TORCH_CHECK(false, "needs sm_90"); }',
            ("", "architecture", "is_sm90()"),
        ),
        (
            "auto p = reinterpret_cast<const int4*>(w.data_ptr());",
            ("w", "alignment", "address(w.data_ptr()) % 16 == 0"),
        ),
        ("auto p = (float2*)w.data_ptr();", ("w", "alignment", "address(w.data_ptr()) % 8 == 0")),
        ("CHECK_CONTIGUOUS(w);", ("w", "stride", "w.is_contiguous()")),
        ("CHECK_DIM(3, w);", ("w", "rank", "w.dim() == 3")),
        ("CHECK_SHAPE(w, groups, 4);", ("w", "shape", "w.sizes() == {groups, 4}")),
        ("assert(bias.has_value());", ("bias", "presence", "bias.has_value()")),
        (
            "assert(w.scalar_type() == torch::kHalf);",
            ("w", "dtype", "w.scalar_type() == torch::kHalf"),
        ),
    ],
)
def test_each_form_is_a_row(tmp_path, statement, row):
    assert rows(of_launcher(tmp_path, statement)) == [row]


@pytest.mark.parametrize(
    "body",
    [
        "// assert(x.dim() == 2);",
        "/* TORCH_CHECK(x.dim() == 2); */",
        "#ifndef NDEBUG\n  assert(x.dim() == 2);\n#endif",
        "#ifdef NDEBUG\n#else\n  TORCH_CHECK(x.dim() == 2);\n#endif",
        "#if 0\n  assert(x.dim() == 2);\n#endif",
        "C10_CUDA_CHECK(cudaGetLastError());",
        "CUDA_CHECK(cudaMemsetAsync(x.data_ptr(), 0, 4));",
        "DCHECK(x.dim() == 2);",
        "auto p = x.data_ptr<float>(); auto q = reinterpret_cast<char*>(p);",
        "if (groups > 2) groups = 2;",
        "for (int i = 0; i < groups; ++i) { if (i == 3) continue; }",
    ],
)
def test_what_is_no_requirement(tmp_path, body):
    assert rows(of_launcher(tmp_path, body)) == []


def test_asserts_of_a_file_without_asserts(tmp_path):
    head = "#define NDEBUG\n#include <cassert>"
    found = of_launcher(tmp_path, 'assert(groups > 1); TORCH_CHECK(groups > 2, "");', head)
    assert rows(found) == [("groups", "value", "groups > 2")]


def test_discarded_branches_are_listed(tmp_path):
    body = "if constexpr (kFast) { assert(groups == 1); } else { assert(groups == 2); }"
    found = of_launcher(tmp_path, body)
    assert [(one.condition, one.when) for one in found] == [
        ("groups == 1", "kFast"),
        ("groups == 2", "!kFast"),
    ]


def test_an_error_behind_a_chain_of_ifs(tmp_path):
    body = """
  if (groups == 1) { use(1); } else if (groups == 2) { use(2); } else { assert(false); }
  switch (x.dim()) { case 2: break; case 3: break; default: throw std::runtime_error("rank"); }
"""
    assert rows(of_launcher(tmp_path, body)) == [
        ("groups", "value", "groups == 1 || groups == 2"),
        ("x", "rank", "x.dim() in {2, 3}"),
    ]


def test_guards_go_to_when(tmp_path):
    body = "if (bias.has_value()) { assert(bias->dim() == 1); }"
    (row,) = of_launcher(tmp_path, body)
    assert (row.argument, row.property, row.when) == ("bias", "rank", "bias.has_value()")


def test_locals_lead_back_to_arguments(tmp_path):
    body = """
  int M = x.numel() / x.shape[-1], N = w.shape[0];
  const auto sizes = w.sizes();
  auto [rows, columns] = x.sizes();
  assert(M % 64 == 0);
  assert(M == sizes[1]);
  assert(columns <= N);
  for (auto tensor : {x, w}) { assert(tensor.is_cuda()); }
"""
    found = of_launcher(tmp_path, body)
    assert [(one.argument, one.property, one.normal) for one in found] == [
        ("x", "shape", "x.numel / x.shape[-1] % 64 == 0"),
        ("x", "shape", "w.shape[1] == x.numel / x.shape[-1]"),
        ("x", "shape", "x.shape[1] <= w.shape[0]"),
        ("x", "device", "x.cuda"),
    ]


def test_one_row_for_each_argument_and_property(tmp_path):
    body = 'TORCH_CHECK(x.is_cuda() && w.is_cuda() && x.dim() == 2 && x.size(0) > 0, "");'
    assert rows(of_launcher(tmp_path, body)) == [
        ("x", "device", "x.is_cuda()"),
        ("w", "device", "w.is_cuda()"),
        ("x", "rank", "x.dim() == 2"),
        ("x", "shape", "x.size(0) > 0"),
    ]


def test_macros_of_the_repository_are_looked_through(tmp_path):
    head = """
#define NEED(c, ...) do { if (!(c)) { fprintf(stderr, __VA_ARGS__); exit(1); } } while (0)
#define MY_ASSERT(c) NEED(c, "no %s", #c)
#define CHECK_ALL(...) TORCH_CHECK(all_of(__VA_ARGS__))
#define CHECK_FLAT(t) TORCH_CHECK(visit(t, [](const Tensor& v) { return v.dim() == 1; }))
"""
    found = of_launcher(tmp_path, "MY_ASSERT(x.dim() == 2); CHECK_FLAT(w);", head)
    assert [(one.form, one.argument, one.condition) for one in found] == [
        ("MY_ASSERT", "x", "x.dim() == 2"),
        ("CHECK_FLAT", "w", "w.dim() == 1"),
    ]


def test_aliases_of_vectors(tmp_path):
    head = "using packed_t = uint4;\nstruct alignas(32) Chunk { char data[32]; };"
    body = "use(x.data_ptr<packed_t>()); use(reinterpret_cast<Chunk*>(w.data_ptr()));"
    assert [one.condition for one in of_launcher(tmp_path, body, head)] == [
        "address(x) % 16 == 0",
        "address(w.data_ptr()) % 32 == 0",
    ]


def test_matchers(tmp_path):
    body = """
  SymbolicSize n = {"n"}, row; SymbolicDevice device;
  TensorMatcher({n, 128}).with_dtype<half, float>().with_device<kDLCUDA>(device).verify(x);
  TensorMatcher({-1, n}).with_strides({row, 1}).with_device(device).verify(w);
  RuntimeCheck(row % 4 == 0);
  RuntimeCheck(n.unwrap() % 8 == 0);
"""
    found = [(one.argument, one.property, one.normal) for one in of_launcher(tmp_path, body)]
    assert found == [
        ("x", "rank", "x.rank == 2"),
        ("x", "shape", "x.shape[1] == 128"),
        ("x", "dtype", "x.dtype in {f16, f32}"),
        ("x", "device", "x.cuda"),
        ("x", "stride", "x.contiguous"),
        ("w", "rank", "w.rank == 2"),
        ("w", "shape", "w.shape[1] == x.shape[0]"),
        ("w", "device", "w.device == x.device"),
        ("w", "stride", "w.stride[1] == 1"),
        ("w", "stride", "w.stride[0] % 4 == 0"),
        ("x", "shape", "x.shape[0] % 8 == 0"),
    ]


def test_deep_conditions_do_no_harm(tmp_path):
    deep = "(" * 5000 + "x.dim()" + ")" * 5000
    long = " + ".join(["x.size(0)"] * 3000)
    found = of_launcher(
        tmp_path, f"assert({deep} == 2); int n = {long}; assert(n > 0 && groups > 1);"
    )
    assert ("groups", "value", "groups > 1") in rows(found)


def test_checks_of_own_tensors_ask_nothing(tmp_path):
    body = "auto out = torch::empty({groups, 4}, x.options()); CHECK_CONTIGUOUS(out);"
    assert rows(of_launcher(tmp_path, body)) == []
