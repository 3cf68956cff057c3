// silu_mul/cpu/rows_v1 against the reference, in place and with special values; otherwise see
// gated_rows_test.cc.

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "ops/activation/silu_mul/contract.h"
#include "tests/unit/ops/op_test.h"

namespace einkorn {
namespace {

using test::expect_correct_args;
using test::tensor_of;

TEST(SiluMulRows, InPlace) {
  const auto problem = SiluMul::parse(split_key_values("rows=6 cols=99 layout=row_strided"));
  Rng rng(5);
  auto inputs = SiluMul::make_inputs(problem, rng);
  inputs.args.y = inputs.args.gate;
  expect_correct_args("silu_mul", "cpu/rows_v1", inputs.args, inputs.storage, "y is gate");
  inputs.args.y = inputs.args.up;
  expect_correct_args("silu_mul", "cpu/rows_v1", inputs.args, inputs.storage, "y is up");
}

TEST(SiluMulRows, InfinityAndNan) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> special = {0,     -0.0,  1,  -1,  infinity, -infinity, std::nan(""),
                                       88,    -88,   89, -89, -104,     -1000,     1e-4,
                                       60000, -60000};
  std::vector<double> gate, up;
  for (const double g : special) {
    for (const double u : {1.0, -0.5, 0.0, infinity, -infinity, std::nan("")}) {
      // f32 has no silu but 0 below -88, and 0 times infinity is another thing than a tiny number
      // times infinity: either is right.
      if (std::isinf(u) && g < -88) continue;
      gate.push_back(g);
      up.push_back(u);
    }
  }
  const auto count = static_cast<std::int64_t>(gate.size());
  for (const DType dtype : {kF32, kF16, kBF16}) {
    const Tensor g = tensor_of(dtype, {1, count}, gate);
    const Tensor u = tensor_of(dtype, {1, count}, up);
    const Tensor y = Tensor::empty({1, count}, dtype, kCpuDevice);
    SiluMul::Args args;
    args.gate = g;
    args.up = u;
    args.y = y;
    expect_correct_args("silu_mul", "cpu/rows_v1", args, {g, u, y}, "plain");
    args.clamp = true;
    for (const double alpha : {1.702, 1.0, 0.0}) {
      args.alpha = alpha;
      expect_correct_args("silu_mul", "cpu/rows_v1", args, {g, u, y}, "clamped");
    }
  }
}

}  // namespace
}  // namespace einkorn
