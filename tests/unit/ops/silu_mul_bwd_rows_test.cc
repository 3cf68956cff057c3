// silu_mul_bwd/cpu/rows_v1 against the reference, in place and with special values; otherwise see
// gated_rows_test.cc.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ops/activation/silu_mul_bwd/contract.h"
#include "tests/unit/ops/op_test.h"

namespace einkorn {
namespace {

using test::expect_correct_args;
using test::tensor_of;

void expect_rows_args(const SiluMulBwd::Args& args, const std::vector<Tensor>& storage,
                      const std::string& title) {
  expect_correct_args("silu_mul_bwd", "cpu/rows_v1", args, storage, title);
}

TEST(SiluMulBwdRows, InPlace) {
  using Args = SiluMulBwd::Args;
  const auto problem =
      SiluMulBwd::parse(split_key_values("rows=6 cols=99 layout=row_strided clamp=true"));
  Rng rng(5);
  auto inputs = SiluMulBwd::make_inputs(problem, rng);
  for (const auto gate_over : {&Args::dgate, &Args::dy, &Args::gate, &Args::up}) {
    for (const auto up_over : {&Args::dup, &Args::dy, &Args::gate, &Args::up}) {
      if (gate_over == up_over) continue;
      Args args = inputs.args;
      args.dgate = inputs.args.*gate_over;
      args.dup = inputs.args.*up_over;
      expect_rows_args(args, inputs.storage, "in place");
    }
  }
  for (const char* packing : {"halves", "interleaved"}) {
    const auto packed =
        SiluMulBwd::parse(split_key_values(std::string("rows=6 cols=99 packing=") + packing));
    auto both = SiluMulBwd::make_inputs(packed, rng);
    both.args.dpacked = both.args.packed;
    expect_rows_args(both.args, both.storage, packing);
  }
}

TEST(SiluMulBwdRows, InfinityAndNan) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> special = {0,     -0.0, 1,     -1,    infinity, -infinity, std::nan(""),
                                       7,     7.5,  88,    -88,   89,       -89,       -104,
                                       -1000, 1e-4, 60000, -60000};
  std::vector<double> dy, gate, up;
  for (const double g : special) {
    for (const double u : {1.0, -0.5, 0.0, 7.5, infinity, -infinity, std::nan("")}) {
      for (const double d : {1.0, -2.0, infinity, std::nan("")}) {
        // f32 has no sigmoid but 0 below -88, and 0 times infinity is another thing than a tiny
        // number times infinity: either is right. With alpha 1.702 that is below -51.
        if ((std::isinf(u) || std::isinf(d)) && g < -51) continue;
        dy.push_back(d);
        gate.push_back(g);
        up.push_back(u);
      }
    }
  }
  const auto count = static_cast<std::int64_t>(gate.size());
  for (const DType dtype : {kF32, kF16, kBF16}) {
    const Tensor d = tensor_of(dtype, {1, count}, dy);
    const Tensor g = tensor_of(dtype, {1, count}, gate);
    const Tensor u = tensor_of(dtype, {1, count}, up);
    const Tensor dgate = Tensor::empty({1, count}, dtype, kCpuDevice);
    const Tensor dup = Tensor::empty({1, count}, dtype, kCpuDevice);
    SiluMulBwd::Args args;
    args.dy = d;
    args.gate = g;
    args.up = u;
    args.dgate = dgate;
    args.dup = dup;
    const std::vector<Tensor> storage{d, g, u, dgate, dup};
    expect_rows_args(args, storage, "plain");
    args.clamp = true;
    for (const double alpha : {1.702, 1.0, 0.0}) {
      for (const double limit : {7.0, infinity}) {
        args.alpha = alpha;
        args.limit = limit;
        expect_rows_args(args, storage, "clamped");
      }
    }
  }
}

}  // namespace
}  // namespace einkorn
