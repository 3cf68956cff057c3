// The reference of qk_norm against numbers worked out by hand, and against rms_norm's of each half.

#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "ops/norm/qk_norm/contract.h"
#include "tests/unit/ops/op_test.h"
#include "tests/unit/ops/qk_norm_arguments.h"

namespace einkorn {
namespace {

using test::tensor_of;
using test::values_of;

TEST(QkNormReference, HandComputed) {
  // Mean squares 12.5 and 2.5 of q's heads, 8.5 of k's; with eps 0.5 the roots are of 13, 3 and 9.
  const Tensor q = tensor_of(kF32, {1, 2, 2}, {3, 4, 1, 2});
  const Tensor k = tensor_of(kF32, {1, 1, 2}, {4, 1});
  const Tensor q_weight = tensor_of(kF32, {2}, {2, -1});
  const Tensor k_weight = tensor_of(kF32, {2}, {3, 6});
  const Tensor q_out = Tensor::empty({1, 2, 2}, kF64, kCpuDevice);
  const Tensor k_out = Tensor::empty({1, 1, 2}, kF64, kCpuDevice);
  QkNorm::Args args;
  args.q = q;
  args.k = k;
  args.q_weight = q_weight;
  args.k_weight = k_weight;
  args.q_out = q_out;
  args.k_out = k_out;
  args.eps = 0.5;
  args.rounding = QkNorm::Rounding::kGemma;
  QkNorm::reference(args);
  const std::vector<double> want{3 / std::sqrt(13) * 2, 4 / std::sqrt(13) * -1,
                                 std::numbers::inv_sqrt3 * 2, -2 * std::numbers::inv_sqrt3};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(values_of(q_out)[i], want[i]);
  EXPECT_DOUBLE_EQ(values_of(k_out)[0], 4);
  EXPECT_DOUBLE_EQ(values_of(k_out)[1], 2);
  args.offset = 1;
  QkNorm::reference(args);
  EXPECT_DOUBLE_EQ(values_of(q_out)[1], 0);
  EXPECT_DOUBLE_EQ(values_of(k_out)[1], 1.0 / 3 * 7);
}

/// rms_norm's reference of one of the tensors, as rows of heads.
std::vector<double> by_rms_norm(const QkNorm::Args& args, const TensorView& x,
                                const TensorView& weight) {
  const Tensor y = Tensor::empty(x.shape(), x.dtype(), kCpuDevice);
  RmsNorm::Args one;
  one.x = x;
  one.weight = weight;
  one.y = y;
  one.eps = args.eps;
  one.offset = args.offset;
  one.rounding = args.rounding;
  RmsNorm::reference(one);
  return values_of(y);
}

TEST(QkNormReference, IsRmsNormOfEachTensor) {
  for (const char* keys : {"dtype=bf16 rounding=llama", "dtype=bf16 rounding=gemma offset=1",
                           "dtype=f16 rounding=none weight=f32", "dtype=f32 weight=none"}) {
    SCOPED_TRACE(keys);
    Rng rng(3);
    const auto inputs = QkNorm::make_inputs(
        test::parse<QkNorm>("rows=7 q_heads=5 k_heads=2 cols=33 " + std::string(keys)), rng);
    const QkNorm::Args& args = inputs.args;
    QkNorm::reference(args);
    EXPECT_EQ(values_of(args.q_out), by_rms_norm(args, args.q, args.q_weight));
    EXPECT_EQ(values_of(args.k_out), by_rms_norm(args, args.k, args.k_weight));
  }
}

TEST(QkNormReference, InPlaceInOneQkvLeavesVAlone) {
  test::QkNormArguments valid;
  valid.slice_qkv(kF32, 3, 2, 1, 4);
  const Tensor& qkv = valid.storage.back();
  for (std::int64_t i = 0; i < qkv.view().numel(); ++i) {
    store_from_double(qkv, i, 0.5 + static_cast<double>(i % 7));
  }
  const auto before = values_of(qkv);
  QkNorm::reference(valid.args);
  const auto after = values_of(qkv);
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (i % 16 >= 12) {
      EXPECT_EQ(after[i], before[i]) << "v at " << i;
    } else {
      EXPECT_NE(after[i], before[i]) << i;
    }
  }
}

}  // namespace
}  // namespace einkorn
