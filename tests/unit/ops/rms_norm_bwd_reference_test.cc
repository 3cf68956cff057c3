// The reference of rms_norm_bwd is the derivative of rms_norm's: held against differences of that
// one in f64, and against numbers worked out by hand where the forward rounds.

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "ops/norm/rms_norm/contract.h"
#include "ops/norm/rms_norm_bwd/contract.h"
#include "tests/unit/ops/op_test.h"

namespace einkorn {
namespace {

using test::tensor_of;
using test::values_of;

using Rounding = RmsNorm::Rounding;

double bf16(double value) { return static_cast<double>(from_bf16(to_bf16(value))); }

/// A model of one norm: L = sum(y * dy) + sum(residual_out * dresidual_out), all in f64.
struct Model {
  std::int64_t rows, cols;
  RmsNorm::Args forward;
  RmsNormBwd::Args backward;
  std::vector<Tensor> storage;

  Model(std::int64_t row_count, std::int64_t col_count, bool weighted, bool residual)
      : rows(row_count), cols(col_count) {
    Rng rng(7);
    forward.x = filled({rows, cols}, rng);
    backward.dy = filled({rows, cols}, rng);
    if (weighted) forward.weight = backward.weight = filled({cols}, rng);
    if (residual) {
      forward.residual = filled({rows, cols}, rng);
      backward.dresidual_out = filled({rows, cols}, rng);
    }
    forward.y = empty({rows, cols});
    forward.residual_out = residual ? empty({rows, cols}) : TensorView();
    forward.rstd = empty({rows});
    forward.eps = backward.eps = 0.3;
    backward.dx = empty({rows, cols});
    if (weighted) backward.dweight = empty({cols});
  }

  TensorView empty(std::initializer_list<std::int64_t> shape) {
    storage.push_back(Tensor::empty(shape, kF64, kCpuDevice));
    return storage.back();
  }
  TensorView filled(std::initializer_list<std::int64_t> shape, Rng& rng) {
    const TensorView out = empty(shape);
    for (std::int64_t i = 0; i < out.numel(); ++i) store_from_double(out, i, 4 * rng.uniform() - 2);
    return out;
  }

  void set(Rounding rounding, int offset) {
    forward.rounding = backward.rounding = rounding;
    forward.offset = backward.offset = offset;
  }

  double loss() const {
    RmsNorm::reference(forward);
    double sum = 0;
    for (std::int64_t i = 0; i < rows * cols; ++i) {
      sum += load_as_double(forward.y, i) * load_as_double(backward.dy, i);
      if (!forward.residual.defined()) continue;
      sum += load_as_double(forward.residual_out, i) * load_as_double(backward.dresidual_out, i);
    }
    return sum;
  }

  /// dL by an element, from a central difference: off by some 1e-10 of truncation and rounding.
  double difference(const TensorView& tensor, std::int64_t i) const {
    constexpr double kStep = 1e-5;
    const double value = load_as_double(tensor, i);
    store_from_double(tensor, i, value + kStep);
    const double above = loss();
    store_from_double(tensor, i, value - kStep);
    const double below = loss();
    store_from_double(tensor, i, value);
    return (above - below) / (2 * kStep);
  }

  void differentiate() {
    // What is normalised is x + residual, which the forward leaves in residual_out.
    static_cast<void>(loss());
    backward.x = forward.residual.defined() ? forward.residual_out : forward.x;
    RmsNormBwd::reference(backward);
  }
};

void expect_derivatives(Model& model) {
  model.differentiate();
  const std::vector<double> dx = values_of(model.backward.dx);
  for (std::int64_t i = 0; i < model.rows * model.cols; ++i) {
    const double got = dx[static_cast<std::size_t>(i)];
    EXPECT_NEAR(got, model.difference(model.forward.x, i), 1e-8) << "dx " << i;
    if (!model.forward.residual.defined()) continue;
    EXPECT_NEAR(got, model.difference(model.forward.residual, i), 1e-8) << "dresidual " << i;
  }
  if (!model.forward.weight.defined()) return;
  const std::vector<double> dweight = values_of(model.backward.dweight);
  for (std::int64_t i = 0; i < model.cols; ++i) {
    EXPECT_NEAR(dweight[static_cast<std::size_t>(i)], model.difference(model.forward.weight, i),
                1e-8)
        << "dweight " << i;
  }
}

TEST(RmsNormBwdReference, IsTheDerivativeOfTheForward) {
  for (const bool weighted : {true, false}) {
    for (const bool residual : {false, true}) {
      for (const Rounding rounding : {Rounding::kLlama, Rounding::kGemma, Rounding::kNone}) {
        for (const int offset : {0, 1}) {
          SCOPED_TRACE(testing::Message()
                       << "weighted " << weighted << " residual " << residual << " rounding "
                       << name(rounding) << " offset " << offset);
          Model model(4, 7, weighted, residual);
          model.set(rounding, offset);
          expect_derivatives(model);
        }
      }
    }
  }
  Model column(5, 1, true, false);
  expect_derivatives(column);
}

TEST(RmsNormBwdReference, TakesTheForwardsReciprocals) {
  Model model(3, 5, true, false);
  model.differentiate();
  const std::vector<double> dx = values_of(model.backward.dx);
  const std::vector<double> dweight = values_of(model.backward.dweight);
  model.backward.rstd = model.forward.rstd;
  model.backward.eps = 123;  // not used
  RmsNormBwd::reference(model.backward);
  for (std::size_t i = 0; i < dx.size(); ++i) {
    EXPECT_DOUBLE_EQ(values_of(model.backward.dx)[i], dx[i]);
  }
  for (std::size_t i = 0; i < dweight.size(); ++i) {
    EXPECT_DOUBLE_EQ(values_of(model.backward.dweight)[i], dweight[i]);
  }
}

/// One row (3, 2) in bf16 with eps 12, so that r = 1 / sqrt(18.5): its rounding to bf16 moves 3 * r
/// across a step of bf16.
struct Rounded {
  Tensor x = tensor_of(kBF16, {1, 2}, {3, 2});
  Tensor dy = tensor_of(kBF16, {1, 2}, {0.5, -2});
  Tensor weight = tensor_of(kF32, {2}, {1 + 0x1p-10, 3});
  Tensor dx = Tensor::empty({1, 2}, kF64, kCpuDevice);
  Tensor dweight = Tensor::empty({2}, kF64, kCpuDevice);
  double r = 1 / std::sqrt(18.5);
  RmsNormBwd::Args args;

