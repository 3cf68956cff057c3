// What sglang's fused_inplace_qknorm asks of a call, one test each, by the names of the rows in
// ops/norm/qk_norm/provenance.json. Most of it holds here, too, and its violation is a typed error
// that names the argument; what this op allows beyond it is accepted.

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <einkorn/error.h>

#include "tests/unit/ops/qk_norm_arguments.h"

namespace einkorn {
namespace {

using Valid = test::QkNormArguments;

/// The first line of the error that spoiled arguments meet; empty where they are accepted.
template <class F>
std::string outcome(F&& spoil) {
  Valid valid;
  std::forward<F>(spoil)(valid, valid.args);
  try {
    static_cast<void>(QkNorm::match(valid.args));
    return {};
  } catch (const Error& error) {
    const std::string text = error.what();
    return std::string(name(error.kind())) + ": " + text.substr(0, text.find('\n'));
  }
}

TensorView on_cuda(const TensorView& view) {
  return {view.data(), view.dtype(), view.shape(), cuda_device(1)};
}

TensorView every_second(Valid& valid, const TensorView& vector) {
  const TensorView room = valid.make({2 * vector.size(0)}, vector.dtype());
  const std::int64_t shape[] = {vector.size(0)}, strides[] = {2};
  return {room.data(), vector.dtype(), shape, strides, kCpuDevice};
}

// The original: two bytes. Here: f32 and, for the reference, f64 as well.
TEST(QkNormOriginal, FloatDtype1) {
  for (const DType dtype : {kF32, kF16, kBF16, kF64}) {
    EXPECT_EQ(outcome([&](Valid& v, auto&) { v.slice_qkv(dtype, 4, 3, 2, 6); }), "");
  }
}

// The original: a GPU. Here any device, as long as it is one.
TEST(QkNormOriginal, QDevice1) {
  EXPECT_EQ(outcome([](Valid&, auto& args) { args.q = on_cuda(args.q); }),
            "TypeError: qk_norm: k device: expected device = cuda:1 (from q), got cpu");
  EXPECT_EQ(outcome([](Valid&, auto& args) {
              for (TensorView* one :
                   {&args.q, &args.k, &args.q_weight, &args.k_weight, &args.q_out, &args.k_out}) {
                *one = on_cuda(*one);
              }
            }),
            "");
}

// The original: three dimensions. Here any number of leading ones.
TEST(QkNormOriginal, QRank1) {
  EXPECT_EQ(
      outcome([](Valid& v, auto& args) { args.q = v.make({6}, kBF16); }),
      "TypeError: qk_norm: q rank: expected at least 2 for shape (..., q_heads, cols), got 1");
}

TEST(QkNormOriginal, QDtype1) {
  EXPECT_EQ(outcome([](Valid& v, auto& args) { args.q = v.make({4, 3, 6}, kI32); }),
            "TypeError: qk_norm: q dtype: expected one of f64, f32, f16, bf16, got i32");
}

// Any stride between tokens, in the original and here.
TEST(QkNormOriginal, QTokenStride) {
  EXPECT_EQ(outcome([](Valid& v, auto& args) { args.q = v.make({4, 9, 6}, kBF16).slice(1, 2, 5); }),
            "");
}

TEST(QkNormOriginal, QStride1) {
  EXPECT_EQ(
      outcome([](Valid& v, auto& args) { args.q = v.make({4, 3, 8}, kBF16).slice(2, 0, 6); }),
      "ValueError: qk_norm: q strides of the last 2 dims: expected 6,1 (contiguous), got 8,1");
}

TEST(QkNormOriginal, QStride2) {
  EXPECT_EQ(
      outcome([](Valid& v, auto& args) { args.q = v.make({4, 6, 3}, kBF16).transpose(1, 2); }),
      "ValueError: qk_norm: q strides of the last 2 dims: expected 6,1 (contiguous), got 1,3");
}

TEST(QkNormOriginal, KRank1) {
  EXPECT_EQ(outcome([](Valid& v, auto& args) { args.k = v.make({8, 6}, kBF16); }),
            "TypeError: qk_norm: k rank: expected 3 for shape (..., k_heads, cols) with ... = (4) "
            "(from q), got 2");
}

TEST(QkNormOriginal, KShape1) {
  EXPECT_EQ(outcome([](Valid& v, auto& args) { args.k = v.make({5, 2, 6}, kBF16); }),
            "ValueError: qk_norm: k dim 0: expected 4 (from q), got 5");
}

TEST(QkNormOriginal, KShape2) {
  EXPECT_EQ(outcome([](Valid& v, auto& args) { args.k = v.make({4, 2, 8}, kBF16); }),
            "ValueError: qk_norm: k dim 2: expected cols = 6 (from q), got 8");
}

TEST(QkNormOriginal, KDtype1) {
  EXPECT_EQ(outcome([](Valid& v, auto& args) { args.k = v.make({4, 2, 6}, kF16); }),
            "TypeError: qk_norm: k dtype: expected dtype = bf16 (from q), got f16");
}

TEST(QkNormOriginal, KDevice1) {
  EXPECT_EQ(outcome([](Valid&, auto& args) { args.k = on_cuda(args.k); }),
            "TypeError: qk_norm: k device: expected device = cpu (from q), got cuda:1");
}

// As of q; the two need not agree.
TEST(QkNormOriginal, KTokenStride) {
  EXPECT_EQ(outcome([](Valid& v, auto& args) { args.k = v.make({4, 7, 6}, kBF16).slice(1, 0, 2); }),
            "");
}

TEST(QkNormOriginal, KStride1) {
  EXPECT_EQ(
      outcome([](Valid& v, auto& args) { args.k = v.make({4, 2, 8}, kBF16).slice(2, 2, 8); }),
      "ValueError: qk_norm: k strides of the last 2 dims: expected 6,1 (contiguous), got 8,1");
}

TEST(QkNormOriginal, KStride2) {
  EXPECT_EQ(
      outcome([](Valid& v, auto& args) { args.k = v.make({4, 6, 2}, kBF16).transpose(1, 2); }),
      "ValueError: qk_norm: k strides of the last 2 dims: expected 6,1 (contiguous), got 1,2");
}

TEST(QkNormOriginal, QWeightRank1) {
  EXPECT_EQ(outcome([](Valid& v, auto& args) { args.q_weight = v.make({1, 6}, kBF16); }),
            "TypeError: qk_norm: q_weight rank: expected 1 for shape (cols), got 2");
}

TEST(QkNormOriginal, QWeightShape1) {
  EXPECT_EQ(outcome([](Valid& v, auto& args) { args.q_weight = v.make({5}, kBF16); }),
            "ValueError: qk_norm: q_weight dim 0: expected cols = 6 (from q), got 5");
}

// The original: q's dtype. Here any, but the weights are of one.
TEST(QkNormOriginal, QWeightDtype1) {
  EXPECT_EQ(
      outcome([](Valid& v, auto& args) { args.q_weight = args.k_weight = v.make({6}, kF32); }), "");
}

TEST(QkNormOriginal, QWeightDevice1) {
  EXPECT_EQ(outcome([](Valid&, auto& args) { args.q_weight = on_cuda(args.q_weight); }),
            "TypeError: qk_norm: q_weight device: expected device = cpu (from q), got cuda:1");
}

TEST(QkNormOriginal, QWeightStride1) {
  EXPECT_EQ(outcome([](Valid& v, auto& args) { args.q_weight = every_second(v, args.q_weight); }),
            "ValueError: qk_norm: q_weight strides: expected 1 (contiguous), got 2");
}

TEST(QkNormOriginal, KWeightRank1) {
  EXPECT_EQ(outcome([](Valid& v, auto& args) { args.k_weight = v.make({}, kBF16); }),
            "TypeError: qk_norm: k_weight rank: expected 1 for shape (cols), got 0");
}

TEST(QkNormOriginal, KWeightShape1) {
  EXPECT_EQ(outcome([](Valid& v, auto& args) { args.k_weight = v.make({7}, kBF16); }),
            "ValueError: qk_norm: k_weight dim 0: expected cols = 6 (from q), got 7");
}

TEST(QkNormOriginal, KWeightDtype1) {
  EXPECT_EQ(
      outcome([](Valid& v, auto& args) { args.k_weight = v.make({6}, kF32); }),
      "TypeError: qk_norm: k_weight dtype: expected weight dtype = bf16 (from q_weight), got f32");
}

TEST(QkNormOriginal, KWeightDevice1) {
  EXPECT_EQ(outcome([](Valid&, auto& args) { args.k_weight = on_cuda(args.k_weight); }),
            "TypeError: qk_norm: k_weight device: expected device = cpu (from q), got cuda:1");
}

TEST(QkNormOriginal, KWeightStride1) {
  EXPECT_EQ(outcome([](Valid& v, auto& args) { args.k_weight = every_second(v, args.k_weight); }),
            "ValueError: qk_norm: k_weight strides: expected 1 (contiguous), got 2");
}

}  // namespace
}  // namespace einkorn
