#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/unit/ops/rms_arguments.h"

namespace einkorn {
namespace {

using Valid = test::RmsNormArguments;
using Errors = test::MatchErrors<Valid>;

TensorView moved(const TensorView& tensor, std::int64_t bytes) {
  return {tensor.data_as<char>() + bytes, tensor.dtype(), tensor.shape(), tensor.strides(),
          tensor.device()};
}

TEST(RmsNormContract, ParseCompletes) {
  constexpr auto parse = &test::parse<RmsNorm>;
  EXPECT_EQ(parse("dtype=f32").weight, kF32);
  EXPECT_EQ(parse("dtype=f32 weight=bf16").weight, kBF16);
  EXPECT_EQ(parse("weight=none").weight, std::nullopt);
  EXPECT_FALSE(parse("").residual_out);
  EXPECT_TRUE(parse("residual=bf16").residual_out);
  EXPECT_FALSE(parse("residual=bf16 residual_out=false").residual_out);
  EXPECT_EQ(parse("cols=4096").align, 16);
  EXPECT_EQ(parse("cols=4098").align, 4);
  EXPECT_EQ(parse("cols=4098 layout=row_strided").align, 16);
  EXPECT_EQ(parse("rows=1 cols=4097").align, 16);
}

TEST(RmsNormContract, PrintLeavesOutWhatParseCompletes) {
  constexpr auto through = &test::printed<RmsNorm>;
  EXPECT_EQ(through(""), "rows=4096 cols=4096 dtype=bf16");
  EXPECT_EQ(through("dtype=f32 residual=f32 cols=6"), "rows=4096 cols=6 dtype=f32 residual=f32");
  EXPECT_EQ(through("weight=f32"), "rows=4096 cols=4096 dtype=bf16 weight=f32");
  EXPECT_EQ(through("align=2 rounding=gemma"),
            "rows=4096 cols=4096 dtype=bf16 rounding=gemma align=2");
}

TEST(RmsNormContract, ParseErrors) {
  test::expect_parse_errors<RmsNorm>(
      {"dtype=i32", "dtype=f64 weight=f32", "residual=f64", "weight=i8", "residual=f8e4m3",
       "residual_out=true", "align=3", "align=32", "align=1", "cols=33 align=4",
       "rows=1 layout=row_strided", "cols=262145", "rows=1099511627776 cols=262144", "offset=2",
       "rounding=lama", "colums=3"});
}

TEST(RmsNormContract, WrongTypes) {
  Errors errors("types");
  errors.add("no x", [](Valid&, auto& args) { args.x = {}; });
  errors.add("no y", [](Valid&, auto& args) { args.y = {}; });
  errors.add("no residual", [](Valid&, auto& args) { args.residual = {}; });
  errors.add("x rank 0", [](Valid& v, auto& args) { args.x = v.make({}, kBF16); });
  errors.add("x dtype", [](Valid& v, auto& args) { args.x = v.make({4, 6}, kI32); });
  errors.add("weight f64 with x bf16",
             [](Valid& v, auto& args) { args.weight = v.make({6}, kF64); });
  errors.add("y dtype", [](Valid& v, auto& args) { args.y = v.make({4, 6}, kF32); });
  errors.add("weight dtype", [](Valid& v, auto& args) { args.weight = v.make({6}, kI32); });
  errors.add("residual_out dtype",
             [](Valid& v, auto& args) { args.residual_out = v.make({4, 6}, kBF16); });
  errors.add("rstd dtype", [](Valid& v, auto& args) { args.rstd = v.make({4}, kBF16); });
  errors.add("weight rank", [](Valid& v, auto& args) { args.weight = v.make({1, 6}, kBF16); });
  errors.add("rstd rank", [](Valid& v, auto& args) { args.rstd = v.make({4, 1}, kF32); });
  errors.add("y on another device",
             [](Valid&, auto& args) { args.y = {args.y.data(), kBF16, {4, 6}, cuda_device(0)}; });
}

TEST(RmsNormContract, WrongSizes) {
  Errors errors("sizes");
  errors.add("y rows", [](Valid& v, auto& args) { args.y = v.make({3, 6}, kBF16); });
  errors.add("y cols", [](Valid& v, auto& args) { args.y = v.make({4, 7}, kBF16); });
  errors.add("weight size", [](Valid& v, auto& args) { args.weight = v.make({5}, kBF16); });
  errors.add("rstd size", [](Valid& v, auto& args) { args.rstd = v.make({5}, kF32); });
  errors.add("leading dims", [](Valid& v, auto& args) { args.residual = v.make({2, 2, 6}, kF32); });
  errors.add("no columns", [](Valid& v, auto& args) { args.x = v.make({4, 0}, kBF16); });
  errors.add("too many columns",
             [](Valid& v, auto& args) { args.x = v.make({1, RmsNorm::kMaxCols + 1}, kBF16); });
}

TEST(RmsNormContract, WrongLayouts) {
  Errors errors("layouts");
  errors.add("x transposed",
             [](Valid& v, auto& args) { args.x = v.make({6, 4}, kBF16).transpose(0, 1); });
  errors.add("x leading dims of two strides", [](Valid& v, auto& args) {
    args.x = v.make({4, 3, 6}, kBF16).slice(1, 0, 2);
    args.weight = {};
  });
  errors.add("weight strided", [](Valid& v, auto& args) {
    const TensorView wide = v.make({12}, kBF16);
    const std::int64_t shape[] = {6}, strides[] = {2};
    args.weight = {wide.data(), kBF16, shape, strides, kCpuDevice};
  });
  errors.add("y expanded", [](Valid&, auto& args) {
    const std::int64_t shape[] = {4, 6}, strides[] = {0, 1};
    args.y = {args.y.data(), kBF16, shape, strides, kCpuDevice};
  });
  errors.add("x misaligned", [](Valid&, auto& args) { args.x = moved(args.x, 1); });
  errors.add("weight misaligned", [](Valid&, auto& args) { args.weight = moved(args.weight, 1); });
  errors.add("x null", [](Valid&, auto& args) { args.x = {nullptr, kBF16, {4, 6}, kCpuDevice}; });
}

TEST(RmsNormContract, WrongOverlaps) {
  Errors errors("overlaps");
  errors.add("y partly x", [](Valid& v, auto& args) {
    const TensorView rows = v.make({5, 6}, kBF16);
    args.x = rows.slice(0, 0, 4);
    args.y = rows.slice(0, 1, 5);
  });
  errors.add("y is residual", [](Valid&, auto& args) {
    args.residual = args.y;
    args.residual_out = {};
  });
  errors.add("residual_out is x", [](Valid& v, auto& args) {
    args.residual = v.make({4, 6}, kBF16);
    args.residual_out = args.x;
  });
  errors.add("y is residual_out", [](Valid& v, auto& args) {
    args.residual = v.make({4, 6}, kBF16);
    args.residual_out = args.y;
  });
  errors.add("y over weight",
             [](Valid&, auto& args) { args.weight = {args.y.data(), kBF16, {6}, kCpuDevice}; });
  errors.add("rstd over x",
             [](Valid&, auto& args) { args.rstd = {args.x.data(), kF32, {4}, kCpuDevice}; });
}

TEST(RmsNormContract, AcceptsInPlace) {
  Valid valid;
  valid.args.y = valid.args.x;
  valid.args.residual_out = valid.args.residual;
  EXPECT_EQ(RmsNorm::match(valid.args).rows, 4);
}

TEST(RmsNormContract, AcceptsAnyLeadingDimensions) {
  Valid valid;
  valid.args = {};
  valid.args.x = valid.make({2, 3, 5, 6}, kF32);
  valid.args.y = valid.make({2, 3, 5, 6}, kF32);
  valid.args.rstd = valid.make({2, 3, 5}, kF32);
  EXPECT_EQ(RmsNorm::match(valid.args).rows, 30);
  valid.args = {};
  valid.args.x = valid.make({6}, kF32);
  valid.args.y = valid.make({6}, kF32);
  valid.args.rstd = valid.make({}, kF32);
  EXPECT_EQ(RmsNorm::match(valid.args).rows, 1);
}

TEST(RmsNormContract, HonoursRowStrides) {
  Valid valid;
  valid.args = {};
  const TensorView wide = valid.make({4, 10}, kF32);
  valid.args.x = wide.slice(1, 2, 8);
  valid.args.y = valid.make({4, 6}, kF32);
  const auto problem = RmsNorm::match(valid.args);
  EXPECT_EQ(problem.layout, RmsNorm::Layout::kRowStrided);
  EXPECT_EQ(problem.align, 8);
  // One row for all: a stride of 0.
  const std::int64_t shape[] = {4, 6}, strides[] = {0, 1};
  valid.args.x = {wide.data(), kF32, shape, strides, kCpuDevice};
  EXPECT_EQ(RmsNorm::match(valid.args).layout, RmsNorm::Layout::kRowStrided);
}

TEST(RmsNormContract, AcceptsNoRowsWithoutMemory) {
  RmsNorm::Args args;
  args.x = {nullptr, kBF16, {0, 6}, kCpuDevice};
  args.y = {nullptr, kBF16, {0, 6}, kCpuDevice};
  const auto problem = RmsNorm::match(args);
  EXPECT_EQ(problem.rows, 0);
  EXPECT_EQ(RmsNorm::work(problem).launches, 0);
  EXPECT_EQ(RmsNorm::work(problem).min_bytes, 0);
}

TEST(RmsNormContract, WorkCountsEveryByteOnce) {
  const auto bytes = [](std::string_view keys) {
    return RmsNorm::work(test::parse<RmsNorm>(keys)).min_bytes;
  };
  EXPECT_EQ(bytes("rows=10 cols=8 dtype=bf16 weight=none"), 10 * 8 * 4);
  EXPECT_EQ(bytes("rows=10 cols=8 dtype=bf16"), 10 * 8 * 4 + 16);
  EXPECT_EQ(bytes("rows=10 cols=8 dtype=bf16 weight=none residual=f32"), 10 * 8 * 12);
  EXPECT_EQ(bytes("rows=10 cols=8 dtype=bf16 weight=none rstd=true"), 10 * 8 * 4 + 40);
}

TEST(RmsNormContract, ToleranceFollowsTheDtype) {
  const auto relative = [](std::string_view keys) {
    return RmsNorm::tolerance(test::parse<RmsNorm>(keys)).relative;
  };
  EXPECT_LT(relative("dtype=f32 rounding=gemma"), 1e-5);
  EXPECT_NEAR(relative("dtype=bf16 rounding=gemma"), 0x1p-8, 1e-5);
  EXPECT_NEAR(relative("dtype=bf16 rounding=llama"), 3 * 0x1p-8, 1e-5);
  EXPECT_NEAR(relative("dtype=f16 rounding=none"), 5 * 0x1p-11, 1e-5);
  EXPECT_GE(relative("dtype=f32 residual=bf16"), 0x1p-8);
}

TEST(RmsNormContract, EpsilonShowsInTheInputs) {
  // make_inputs promises that forgetting eps is far outside the tolerance.
  const auto problem = test::parse<RmsNorm>("rows=4 cols=4096 dtype=bf16 rstd=true");
  Rng rng(1);
  auto inputs = RmsNorm::make_inputs(problem, rng);
  RmsNorm::reference(inputs.args);
  const double with = load_as_double(inputs.args.rstd, 0);
  inputs.args.eps = 1e-9;
  RmsNorm::reference(inputs.args);
  const double without = load_as_double(inputs.args.rstd, 0);
  EXPECT_GT(without / with - 1, 2 * RmsNorm::tolerance(problem).relative);
}

}  // namespace
}  // namespace einkorn
