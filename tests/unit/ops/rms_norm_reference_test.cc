#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "ops/norm/rms_norm/contract.h"
#include "tests/unit/ops/op_test.h"

namespace einkorn {
namespace {

using test::tensor_of;
using test::values_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(RmsNormReference, HandComputed) {
  // mean(3^2, 4^2) + 12 = 24.5 and 1 / sqrt(24.5) * sqrt(24.5) = 1.
  const Tensor x = tensor_of(kF32, {1, 2}, {3, 4});
  const Tensor weight = tensor_of(kF32, {2}, {2, -1});
  const Tensor y = Tensor::empty({1, 2}, kF64, kCpuDevice);
  const Tensor rstd = Tensor::empty({1}, kF64, kCpuDevice);
  RmsNorm::Args args;
  args.x = x;
  args.weight = weight;
  args.y = y;
  args.rstd = rstd;
  args.eps = 12;
  args.rounding = RmsNorm::Rounding::kGemma;
  RmsNorm::reference(args);
  const double r = 1 / std::sqrt(24.5);
  EXPECT_DOUBLE_EQ(values_of(rstd)[0], r);
  EXPECT_DOUBLE_EQ(values_of(y)[0], 3 * r * 2);
  EXPECT_DOUBLE_EQ(values_of(y)[1], 4 * r * -1);
  args.offset = 1;
  RmsNorm::reference(args);
  EXPECT_DOUBLE_EQ(values_of(y)[0], 3 * r * 3);
  EXPECT_DOUBLE_EQ(values_of(y)[1], 0);
}

TEST(RmsNormReference, ResidualIsAddedFirst) {
  const Tensor x = tensor_of(kBF16, {2, 2}, {1, 2, 1, 1});
  const Tensor residual = tensor_of(kF32, {2, 2}, {2, 2, -1, 3});
  const Tensor y = Tensor::empty({2, 2}, kF64, kCpuDevice);
  const Tensor out = Tensor::empty({2, 2}, kF32, kCpuDevice);
  RmsNorm::Args args;
  args.x = x;
  args.residual = residual;
  args.y = y;
  args.residual_out = out;
  args.eps = 12;
  args.rounding = RmsNorm::Rounding::kGemma;
  RmsNorm::reference(args);
  EXPECT_EQ(values_of(out), (std::vector<double>{3, 4, 0, 4}));
  EXPECT_DOUBLE_EQ(values_of(y)[0], 3 / std::sqrt(24.5));
  EXPECT_DOUBLE_EQ(values_of(y)[2], 0);
  EXPECT_DOUBLE_EQ(values_of(y)[3], 4 / std::sqrt(20));
}

TEST(RmsNormReference, RoundingPoints) {
  // r = 1 / sqrt(18.5): rounding it to bf16 first moves 3 * r across a step of bf16.
  const Tensor x = tensor_of(kBF16, {1, 2}, {3, 2});
  const Tensor weight = tensor_of(kF32, {2}, {1 + 0x1p-10, 1});
  const Tensor y = Tensor::empty({1, 2}, kF64, kCpuDevice);
  RmsNorm::Args args;
  args.x = x;
  args.weight = weight;
  args.y = y;
  args.eps = 12;
  const double r = 1 / std::sqrt(18.5);
  const auto bf16 = [](double value) { return static_cast<double>(from_bf16(to_bf16(value))); };
  EXPECT_NE(bf16(3 * bf16(r)), bf16(3 * r));
  args.rounding = RmsNorm::Rounding::kGemma;
  RmsNorm::reference(args);
  EXPECT_DOUBLE_EQ(values_of(y)[0], 3 * r * (1 + 0x1p-10));
  args.rounding = RmsNorm::Rounding::kLlama;
  RmsNorm::reference(args);
  EXPECT_DOUBLE_EQ(values_of(y)[0], bf16(3 * r) * (1 + 0x1p-10));
  // The weight is rounded to bf16, too, which makes it 1.
  args.rounding = RmsNorm::Rounding::kNone;
  RmsNorm::reference(args);
  EXPECT_DOUBLE_EQ(values_of(y)[0], bf16(3 * bf16(r)));
}

TEST(RmsNormReference, InfinityAndNan) {
  const Tensor x = tensor_of(kF32, {2, 3}, {1, kInfinity, -2, 1, std::nan(""), 2});
  const Tensor y = Tensor::empty({2, 3}, kF32, kCpuDevice);
  RmsNorm::Args args;
  args.x = x;
  args.y = y;
  RmsNorm::reference(args);
  const auto values = values_of(y);
  // r = 0: the others become 0, and infinity times 0 is NaN.
  EXPECT_EQ(values[0], 0);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_EQ(values[2], 0);
  for (int i = 3; i < 6; ++i) EXPECT_TRUE(std::isnan(values[static_cast<std::size_t>(i)]));
}

TEST(RmsNormReference, RowOfZeros) {
  const Tensor x = tensor_of(kF16, {1, 3}, {0, 0, 0});
  const Tensor y = Tensor::empty({1, 3}, kF16, kCpuDevice);
  RmsNorm::Args args;
  args.x = x;
  args.y = y;
  RmsNorm::reference(args);
  EXPECT_EQ(values_of(y), (std::vector<double>{0, 0, 0}));
}

TEST(RmsNormReference, AgreesWithPlainFloatCode) {
  const auto problem = RmsNorm::parse(split_key_values("rows=9 cols=257 dtype=f32 residual=f32"));
  Rng rng(3);
  const auto inputs = RmsNorm::make_inputs(problem, rng);
  RmsNorm::reference(inputs.args);
  const auto* x = inputs.args.x.data_as<float>();
  const auto* residual = inputs.args.residual.data_as<float>();
  const auto* weight = inputs.args.weight.data_as<float>();
  for (int row = 0; row < 9; ++row) {
    float squares = 0;
    for (int i = row * 257; i < row * 257 + 257; ++i) {
      squares += (x[i] + residual[i]) * (x[i] + residual[i]);
    }
    const float r = 1 / std::sqrt(squares / 257 + static_cast<float>(inputs.args.eps));
    for (int col = 0; col < 257; ++col) {
      const int i = row * 257 + col;
      EXPECT_NEAR(inputs.args.y.data_as<float>()[i], (x[i] + residual[i]) * r * weight[col], 2e-5);
      EXPECT_EQ(inputs.args.residual_out.data_as<float>()[i], x[i] + residual[i]);
    }
  }
}

}  // namespace
}  // namespace einkorn
