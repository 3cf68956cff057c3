#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "ops/activation/silu_mul/contract.h"
#include "tests/unit/ops/op_test.h"

namespace einkorn {
namespace {

using test::tensor_of;
using test::values_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> reference(SiluMul::Args args, DType dtype, const std::vector<double>& gate,
                              const std::vector<double>& up) {
  const auto count = static_cast<std::int64_t>(gate.size());
  const Tensor g = tensor_of(dtype, {1, count}, gate);
  const Tensor u = tensor_of(dtype, {1, count}, up);
  const Tensor y = Tensor::empty({1, count}, kF64, kCpuDevice);
  args.gate = g;
  args.up = u;
  args.y = y;
  SiluMul::reference(args);
  return values_of(y);
}

TEST(SiluMulReference, HandComputed) {
  // sigmoid(log(3)) = 3 / 4.
  const double log3 = static_cast<double>(std::log(3.0F));
  const auto y = reference({}, kF32, {log3, 0, -log3}, {2, 5, 2});
  EXPECT_NEAR(y[0], log3 * 0.75 * 2, 1e-7);
  EXPECT_EQ(y[1], 0);
  EXPECT_NEAR(y[2], -log3 * 0.25 * 2, 1e-7);
}

TEST(SiluMulReference, Clamped) {
  SiluMul::Args args;
  args.clamp = true;
  args.limit = 2;
  args.alpha = 0;  // sigmoid is a half
  args.up_offset = 1;
  const auto y = reference(args, kF32, {3, -3, 1, 1}, {1, 1, 5, -5});
  EXPECT_EQ(y, (std::vector<double>{2 * 0.5 * 2, -3 * 0.5 * 2, 0.5 * 3, 0.5 * -1}));
}

TEST(SiluMulReference, RoundsSiluWhereAsked) {
  SiluMul::Args args;
  const auto once = reference(args, kBF16, {1}, {3});
  args.rounding = SiluMul::Rounding::kSilu;
  const auto silu = reference(args, kBF16, {1}, {3});
  const double exact = 1 / (1 + std::exp(-1.0));
  EXPECT_DOUBLE_EQ(once[0], exact * 3);
  EXPECT_DOUBLE_EQ(silu[0], static_cast<double>(from_bf16(to_bf16(exact))) * 3);
}

TEST(SiluMulReference, PackingsAgree) {
  SiluMul::Args args;
  const Tensor halves = tensor_of(kF32, {2, 6}, {1, 2, 3, 7, 8, 9, -1, -2, -3, 4, 5, 6});
  const Tensor pairs = tensor_of(kF32, {2, 6}, {1, 7, 2, 8, 3, 9, -1, 4, -2, 5, -3, 6});
  const Tensor y = Tensor::empty({2, 3}, kF64, kCpuDevice);
  args.y = y;
  args.packed = halves;
  args.packing = SiluMul::Packing::kHalves;
  SiluMul::reference(args);
  const auto from_halves = values_of(y);
  args.packed = pairs;
  args.packing = SiluMul::Packing::kInterleaved;
  SiluMul::reference(args);
  EXPECT_EQ(values_of(y), from_halves);
  EXPECT_DOUBLE_EQ(from_halves[4], -2 / (1 + std::exp(2.0)) * 5);
}

TEST(SiluMulReference, InfinityAndNan) {
  const auto y = reference({}, kF32, {kInfinity, -kInfinity, std::nan(""), 1, -200, 1},
                           {1, 1, 1, kInfinity, 1, std::nan("")});
  EXPECT_EQ(y[0], kInfinity);
  EXPECT_TRUE(std::isnan(y[1]));  // -inf * 0
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], kInfinity);
  EXPECT_NEAR(y[4], 0, 1e-80);
  EXPECT_TRUE(std::isnan(y[5]));
  SiluMul::Args clamped;
  clamped.clamp = true;
  const auto z = reference(clamped, kF32, {std::nan(""), 1, kInfinity}, {1, std::nan(""), 2});
  EXPECT_TRUE(std::isnan(z[0]));
  EXPECT_TRUE(std::isnan(z[1]));
  EXPECT_NEAR(z[2], 14 / (1 + std::exp(-7.0)), 1e-12);
}

}  // namespace
}  // namespace einkorn
