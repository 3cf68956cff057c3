// What qk_norm accepts and refuses; of each tensor alone see boundary_test.cc.

#include "ops/norm/qk_norm/contract.h"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <einkorn/error.h>

#include "tests/unit/ops/qk_norm_arguments.h"

namespace einkorn {
namespace {

using Valid = test::QkNormArguments;
using Errors = test::MatchErrors<Valid>;

int parsed_align(std::string_view keys) { return test::parse<QkNorm>(keys).align; }

TEST(QkNormContract, EveryCaseMatchesItsKeys) { test::expect_cases_match<QkNorm>(); }

TEST(QkNormContract, EveryLayoutMatchesItsKeys) {
  for (const std::string heads : {"q_heads=1 k_heads=1 ", "q_heads=3 k_heads=1 ",
                                  "q_heads=1 k_heads=2 ", "q_heads=4 k_heads=8 "}) {
    for (const char* dtype : {"dtype=f32", "dtype=f16", "dtype=bf16"}) {
      test::expect_layouts_match<QkNorm>(heads + dtype, {"", " weight=none", " weight=f32"});
    }
  }
}

TEST(QkNormContract, ParseCompletes) {
  EXPECT_EQ(test::parse<QkNorm>("dtype=f32").weight, kF32);
  EXPECT_EQ(test::parse<QkNorm>("dtype=f32 weight=bf16").weight, kBF16);
  EXPECT_EQ(test::parse<QkNorm>("weight=none").weight, std::nullopt);
}

TEST(QkNormContract, HeadsBoundTheAlignment) {
  EXPECT_EQ(parsed_align("cols=128"), 16);
  EXPECT_EQ(parsed_align("cols=66"), 4);
  // Gaps between tokens do not move a token's second head, nor does a single token.
  EXPECT_EQ(parsed_align("cols=66 layout=row_strided"), 4);
  EXPECT_EQ(parsed_align("rows=1 cols=66"), 4);
  EXPECT_EQ(parsed_align("q_heads=1 k_heads=1 cols=66"), 4);
  EXPECT_EQ(parsed_align("q_heads=1 k_heads=1 cols=66 layout=row_strided"), 16);
  EXPECT_EQ(parsed_align("rows=1 q_heads=1 k_heads=1 cols=66"), 16);
}

TEST(QkNormContract, PrintLeavesOutWhatParseCompletes) {
  EXPECT_EQ(test::printed<QkNorm>(""), "rows=4096 q_heads=32 k_heads=8 cols=128 dtype=bf16");
  EXPECT_EQ(test::printed<QkNorm>("cols=6 dtype=f16 rounding=gemma weight=f32"),
            "rows=4096 q_heads=32 k_heads=8 cols=6 dtype=f16 weight=f32 rounding=gemma");
}

TEST(QkNormContract, ParseErrors) {
  test::expect_parse_errors<QkNorm>(
      {"dtype=i32", "dtype=f64 weight=f32", "weight=f64", "weight=i8", "align=32",
       "align=2 dtype=f32", "cols=66 align=8", "q_heads=1 k_heads=1 cols=66 align=8",
       "cols=66 align=8 layout=row_strided", "q_heads=3 k_heads=1 cols=33 align=4",
       "rows=1 layout=row_strided", "cols=1025", "q_heads=0", "k_heads=65537", "offset=2",
       "rounding=lama", "heads=3"});
}

TEST(QkNormContract, WrongTensors) {
  Errors errors("tensors");
  errors.add("k of other tokens", [](Valid& v, auto& args) { args.k = v.make({5, 2, 6}, kBF16); });
  errors.add("k of other leading dims",
             [](Valid& v, auto& args) { args.k = v.make({2, 2, 2, 6}, kBF16); });
  errors.add("k of another head size",
             [](Valid& v, auto& args) { args.k = v.make({4, 2, 7}, kBF16); });
  errors.add("k of another dtype", [](Valid& v, auto& args) { args.k = v.make({4, 2, 6}, kF16); });
  errors.add("q_out of other heads",
             [](Valid& v, auto& args) { args.q_out = v.make({4, 2, 6}, kBF16); });
  errors.add("q of no heads", [](Valid& v, auto& args) { args.q = v.make({4, 0, 6}, kBF16); });
  errors.add("q of too wide heads",
             [](Valid& v, auto& args) { args.q = v.make({4, 3, 1025}, kBF16); });
  errors.add("q's heads with gaps",
             [](Valid& v, auto& args) { args.q = v.make({4, 3, 8}, kBF16).slice(2, 0, 6); });
  errors.add("q's heads outside tokens",
             [](Valid& v, auto& args) { args.q = v.make({3, 4, 6}, kBF16).transpose(0, 1); });
  errors.add("q_weight alone", [](Valid&, auto& args) { args.k_weight = {}; });
  errors.add("k_weight alone", [](Valid&, auto& args) { args.q_weight = {}; });
  errors.add("weights of two dtypes",
             [](Valid& v, auto& args) { args.k_weight = v.make({6}, kF32); });
  errors.add("weights in f64", [](Valid& v, auto& args) {
    args.q_weight = v.make({6}, kF64);
    args.k_weight = v.make({6}, kF64);
  });
}

TEST(QkNormContract, WrongOverlaps) {
  Errors errors("overlaps");
  errors.add("q_out over the next token's q", [](Valid& v, auto& args) {
    const TensorView tokens = v.make({5, 3, 6}, kBF16);
    args.q = tokens.slice(0, 0, 4);
    args.q_out = tokens.slice(0, 1, 5);
  });
  errors.add("q_out is k, of as many heads", [](Valid&, auto& args) {
    args.q = args.q.slice(1, 0, 2);
    args.q_out = args.k;
  });
  errors.add("both outputs are one", [](Valid&, auto& args) {
    args.q = args.q.slice(1, 0, 2);
    args.q_out = args.k_out;
  });
  errors.add("outputs swapped in one qkv", [](Valid& v, auto& args) {
    v.slice_qkv(kBF16, 4, 2, 2, 6);
    std::swap(args.q_out, args.k_out);
  });
  errors.add("k_out over a weight", [](Valid&, auto& args) {
    args.q_weight = {args.k_out.data(), kBF16, {6}, kCpuDevice};
  });
}

TEST(QkNormContract, WrongScalars) {
  Errors errors("scalars");
  errors.add("eps 0", [](Valid&, auto& args) { args.eps = 0; });
  errors.add("eps NaN",
             [](Valid&, auto& args) { args.eps = std::numeric_limits<double>::quiet_NaN(); });
  errors.add("offset", [](Valid&, auto& args) { args.offset = 2; });
  errors.add("rounding", [](Valid&, auto& args) { args.rounding = QkNorm::Rounding{7}; });
}

TEST(QkNormContract, AcceptsSlicesOfOneQkvInPlace) {
  Valid valid;
  valid.slice_qkv(kBF16, 5, 4, 2, 64);
  const auto problem = QkNorm::match(valid.args);
  EXPECT_EQ(problem, test::parse<QkNorm>("rows=5 q_heads=4 k_heads=2 cols=64 weight=none "
                                         "layout=row_strided"));
  // A single token has no stride.
  valid.slice_qkv(kBF16, 1, 4, 2, 64);
  EXPECT_EQ(QkNorm::match(valid.args).layout, QkNorm::Layout::kContiguous);
}

TEST(QkNormContract, AcceptsAnyLeadingDimensions) {
  Valid valid;
  const auto match = [&](auto... lead) {
    valid.args = {};
    valid.args.q = valid.args.q_out = valid.make({lead..., 3, 6}, kF32);
    valid.args.k = valid.args.k_out = valid.make({lead..., 2, 6}, kF32);
    return QkNorm::match(valid.args).rows;
  };
  EXPECT_EQ(match(), 1);
  EXPECT_EQ(match(2, 5), 10);
  EXPECT_EQ(match(2, 0, 5), 0);
}

TEST(QkNormContract, WorkCountsEveryByteOnce) {
  const auto bytes = [](std::string_view keys) {
    return QkNorm::work(test::parse<QkNorm>(keys)).min_bytes;
  };
  EXPECT_EQ(bytes("rows=10 q_heads=3 k_heads=2 cols=8 weight=none"), 10 * 5 * 8 * 4);
  EXPECT_EQ(bytes("rows=10 q_heads=3 k_heads=2 cols=8 weight=f32"), 10 * 5 * 8 * 4 + 64);
  EXPECT_EQ(bytes("rows=0"), 0);
  EXPECT_EQ(QkNorm::work(test::parse<QkNorm>("rows=0")).launches, 0);
}

TEST(QkNormContract, ToleranceFollowsTheRoundings) {
  const auto relative = [](std::string_view keys) {
    return QkNorm::tolerance(test::parse<QkNorm>(keys)).relative;
  };
  EXPECT_LT(relative("dtype=f32 rounding=gemma"), 1e-5);
  EXPECT_NEAR(relative("dtype=bf16 rounding=gemma"), 0x1p-8, 1e-5);
  EXPECT_NEAR(relative("dtype=bf16 rounding=llama"), 3 * 0x1p-8, 1e-5);
  EXPECT_NEAR(relative("dtype=f16 rounding=none"), 5 * 0x1p-11, 1e-5);
}

TEST(QkNormContract, MatchAllocatesNothing) {
  test::expect_match_allocates_nothing<QkNorm>(Valid().args);
}

}  // namespace
}  // namespace einkorn
