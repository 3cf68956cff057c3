#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/unit/ops/rms_arguments.h"

namespace einkorn {
namespace {

using Valid = test::RmsNormBwdArguments;
using Errors = test::MatchErrors<Valid>;

TEST(RmsNormBwdContract, ParseCompletes) {
  constexpr auto parse = &test::parse<RmsNormBwd>;
  EXPECT_EQ(parse("dtype=f32").weight, kF32);
  EXPECT_EQ(parse("dtype=f32").dweight, kF32);
  EXPECT_EQ(parse("dtype=f32 weight=bf16").dweight, kBF16);
  EXPECT_EQ(parse("weight=none").dweight, std::nullopt);
  EXPECT_EQ(parse("dweight=none").weight, kBF16);
  EXPECT_EQ(parse("dtype=f64").weight, kF64);
  EXPECT_EQ(parse("cols=4098").align, 4);
  EXPECT_EQ(parse("rows=1 cols=4097").align, 16);
}

TEST(RmsNormBwdContract, PrintLeavesOutWhatParseCompletes) {
  constexpr auto through = &test::printed<RmsNormBwd>;
  EXPECT_EQ(through(""), "rows=4096 cols=4096 dtype=bf16");
  EXPECT_EQ(through("weight=f32"), "rows=4096 cols=4096 dtype=bf16 weight=f32");
  EXPECT_EQ(through("dweight=f32"), "rows=4096 cols=4096 dtype=bf16 dweight=f32");
  EXPECT_EQ(through("weight=none"), "rows=4096 cols=4096 dtype=bf16 weight=none");
}

TEST(RmsNormBwdContract, ParseErrors) {
  test::expect_parse_errors<RmsNormBwd>(
      {"dtype=i8", "weight=i8", "residual=f8e4m3", "dweight=f16", "dweight=f32 weight=none",
       "dtype=f64 weight=f32", "residual=f64", "dtype=f64 dweight=f32", "align=1",
       "cols=33 align=4", "rows=1 layout=row_strided", "cols=262145", "offset=2",
       "dtype=f64 align=4", "dresidual=f32"});
}

TEST(RmsNormBwdContract, WrongTensors) {
  Errors errors("tensors");
  errors.add("no dy", [](Valid&, auto& args) { args.dy = {}; });
  errors.add("no x", [](Valid&, auto& args) { args.x = {}; });
  errors.add("no dx", [](Valid&, auto& args) { args.dx = {}; });
  errors.add("x dtype", [](Valid& v, auto& args) { args.x = v.make({4, 6}, kI32); });
  errors.add("dy dtype", [](Valid& v, auto& args) { args.dy = v.make({4, 6}, kF32); });
  errors.add("dx dtype", [](Valid& v, auto& args) { args.dx = v.make({4, 6}, kF32); });
  errors.add("rstd dtype", [](Valid& v, auto& args) { args.rstd = v.make({4}, kF64); });
  errors.add("dweight dtype", [](Valid& v, auto& args) { args.dweight = v.make({6}, kF16); });
  errors.add("f64 weight", [](Valid& v, auto& args) {
    args.weight = v.make({6}, kF64);
    args.dweight = {};
  });
  errors.add("dy rows", [](Valid& v, auto& args) { args.dy = v.make({3, 6}, kBF16); });
  errors.add("dx cols", [](Valid& v, auto& args) { args.dx = v.make({4, 7}, kBF16); });
  errors.add("rstd size", [](Valid& v, auto& args) { args.rstd = v.make({5}, kF32); });
  errors.add("dweight size", [](Valid& v, auto& args) { args.dweight = v.make({5}, kF32); });
  errors.add("dweight without weight", [](Valid&, auto& args) { args.weight = {}; });
  errors.add("dy transposed",
             [](Valid& v, auto& args) { args.dy = v.make({6, 4}, kBF16).transpose(0, 1); });
  errors.add("dx on another device",
             [](Valid&, auto& args) { args.dx = {args.dx.data(), kBF16, {4, 6}, cuda_device(0)}; });
}

TEST(RmsNormBwdContract, WrongOverlaps) {
  Errors errors("overlaps");
  errors.add("dx is x", [](Valid&, auto& args) { args.dx = args.x; });
  errors.add("dx partly dy", [](Valid& v, auto& args) {
    const TensorView rows = v.make({5, 6}, kBF16);
    args.dy = rows.slice(0, 0, 4);
    args.dx = rows.slice(0, 1, 5);
  });
  errors.add("dx over the residual of another dtype", [](Valid&, auto& args) {
    args.dx = {args.dresidual_out.data(), kBF16, {4, 6}, kCpuDevice};
  });
  errors.add("dweight is weight", [](Valid&, auto& args) { args.dweight = args.weight; });
  errors.add("dweight over dx",
             [](Valid&, auto& args) { args.dweight = {args.dx.data(), kF32, {6}, kCpuDevice}; });
}

TEST(RmsNormBwdContract, AcceptsInPlace) {
  Valid valid;
  valid.args.dx = valid.args.dy;
  EXPECT_EQ(RmsNormBwd::match(valid.args).rows, 4);
  valid.args.dresidual_out = valid.args.dx = valid.make({4, 6}, kBF16);
  EXPECT_EQ(RmsNormBwd::match(valid.args).residual, kBF16);
}

TEST(RmsNormBwdContract, AcceptsAnyLeadingDimensionsAndNoRows) {
  Valid valid;
  valid.args = {};
  valid.args.dy = valid.args.dx = valid.make({2, 3, 5, 6}, kF32);
  valid.args.x = valid.make({2, 3, 5, 6}, kF32);
  valid.args.rstd = valid.make({2, 3, 5}, kF32);
  EXPECT_EQ(RmsNormBwd::match(valid.args).rows, 30);
  valid.args = {};
  valid.args.x = valid.args.dy = valid.args.dx = {nullptr, kBF16, {0, 6}, kCpuDevice};
  const auto problem = RmsNormBwd::match(valid.args);
  EXPECT_EQ(RmsNormBwd::work(problem).launches, 0);
  EXPECT_EQ(RmsNormBwd::work(problem).min_bytes, 0);
}

TEST(RmsNormBwdContract, WorkCountsEveryByteOnce) {
  const auto bytes = [](std::string_view keys) {
    return RmsNormBwd::work(test::parse<RmsNormBwd>(keys)).min_bytes;
  };
  EXPECT_EQ(bytes("rows=10 cols=8 dtype=bf16 weight=none"), 10 * 8 * 6);
  EXPECT_EQ(bytes("rows=10 cols=8 dtype=bf16"), 10 * 8 * 6 + 16 + 16);
  EXPECT_EQ(bytes("rows=10 cols=8 dtype=bf16 dweight=f32"), 10 * 8 * 6 + 16 + 32);
  EXPECT_EQ(bytes("rows=10 cols=8 dtype=bf16 weight=none residual=f32 rstd=true"),
            10 * 8 * 10 + 40);
}

/// The largest error of dx and dweight, in tolerances, of the reference on spoiled arguments.
double error_of(std::string_view keys, const std::function<void(RmsNormBwd::Args&)>& spoil) {
  const auto problem = test::parse<RmsNormBwd>(keys);
  Rng rng(1);
  auto inputs = RmsNormBwd::make_inputs(problem, rng);
  const auto outputs = [&](RmsNormBwd::Args& args) {
    for (TensorView* output : {&args.dx, &args.dweight}) {
      inputs.storage.push_back(Tensor::empty(output->shape(), kF64, kCpuDevice));
      *output = inputs.storage.back();
    }
  };
  RmsNormBwd::Args right = inputs.args;
  RmsNormBwd::Args wrong = inputs.args;
  outputs(right);
  outputs(wrong);
  spoil(wrong);
  RmsNormBwd::reference(right);
  RmsNormBwd::reference(wrong);
  const Tolerance tolerance = RmsNormBwd::tolerance(problem);
  return std::max(measure::compare(wrong.dx, right.dx, tolerance).error,
                  measure::compare(wrong.dweight, right.dweight, tolerance).error);
}

TEST(RmsNormBwdContract, AForgottenTermShows) {
  // make_inputs promises that each is far outside the tolerance, in the widest of them.
  for (const std::string rest : {"dtype=bf16 rounding=none", "dtype=bf16", "dtype=f32"}) {
    SCOPED_TRACE(rest);
    const std::string keys = "rows=300 cols=512 residual=bf16 offset=1 " + rest;
    EXPECT_GT(error_of(keys, [](auto& args) { args.eps = 1e-30; }), 1.5);
    EXPECT_GT(error_of(keys, [](auto& args) { args.offset = 0; }), 5);
    EXPECT_GT(error_of(keys, [](auto& args) { args.dresidual_out = {}; }), 5);
    EXPECT_GT(error_of(keys + " rstd=true", [](auto& args) { args.rstd = {}; }), 1.5);
    EXPECT_LE(error_of(keys, [](auto&) {}), 0);
  }
  // And rounding, where nothing else is rounded.
  EXPECT_GT(error_of("rows=1 cols=512 dtype=bf16 rounding=gemma dweight=f32",
                     [](auto& args) { args.rounding = RmsNorm::Rounding::kLlama; }),
            0.4);
}

TEST(RmsNormBwdContract, AnF16SumOfManyRowsStaysFinite) {
  const auto scale = [](std::string_view keys) {
    return RmsNormBwd::gradient_scale(test::parse<RmsNormBwd>(keys));
  };
  EXPECT_EQ(scale("rows=16384 dtype=f16"), 1);
  EXPECT_EQ(scale("rows=32768 dtype=f16"), 0.5);
  EXPECT_EQ(scale("rows=32768 dtype=f16 dweight=none"), 1);
  EXPECT_EQ(scale("rows=32768 dtype=bf16"), 1);
}

}  // namespace
}  // namespace einkorn
