#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ops/activation/silu_mul/contract.h"
#include "ops/activation/silu_mul_bwd/contract.h"
#include "tests/unit/ops/op_test.h"

namespace einkorn {
namespace {

using test::tensor_of;
using test::values_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Values = std::vector<double>;

struct Gradients {
  Values gate;
  Values up;
};

/// By the reference, from inputs of `dtype`, in f64.
Gradients reference(SiluMulBwd::Args args, DType dtype, const Values& dy, const Values& gate,
                    const Values& up) {
  const auto count = static_cast<std::int64_t>(gate.size());
  const Tensor d = tensor_of(dtype, {1, count}, dy);
  const Tensor g = tensor_of(dtype, {1, count}, gate);
  const Tensor u = tensor_of(dtype, {1, count}, up);
  const Tensor dgate = Tensor::empty({1, count}, kF64, kCpuDevice);
  const Tensor dup = Tensor::empty({1, count}, kF64, kCpuDevice);
  args.dy = d;
  args.gate = g;
  args.up = u;
  args.dgate = dgate;
  args.dup = dup;
  SiluMulBwd::reference(args);
  return {values_of(dgate), values_of(dup)};
}

/// silu_mul by its reference, all in f64.
Values forward(const SiluMulBwd::Args& like, const Values& gate, const Values& up) {
  const auto count = static_cast<std::int64_t>(gate.size());
  const Tensor g = tensor_of(kF64, {1, count}, gate);
  const Tensor u = tensor_of(kF64, {1, count}, up);
  const Tensor y = Tensor::empty({1, count}, kF64, kCpuDevice);
  SiluMul::Args args;
  args.gate = g;
  args.up = u;
  args.y = y;
  args.clamp = like.clamp;
  args.limit = like.limit;
  args.alpha = like.alpha;
  args.up_offset = like.up_offset;
  SiluMul::reference(args);
  return values_of(y);
}

Values shifted(Values values, double by) {
  for (double& value : values) value += by;
  return values;
}

/// Central differences of the forward against dgate and dup. Their error is h^2 / 6 times a third
/// derivative, below 1e-10 here, and the forward's 1e-16 * |y| / h, below 1e-9.
void expect_differences(const SiluMulBwd::Args& args, const Values& gate, const Values& up) {
  constexpr double kStep = 1e-5;
  Values dy;
  for (std::size_t i = 0; i < gate.size(); ++i) dy.push_back(0.5 + 0.25 * static_cast<double>(i));
  const Gradients got = reference(args, kF64, dy, gate, up);
  const Values gate_plus = forward(args, shifted(gate, kStep), up);
  const Values gate_minus = forward(args, shifted(gate, -kStep), up);
  const Values up_plus = forward(args, gate, shifted(up, kStep));
  const Values up_minus = forward(args, gate, shifted(up, -kStep));
  for (std::size_t i = 0; i < gate.size(); ++i) {
    const double scale = dy[i] / (2 * kStep);
    const double bound = 1e-8 * std::abs(dy[i]) * (1 + std::abs(up[i]));
    EXPECT_NEAR(got.gate[i], scale * (gate_plus[i] - gate_minus[i]), bound) << gate[i];
    EXPECT_NEAR(got.up[i], scale * (up_plus[i] - up_minus[i]), bound) << gate[i];
  }
}

// None of them a clamp's limit, where there is no derivative.
Values gates() { return {-12, -5.5, -2.5, -1.278, -0.3, 0, 0.4, 1, 1.999, 2.001, 3.7, 11}; }
Values ups() { return {0.5, -1.5, 2.5, 1, -3, 0.7, -0.2, 4, 1.9, -1.9, 0, 6}; }

TEST(SiluMulBwdReference, DifferencesOfTheForwardPlain) { expect_differences({}, gates(), ups()); }

TEST(SiluMulBwdReference, DifferencesOfTheForwardClamped) {
  SiluMulBwd::Args args;
  args.clamp = true;
  args.limit = 2;
  for (const double alpha : {1.0, 1.702, 0.0, -0.5}) {
    for (const double offset : {0.0, 1.0}) {
      args.alpha = alpha;
      args.up_offset = offset;
      expect_differences(args, gates(), ups());
    }
  }
}

TEST(SiluMulBwdReference, HandComputed) {
  // sigmoid(log(3)) = 3 / 4, of -log(3) 1 / 4.
  const double log3 = static_cast<double>(std::log(3.0F));
  const auto got = reference({}, kF32, {1, 2, 4}, {log3, 0, -log3}, {2, 5, -3});
  EXPECT_NEAR(got.up[0], log3 * 0.75, 1e-7);
  EXPECT_EQ(got.up[1], 0);
  EXPECT_NEAR(got.up[2], 4 * -log3 * 0.25, 1e-7);
  EXPECT_NEAR(got.gate[0], 2 * (0.75 + log3 * 0.75 * 0.25), 1e-7);
  EXPECT_EQ(got.gate[1], 2 * 5 * 0.5);
  EXPECT_NEAR(got.gate[2], 4 * -3 * (0.25 - log3 * 0.25 * 0.75), 1e-6);
}

// Through at equality, nothing beyond, whatever dy is.
TEST(SiluMulBwdReference, TheGradientPassesAtTheLimit) {
  SiluMulBwd::Args args;
  args.clamp = true;
  args.limit = 2;
  args.alpha = 0;  // sigmoid is a half
  args.up_offset = 1;
  const double nan = std::nan("");
  const double above = static_cast<double>(std::nextafter(2.0F, 3.0F));
  const auto got =
      reference(args, kF32, {1, 1, 1, 1, nan, kInfinity, 1}, {2, above, 1, 1, above, 3, kInfinity},
                {2, -2, above, -above, 3, -kInfinity, 0});
  EXPECT_EQ(got.gate[0], 3 * 0.5);
  EXPECT_EQ(got.up[0], 2 * 0.5);
  EXPECT_EQ(got.gate[1], 0);
  EXPECT_EQ(got.up[1], 2 * 0.5);
  EXPECT_EQ(got.gate[2], 3 * 0.5);
  EXPECT_EQ(got.up[2], 0);
  EXPECT_EQ(got.gate[3], -1 * 0.5);
  EXPECT_EQ(got.up[3], 0);
  for (const std::size_t i : {4U, 5U}) {
    EXPECT_EQ(got.gate[i], 0) << i;
    EXPECT_EQ(got.up[i], 0) << i;
    EXPECT_FALSE(std::signbit(got.gate[i]) || std::signbit(got.up[i])) << i;
  }
  EXPECT_EQ(got.gate[6], 0);
  EXPECT_EQ(got.up[6], 2 * 0.5);
}

TEST(SiluMulBwdReference, RoundsSiluOfDupWhereAsked) {
  SiluMulBwd::Args args;
  const auto once = reference(args, kBF16, {3}, {1}, {5});
  args.rounding = SiluMulBwd::Rounding::kSilu;
  const auto silu = reference(args, kBF16, {3}, {1}, {5});
  const double exact = 1 / (1 + std::exp(-1.0));
  EXPECT_DOUBLE_EQ(once.up[0], exact * 3);
  EXPECT_DOUBLE_EQ(silu.up[0], static_cast<double>(from_bf16(to_bf16(exact))) * 3);
  EXPECT_EQ(silu.gate, once.gate);
}

TEST(SiluMulBwdReference, PackingsAgree) {
  const Tensor dy = tensor_of(kF32, {2, 3}, {1, -2, 3, 0.5, 2, -1});
  const Tensor halves = tensor_of(kF32, {2, 6}, {1, 2, 3, 7, 8, 9, -1, -2, -3, 4, 5, 6});
  const Tensor pairs = tensor_of(kF32, {2, 6}, {1, 7, 2, 8, 3, 9, -1, 4, -2, 5, -3, 6});
  const Tensor out = Tensor::empty({2, 6}, kF64, kCpuDevice);
  SiluMulBwd::Args args;
  args.dy = dy;
  args.dpacked = out;
  args.packed = halves;
  args.packing = SiluMulBwd::Packing::kHalves;
  SiluMulBwd::reference(args);
  const Values by_halves = values_of(out);
  args.packed = pairs;
  args.packing = SiluMulBwd::Packing::kInterleaved;
  SiluMulBwd::reference(args);
  const Values by_pairs = values_of(out);
  const auto split = reference({}, kF32, values_of(dy), {1, 2, 3, -1, -2, -3}, {7, 8, 9, 4, 5, 6});
  for (std::size_t i = 0; i < 6; ++i) {
    const std::size_t row = i / 3, col = i % 3;
    EXPECT_EQ(by_halves[row * 6 + col], split.gate[i]);
    EXPECT_EQ(by_halves[row * 6 + 3 + col], split.up[i]);
    EXPECT_EQ(by_pairs[row * 6 + 2 * col], split.gate[i]);
    EXPECT_EQ(by_pairs[row * 6 + 2 * col + 1], split.up[i]);
  }
}

TEST(SiluMulBwdReference, InfinityAndNan) {
  const double nan = std::nan("");
  const auto got =
      reference({}, kF32, {1, 1, 1, 1, nan, 1, 1}, {kInfinity, -kInfinity, nan, 1, 1, -200, 1000},
                {1, 1, 1, nan, 1, 1, 3});
  EXPECT_EQ(got.up[0], kInfinity);
  EXPECT_TRUE(std::isnan(got.gate[0]));  // inf * 0
  EXPECT_TRUE(std::isnan(got.up[1]) && std::isnan(got.gate[1]));
  EXPECT_TRUE(std::isnan(got.up[2]) && std::isnan(got.gate[2]));
  EXPECT_NEAR(got.up[3], 1 / (1 + std::exp(-1.0)), 1e-12);
  EXPECT_TRUE(std::isnan(got.gate[3]));
  EXPECT_TRUE(std::isnan(got.up[4]) && std::isnan(got.gate[4]));
  EXPECT_NEAR(got.up[5], 0, 1e-80);
  EXPECT_NEAR(got.gate[5], 0, 1e-80);
  EXPECT_EQ(got.up[6], 1000);
  EXPECT_EQ(got.gate[6], 3);
  // A NaN is not clamped.
  SiluMulBwd::Args clamped;
  clamped.clamp = true;
  const auto c = reference(clamped, kF32, {1, 1, 1}, {nan, 1, kInfinity}, {1, nan, nan});
  EXPECT_TRUE(std::isnan(c.up[0]) && std::isnan(c.gate[0]));
  EXPECT_NEAR(c.up[1], 1 / (1 + std::exp(-1.0)), 1e-12);
  EXPECT_TRUE(std::isnan(c.gate[1]));
  EXPECT_NEAR(c.up[2], 7 / (1 + std::exp(-7.0)), 1e-12);
  EXPECT_EQ(c.gate[2], 0);
}

TEST(SiluMulBwdReference, OverTheInputs) {
  const auto want = reference({}, kF64, {1, 2, 3}, {0.5, -1, 2}, {3, 4, -5});
  const Tensor dy = tensor_of(kF64, {1, 3}, {1, 2, 3});
  const Tensor gate = tensor_of(kF64, {1, 3}, {0.5, -1, 2});
  const Tensor up = tensor_of(kF64, {1, 3}, {3, 4, -5});
  SiluMulBwd::Args args;
  args.dy = dy;
  args.gate = args.dup = gate;
  args.up = args.dgate = up;
  static_cast<void>(SiluMulBwd::match(args));
  SiluMulBwd::reference(args);
  EXPECT_EQ(values_of(up), want.gate);
  EXPECT_EQ(values_of(gate), want.up);
}

}  // namespace
}  // namespace einkorn
