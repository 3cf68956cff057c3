// rms_norm/cpu/rows_v1 against the reference; of sizes and layouts see rms_rows_test.cc.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ops/norm/rms_norm/contract.h"
#include "tests/unit/ops/rows_variants.h"

namespace einkorn {
namespace {

using test::expect_correct;
using test::expect_correct_args;
using test::kDTypes;
using test::kRoundings;
using test::tensor_of;

void expect_rows(const std::string& keys) { expect_correct("rms_norm", "cpu/rows_v1", keys); }

TEST(RmsNormRows, EveryDtypeAndRounding) {
  for (const std::string dtype : kDTypes) {
    for (const std::string rounding : kRoundings) {
      const std::string base = "rows=5 dtype=" + dtype + " rounding=" + rounding + " cols=";
      for (const std::string weight : {"none", "f32", "f16", "bf16"}) {
        expect_rows(base + "131 weight=" + weight);
        expect_rows(base + "131 offset=1 rstd=true weight=" + weight);
      }
      for (const std::string residual : kDTypes) {
        expect_rows(base + "131 rstd=true residual=" + residual);
        expect_rows(base + "128 residual_out=false residual=" + residual);
      }
    }
  }
}

TEST(RmsNormRows, InPlace) {
  for (const std::string dtype : kDTypes) {
    const auto problem = RmsNorm::parse(split_key_values(
        "rows=6 cols=99 layout=row_strided residual=" + dtype + " dtype=" + dtype));
    Rng rng(5);
    auto inputs = RmsNorm::make_inputs(problem, rng);
    inputs.args.y = inputs.args.x;
    expect_correct_args("rms_norm", "cpu/rows_v1", inputs.args, inputs.storage, "y is x");
    inputs.args.residual_out = inputs.args.residual;
    expect_correct_args("rms_norm", "cpu/rows_v1", inputs.args, inputs.storage, "both in place");
  }
}

TEST(RmsNormRows, ExpandedInput) {
  const Tensor x = tensor_of(kF32, {1, 3}, {1, 2, 3});
  const Tensor y = Tensor::empty({4, 3}, kF32, kCpuDevice);
  const std::int64_t shape[] = {4, 3}, strides[] = {0, 1};
  RmsNorm::Args args;
  args.x = {x.view().data(), kF32, shape, strides, kCpuDevice};
  args.y = y;
  expect_correct_args("rms_norm", "cpu/rows_v1", args, {x, y}, "expanded");
}

TEST(RmsNormRows, InfinityAndNan) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const DType dtype : {kF32, kF16, kBF16}) {
    std::vector<double> values(4 * 37);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.01 * static_cast<double>(i);
    values[3] = infinity;
    values[37 + 36] = -infinity;
    values[2 * 37 + 20] = std::nan("");
    const Tensor x = tensor_of(dtype, {4, 37}, values);
    const Tensor y = Tensor::empty({4, 37}, dtype, kCpuDevice);
    const Tensor rstd = Tensor::empty({4}, kF32, kCpuDevice);
    RmsNorm::Args args;
    args.x = x;
    args.y = y;
    args.rstd = rstd;
    for (const auto rounding :
         {RmsNorm::Rounding::kLlama, RmsNorm::Rounding::kGemma, RmsNorm::Rounding::kNone}) {
      args.rounding = rounding;
      expect_correct_args("rms_norm", "cpu/rows_v1", args, {x, y, rstd}, "inf and nan");
    }
  }
}

/// Elements of y that differ in bits between the variant and the reference of `other` rounding.
double fraction_different(std::string_view keys, RmsNorm::Rounding other) {
  const auto problem = RmsNorm::parse(split_key_values(keys));
  Rng rng(7);
  const auto inputs = RmsNorm::make_inputs(problem, rng);
  rms_norm::run(inputs.args, Stream::cpu(), "cpu/rows_v1");
  const auto got = test::values_of(inputs.args.y);
  RmsNorm::Args args = inputs.args;
  args.rounding = other;
  RmsNorm::reference(args);
  const auto want = test::values_of(args.y);
  double different = 0;
  for (std::size_t i = 0; i < got.size(); ++i) different += got[i] != want[i] ? 1 : 0;
  return different / static_cast<double>(got.size());
}

// The tolerance cannot tell roundings apart, because a tie may fall either way. Most elements are
// no ties, so they tell.
TEST(RmsNormRows, RoundsWhereTheContractSays) {
  using enum RmsNorm::Rounding;
  for (const std::string dtype : {"bf16", "f16"}) {
    const std::string keys = "rows=16 cols=512 dtype=" + dtype;
    EXPECT_LT(fraction_different(keys + " rounding=llama", kLlama), 0.01);
    EXPECT_LT(fraction_different(keys + " rounding=gemma", kGemma), 0.01);
    EXPECT_LT(fraction_different(keys + " rounding=none", kNone), 0.01);
    EXPECT_GT(fraction_different(keys + " rounding=llama", kGemma), 0.1);
    EXPECT_GT(fraction_different(keys + " rounding=none", kLlama), 0.1);
  }
}

}  // namespace
}  // namespace einkorn