  Rounded() {
    args.x = x;
    args.dy = dy;
    args.weight = weight;
    args.dx = dx;
    args.dweight = dweight;
    args.eps = 12;
  }
  /// dx of the formula with these factors w + offset, nothing rounded.
  double exact_dx(int i, double s0, double s1) const {
    const double h[] = {3, 2};
    const double m[] = {0.5 * s0, -2 * s1};
    const double mean = (m[0] * h[0] * r + m[1] * h[1] * r) / 2;
    return r * (m[i] - h[i] * r * mean);
  }
};

TEST(RmsNormBwdReference, RoundsAsTheForwardMultiplied) {
  Rounded one;
  const double r = one.r;
  ASSERT_NE(bf16(3 * bf16(r)), bf16(3 * r));
  ASSERT_NE(bf16(3 * r), 3 * r);
  one.args.rounding = Rounding::kGemma;
  RmsNormBwd::reference(one.args);
  EXPECT_DOUBLE_EQ(values_of(one.dweight)[0], 0.5 * (3 * r));
  EXPECT_DOUBLE_EQ(values_of(one.dweight)[1], -2 * (2 * r));
  EXPECT_DOUBLE_EQ(values_of(one.dx)[0], one.exact_dx(0, 1 + 0x1p-10, 3));
  one.args.rounding = Rounding::kLlama;
  RmsNormBwd::reference(one.args);
  EXPECT_DOUBLE_EQ(values_of(one.dweight)[0], 0.5 * bf16(3 * r));
  EXPECT_DOUBLE_EQ(values_of(one.dx)[0], one.exact_dx(0, 1 + 0x1p-10, 3)) << "dx has x^ unrounded";
  one.args.rounding = Rounding::kNone;
  RmsNormBwd::reference(one.args);
  EXPECT_DOUBLE_EQ(values_of(one.dweight)[0], 0.5 * bf16(3 * bf16(r)));
  // The weight is rounded to bf16, too, which makes it 1; r in dx is not.
  EXPECT_DOUBLE_EQ(values_of(one.dx)[0], one.exact_dx(0, 1, 3));
  EXPECT_DOUBLE_EQ(values_of(one.dx)[1], one.exact_dx(1, 1, 3));
}

TEST(RmsNormBwdReference, DxMayBeDy) {
  Model apart(4, 6, true, true);
  apart.differentiate();
  Model same(4, 6, true, true);
  same.backward.dx = same.backward.dy;
  const std::vector<double> dy = values_of(same.backward.dy);
  same.differentiate();
  EXPECT_EQ(values_of(same.backward.dx), values_of(apart.backward.dx));
  EXPECT_EQ(values_of(same.backward.dweight), values_of(apart.backward.dweight));
  EXPECT_NE(values_of(same.backward.dy), dy);
}

TEST(RmsNormBwdReference, NoRowsGiveZeros) {
  const Tensor dweight = tensor_of(kF32, {3}, {7, 8, 9});
  const Tensor weight = tensor_of(kF32, {3}, {1, 1, 1});
  RmsNormBwd::Args args;
  args.dy = args.x = args.dx = {nullptr, kF32, {0, 3}, kCpuDevice};
  args.weight = weight;
  args.dweight = dweight;
  RmsNormBwd::reference(args);
  EXPECT_EQ(values_of(dweight), (std::vector<double>{0, 0, 0}));
}

TEST(RmsNormBwdReference, InfinityMakesItsRowNan) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor x = tensor_of(kF32, {2, 2}, {1, infinity, 1, 2});
  const Tensor dy = tensor_of(kF32, {2, 2}, {1, 1, 1, 1});
  const Tensor weight = tensor_of(kF32, {2}, {1, 1});
  const Tensor dx = Tensor::empty({2, 2}, kF32, kCpuDevice);
  const Tensor dweight = Tensor::empty({2}, kF32, kCpuDevice);
  RmsNormBwd::Args args;
  args.x = x;
  args.dy = dy;
  args.weight = weight;
  args.dx = dx;
  args.dweight = dweight;
  RmsNormBwd::reference(args);
  EXPECT_TRUE(std::isnan(values_of(dx)[0]));
  EXPECT_TRUE(std::isnan(values_of(dx)[1]));
  EXPECT_FALSE(std::isnan(values_of(dx)[2]));
  // x^ is 0 where x is finite, and infinity times 0 is NaN.
  EXPECT_NEAR(values_of(dweight)[0], 1 / std::sqrt(2.5), 1e-6);
  EXPECT_TRUE(std::isnan(values_of(dweight)[1]));
}

}  // namespace
}  // namespace einkorn
