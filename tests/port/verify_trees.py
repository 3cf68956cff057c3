"""A tree with one op of which nothing is missing, for tests to spoil."""

import pathlib

HEADER = """\
#pragma once
#include <einkorn/op.h>
namespace einkorn {
struct Scale {
  static constexpr std::string_view kName = "scale";
  static constexpr std::int64_t kMaxRows = std::int64_t{1} << 40;
  struct Args {
    TensorView x, bias, y;
    double factor = 1;
    static constexpr auto arguments() {
      return std::tuple{input("x", &Args::x, "[n]"), optional_input("bias", &Args::bias, "[n]"),
                        output("y", &Args::y, Like{"x"}, "like x"),
                        scalar("factor", &Args::factor, "finite")};
    }
  };
  struct Problem {
    static constexpr auto fields() { return std::tuple{field("n", &Problem::n, "elements")}; }
  };
};
}  // namespace einkorn
"""

SOURCE = """\
#include "ops/toy/scale/contract.h"
#include "ops/toy/checks.h"
namespace einkorn {
namespace {
struct Memory {
  std::string_view name;
  Memory(std::string_view argument, const TensorView& view) : name(argument) {}
};
struct Pair {
  struct Part { std::string_view name; const TensorView& tensor; };
  int rank;
  Part first, second;
  void match(std::string_view op, Names& names) const {
    for (const Part* part : {&first, &second}) {
      einkorn::match(op, part->name, part->tensor).dtype(names.dtype).on(names.device).verify();
    }
  }
};
Pair tensors_of(const Scale::Args& args) { return {1, {"x", args.x}, {"bias", args.bias}}; }
}  // namespace

Scale::Problem Scale::match(const Args& args) {
  Names names;
  const auto check_apart = [](const Memory& output, const Memory& other) {
    check_overlap(Scale::kName, output.name, *output.tensor, other.name, *other.tensor, kNone);
  };
  const Pair tensors = tensors_of(args);
  tensors.match(kName, names);
  toy::match_output(kName, "y", args.y, names);
  EK_CHECK(std::isfinite(args.factor), ErrorKind::kValue,
           fmt::format("{}: factor value: expected a finite number, got {}", kName, args.factor));
  const Memory x("x", args.x);
  const Memory bias("bias", args.bias);
  const Memory y("y", args.y);
  for (const Memory* other : {&x, &bias}) check_apart(y, *other);
  return {};
}
Scale::Problem Scale::parse(const KeyValues& pairs) {
  toy::check_key(kName, "n", 1);
  toy::check_key(kName, "layout", 1);
  return {};
}
namespace scale {
constexpr OpDef definition = make_op<Scale>([](const void*) {});
}
}  // namespace einkorn
"""

CHECKS_H = """\
#pragma once
namespace einkorn::toy {
template <class... More>
void match_output(std::string_view op, std::string_view argument, const TensorView& tensor,
                  Names& names, More&&... more) {
  ArgumentMatcher rows(op, argument, tensor);
  static_cast<void>(rows.writable());
  rows.dtype(names.dtype, more...).last_contiguous().verify();
}
void check_key(std::string_view op, std::string_view key, int value);
}  // namespace einkorn::toy
"""

CHECKS_CC = """\
#include "ops/toy/checks.h"
namespace einkorn::toy {
void check_key(std::string_view op, std::string_view key, int value) {
  EK_CHECK(value > 0, ErrorKind::kValue,
           fmt::format("{0}: {1}: expected a positive number, got {2}", op, key, value));
}
}  // namespace einkorn::toy
"""

