#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <einkorn/error.h>
#include <gtest/gtest.h>

#include "ops/norm/rms_norm/contract.h"
#include "tests/unit/allocation_count.h"
#include "tests/unit/golden.h"
#include "tests/unit/ops/op_test.h"

namespace einkorn {
namespace {

using test::GoldenErrors;

/// Arguments that match, to be spoiled one at a time.
struct Valid {
  RmsNorm::Args args;
  std::vector<Tensor> storage;

  Valid() {
    args.x = make({4, 6}, kBF16);
    args.weight = make({6}, kBF16);
    args.residual = make({4, 6}, kF32);
    args.y = make({4, 6}, kBF16);
    args.residual_out = make({4, 6}, kF32);
    args.rstd = make({4}, kF32);
  }
  TensorView make(std::initializer_list<std::int64_t> shape, DType dtype) {
    storage.push_back(Tensor::empty(shape, dtype, kCpuDevice));
    return storage.back();
  }
};

/// The error of matching valid arguments after `spoil`.
template <class F>
void add(GoldenErrors& errors, std::string_view title, F&& spoil) {
  Valid valid;
  ASSERT_NO_THROW(static_cast<void>(RmsNorm::match(valid.args)));
  spoil(valid, valid.args);
  errors.add(title, [&] { static_cast<void>(RmsNorm::match(valid.args)); });
}

TensorView moved(const TensorView& tensor, std::int64_t bytes) {
  return {tensor.data_as<char>() + bytes, tensor.dtype(), tensor.shape(), tensor.strides(),
          tensor.device()};
}

TEST(RmsNormContract, EveryCaseMatchesItsKeys) {
  for (const Case& one : RmsNorm::cases()) {
    const auto problem = RmsNorm::parse(split_key_values(one.keys));
    EXPECT_EQ(RmsNorm::parse(split_key_values(RmsNorm::print(problem))), problem) << one.name;
    if (one.level > 1 || problem.rows * problem.cols > (1 << 21)) continue;
    test::expect_inputs_match<RmsNorm>(one.keys);
  }
}

TEST(RmsNormContract, EveryLayoutMatchesItsKeys) {
  for (const char* dtype : {"f32", "f16", "bf16"}) {
    for (const char* residual : {"none", "f32", "bf16"}) {
      for (const char* rows : {"0", "1", "2", "5"}) {
        for (const char* cols : {"1", "3", "6", "8", "33"}) {
          const std::string keys = std::string("rows=") + rows + " cols=" + cols +
                                   " dtype=" + dtype + " residual=" + residual;
          test::expect_inputs_match<RmsNorm>(keys);
          test::expect_inputs_match<RmsNorm>(keys + " weight=none rstd=true");
          if (std::string_view(rows) < "2") continue;
          for (const char* align : {"4", "8", "16"}) {
            test::expect_inputs_match<RmsNorm>(keys + " layout=row_strided align=" + align);
          }
        }
      }
    }
  }
}

TEST(RmsNormContract, ParseCompletes) {
  const auto parse = [](std::string_view keys) { return RmsNorm::parse(split_key_values(keys)); };
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
  const auto through = [](std::string_view keys) {
    return RmsNorm::print(RmsNorm::parse(split_key_values(keys)));
  };
  EXPECT_EQ(through(""), "rows=4096 cols=4096 dtype=bf16");
  EXPECT_EQ(through("dtype=f32 residual=f32 cols=6"), "rows=4096 cols=6 dtype=f32 residual=f32");
  EXPECT_EQ(through("weight=f32"), "rows=4096 cols=4096 dtype=bf16 weight=f32");
  EXPECT_EQ(through("align=2 rounding=gemma"),
            "rows=4096 cols=4096 dtype=bf16 rounding=gemma align=2");
}

TEST(RmsNormContract, ParseErrors) {
  GoldenErrors errors("errors/rms_norm_parse.txt");
  const auto add_keys = [&](std::string_view keys) {
    errors.add(keys, [keys] { static_cast<void>(RmsNorm::parse(split_key_values(keys))); });
  };
  add_keys("dtype=i32");
  add_keys("dtype=f64 weight=f32");
  add_keys("residual=f64");
  add_keys("weight=i8");
  add_keys("residual=f8e4m3");
  add_keys("residual_out=true");
  add_keys("align=3");
  add_keys("align=32");
  add_keys("align=1");
  add_keys("cols=33 align=4");
  add_keys("rows=1 layout=row_strided");
  add_keys("cols=262145");
  add_keys("rows=1099511627776 cols=262144");
  add_keys("offset=2");
  add_keys("rounding=lama");
  add_keys("colums=3");
}

TEST(RmsNormContract, KeysNameTheDtypes) {
  int found = 0;
  for (const Key& key : RmsNorm::keys()) {
    if (key.name == "dtype") found += key.allowed == "f32|f16|bf16|f64" ? 1 : 0;
    if (key.name == "weight") found += key.allowed == "none|f32|f16|bf16|f64" ? 1 : 0;
    if (key.name == "rows") found += key.default_value == "4096" ? 1 : 0;
  }
  EXPECT_EQ(found, 3);
}

TEST(RmsNormContract, WrongTypes) {
  GoldenErrors errors("errors/rms_norm_types.txt");
  add(errors, "no x", [](Valid&, auto& args) { args.x = {}; });
  add(errors, "no y", [](Valid&, auto& args) { args.y = {}; });
  add(errors, "x rank 0", [](Valid& v, auto& args) { args.x = v.make({}, kBF16); });
  add(errors, "x dtype", [](Valid& v, auto& args) { args.x = v.make({4, 6}, kI32); });
  add(errors, "weight f64 with x bf16",
      [](Valid& v, auto& args) { args.weight = v.make({6}, kF64); });
  add(errors, "y dtype", [](Valid& v, auto& args) { args.y = v.make({4, 6}, kF32); });
  add(errors, "weight dtype", [](Valid& v, auto& args) { args.weight = v.make({6}, kI32); });
  add(errors, "residual_out dtype",
      [](Valid& v, auto& args) { args.residual_out = v.make({4, 6}, kBF16); });
  add(errors, "rstd dtype", [](Valid& v, auto& args) { args.rstd = v.make({4}, kBF16); });
  add(errors, "weight rank", [](Valid& v, auto& args) { args.weight = v.make({1, 6}, kBF16); });
  add(errors, "rstd rank", [](Valid& v, auto& args) { args.rstd = v.make({4, 1}, kF32); });
  add(errors, "y on another device",
      [](Valid&, auto& args) { args.y = {args.y.data(), kBF16, {4, 6}, cuda_device(0)}; });
}

TEST(RmsNormContract, WrongSizes) {
  GoldenErrors errors("errors/rms_norm_sizes.txt");
  add(errors, "y rows", [](Valid& v, auto& args) { args.y = v.make({3, 6}, kBF16); });
  add(errors, "y cols", [](Valid& v, auto& args) { args.y = v.make({4, 7}, kBF16); });
  add(errors, "weight size", [](Valid& v, auto& args) { args.weight = v.make({5}, kBF16); });
  add(errors, "rstd size", [](Valid& v, auto& args) { args.rstd = v.make({5}, kF32); });
  add(errors, "leading dims",
      [](Valid& v, auto& args) { args.residual = v.make({2, 2, 6}, kF32); });
  add(errors, "no columns", [](Valid& v, auto& args) { args.x = v.make({4, 0}, kBF16); });
  add(errors, "too many columns",
      [](Valid& v, auto& args) { args.x = v.make({1, RmsNorm::kMaxCols + 1}, kBF16); });
}

TEST(RmsNormContract, WrongLayouts) {
  GoldenErrors errors("errors/rms_norm_layouts.txt");
  add(errors, "x transposed",
      [](Valid& v, auto& args) { args.x = v.make({6, 4}, kBF16).transpose(0, 1); });
  add(errors, "x leading dims of two strides", [](Valid& v, auto& args) {
    args.x = v.make({4, 3, 6}, kBF16).slice(1, 0, 2);
    args.weight = {};
  });
  add(errors, "weight strided", [](Valid& v, auto& args) {
    const TensorView wide = v.make({12}, kBF16);
    const std::int64_t shape[] = {6}, strides[] = {2};
    args.weight = {wide.data(), kBF16, shape, strides, kCpuDevice};
  });
  add(errors, "y expanded", [](Valid&, auto& args) {
    const std::int64_t shape[] = {4, 6}, strides[] = {0, 1};
    args.y = {args.y.data(), kBF16, shape, strides, kCpuDevice};
  });
  add(errors, "x misaligned", [](Valid&, auto& args) { args.x = moved(args.x, 1); });
  add(errors, "weight misaligned", [](Valid&, auto& args) { args.weight = moved(args.weight, 1); });
  add(errors, "x null", [](Valid&, auto& args) { args.x = {nullptr, kBF16, {4, 6}, kCpuDevice}; });
}

TEST(RmsNormContract, WrongOverlaps) {
  GoldenErrors errors("errors/rms_norm_overlaps.txt");
  add(errors, "y partly x", [](Valid& v, auto& args) {
    const TensorView rows = v.make({5, 6}, kBF16);
    args.x = rows.slice(0, 0, 4);
    args.y = rows.slice(0, 1, 5);
  });
  add(errors, "y is residual", [](Valid&, auto& args) {
    args.residual = args.y;
    args.residual_out = {};
  });
  add(errors, "residual_out is x", [](Valid& v, auto& args) {
    args.residual = v.make({4, 6}, kBF16);
    args.residual_out = args.x;
  });
  add(errors, "y is residual_out", [](Valid& v, auto& args) {
    args.residual = v.make({4, 6}, kBF16);
    args.residual_out = args.y;
  });
  add(errors, "y over weight",
      [](Valid&, auto& args) { args.weight = {args.y.data(), kBF16, {6}, kCpuDevice}; });
  add(errors, "rstd over x",
      [](Valid&, auto& args) { args.rstd = {args.x.data(), kF32, {4}, kCpuDevice}; });
}

TEST(RmsNormContract, WrongScalars) {
  GoldenErrors errors("errors/rms_norm_scalars.txt");
  add(errors, "eps 0", [](Valid&, auto& args) { args.eps = 0; });
  add(errors, "eps negative", [](Valid&, auto& args) { args.eps = -1e-6; });
  add(errors, "eps NaN",
      [](Valid&, auto& args) { args.eps = std::numeric_limits<double>::quiet_NaN(); });
  add(errors, "eps infinite", [](Valid&, auto& args) { args.eps = HUGE_VAL; });
  add(errors, "eps below f32", [](Valid&, auto& args) { args.eps = 1e-300; });
  add(errors, "offset", [](Valid&, auto& args) { args.offset = 2; });
  add(errors, "rounding", [](Valid&, auto& args) { args.rounding = RmsNorm::Rounding{7}; });
  add(errors, "residual_out alone", [](Valid&, auto& args) { args.residual = {}; });
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

TEST(RmsNormContract, MatchAllocatesNothing) {
  const Valid valid;
  const auto before = test::allocations();
  for (int i = 0; i < 10; ++i) static_cast<void>(RmsNorm::match(valid.args));
  EXPECT_EQ(test::allocations(), before);
}

TEST(RmsNormContract, WorkCountsEveryByteOnce) {
  const auto bytes = [](std::string_view keys) {
    return RmsNorm::work(RmsNorm::parse(split_key_values(keys))).min_bytes;
  };
  EXPECT_EQ(bytes("rows=10 cols=8 dtype=bf16 weight=none"), 10 * 8 * 4);
  EXPECT_EQ(bytes("rows=10 cols=8 dtype=bf16"), 10 * 8 * 4 + 16);
  EXPECT_EQ(bytes("rows=10 cols=8 dtype=bf16 weight=none residual=f32"), 10 * 8 * 12);
  EXPECT_EQ(bytes("rows=10 cols=8 dtype=bf16 weight=none rstd=true"), 10 * 8 * 4 + 40);
}

TEST(RmsNormContract, ToleranceFollowsTheDtype) {
  const auto relative = [](std::string_view keys) {
    return RmsNorm::tolerance(RmsNorm::parse(split_key_values(keys))).relative;
  };
  EXPECT_LT(relative("dtype=f32 rounding=gemma"), 1e-5);
  EXPECT_NEAR(relative("dtype=bf16 rounding=gemma"), 0x1p-8, 1e-5);
  EXPECT_NEAR(relative("dtype=bf16 rounding=llama"), 3 * 0x1p-8, 1e-5);
  EXPECT_NEAR(relative("dtype=f16 rounding=none"), 5 * 0x1p-11, 1e-5);
  EXPECT_GE(relative("dtype=f32 residual=bf16"), 0x1p-8);
}

TEST(RmsNormContract, EpsilonShowsInTheInputs) {
  // make_inputs promises that forgetting eps is far outside the tolerance.
  const auto problem = RmsNorm::parse(split_key_values("rows=4 cols=4096 dtype=bf16 rstd=true"));
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