ERRORS = {
    "no x": "TypeError: scale: x: expected a tensor, got no tensor",
    "x dtype": "TypeError: scale: x dtype: expected f32, got i8",
    "bias dtype": "TypeError: scale: bias dtype: expected f32, got i8",
    "bias device": "TypeError: scale: bias device: expected cpu, got cuda:0",
    "no y": "TypeError: scale: y: expected a tensor, got no tensor",
    "y dtype": "TypeError: scale: y dtype: expected f32, got i8",
    "y strided": "ValueError: scale: y stride of dim 0: expected 1, got 2",
    "y expanded": "ValueError: scale: y strides: expected elements that each have their own memory",
    "factor": "ValueError: scale: factor value: expected a finite number, got inf",
    "y over x": "ValueError: scale: y memory: expected memory apart from x, got exactly it",
    "y over bias": "ValueError: scale: y memory: expected memory apart from bias, got exactly it",
    "n": "ValueError: scale: n: expected a positive number, got -1",
}

README = """\
# scale

    y = factor * x + 12345

- n: 0 to 2^40, in blocks of 384. f32 and bf16.
"""

OPS = '''\
"""The operators."""
from typing import TypeVar
from . import _dispatch

def scale(x, bias=None, *, factor=1.0, out=None, variant=None):
    """y = factor * x"""

__all__ = ["scale"]
'''

KERNELS = """\
from .. import _fakes
_scale_op = _ops.TABLE["scale"]
def _scale(x, bias=None, factor=1.0, variant=None): ...
def _scale_out(x, bias=None, *, y, factor=1.0, variant=None): ...
SCALE_FORM = Form(
    _scale_op, name="scale", returns=("y",),
    schema=("(Tensor x, Tensor? bias=None, *, " "float factor=1.0, str? variant=None) -> Tensor"),
    kernel=_scale, autograd=_scale, fake=_fakes._fake_scale,
)
SCALE_OUT_FORM = Form(
    _scale_op, name="scale_out", returns=(),
    schema="(Tensor x, Tensor? bias=None, *, Tensor(a!) y, float factor=1.0) -> ()",
    kernel=_scale_out, autograd=_scale_out, fake=_fakes._fake_scale_out,
)
"""

FAKES = """\
def _fake_scale(x, bias=None, factor=1.0, variant=None): ...
def _fake_scale_out(x, bias=None, *, y, factor=1.0, variant=None): ...
"""

CPP_TESTS = """\
TEST(ScaleContract, Errors) {
  GoldenErrors errors("errors/scale_match.txt");
}
TEST(ScaleContract, RoundTrip) { EXPECT_EQ(Scale::parse(Scale::print(problem)), problem); }
TEST(ScaleReference, HandComputed) { Scale::reference(args); EXPECT_EQ(y, 384); }
TEST(ScaleContract, Large) { EXPECT_TRUE(accepts(std::int64_t{1} << 40, kBF16)); }
"""

PYTHON_TESTS = """\
def test_import():
    subprocess.run([sys.executable, "-c", "import einkorn; einkorn.ops.scale"])

def test_call():
    assert ops.scale(np.ones(3, np.float32)).shape == (3,)
"""

FILES = {
    "ops/variants.inc": '#include "ops/toy/scale/variants.inc"\n',
    "ops/toy/checks.h": CHECKS_H,
    "ops/toy/checks.cc": CHECKS_CC,
    "ops/toy/scale/contract.h": HEADER,
    "ops/toy/scale/contract.cc": SOURCE,
    "ops/toy/scale/reference.cc": "void Scale::reference(const Args& args) {}\n",
    "ops/toy/scale/variants.inc": "EK_OP(scale)\n",
    "ops/toy/scale/cases.inc": 'EK_CASE(one, 0, "n=1 dtype=f32")\n',
    "ops/toy/scale/README.md": README,
    "python/einkorn/__init__.py": "import importlib\n",
    "python/einkorn/_dispatch.py": "import sys\ndef later():\n    import torch\n",
    "python/einkorn/ops.py": OPS,
    "python/einkorn/torch/_kernels/scale.py": KERNELS,
    "python/einkorn/torch/_fakes.py": FAKES,
    "tests/unit/ops/scale_contract_test.cc": CPP_TESTS,
    "tests/golden/errors/scale_match.txt": "\n\n".join(f"## {k}\n{v}" for k, v in ERRORS.items()),
    "tests/python/test_scale.py": PYTHON_TESTS,
}


def make(root: pathlib.Path) -> pathlib.Path:
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root
