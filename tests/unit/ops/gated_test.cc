// What the contracts of silu_mul and its gradients have in common.

#include <cmath>
#include <string>

#include <einkorn/cuda.h>
#include <einkorn/registry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/ops/gated_arguments.h"

namespace einkorn {
namespace {

template <class Valid>
struct GatedContract : testing::Test {};
using Types = testing::Types<test::SiluMulArguments, test::SiluMulBwdArguments>;
TYPED_TEST_SUITE(GatedContract, Types, test::OpNames);

TYPED_TEST(GatedContract, EveryCaseMatchesItsKeys) {
  test::expect_cases_match<typename TypeParam::Contract>();
}

TYPED_TEST(GatedContract, EveryLayoutMatchesItsKeys) {
  for (const std::string dtype : {"f32", "f16", "bf16", "f64"}) {
    for (const std::string packing : {"split", "halves", "interleaved"}) {
      test::expect_layouts_match<typename TypeParam::Contract>(
          "dtype=" + dtype + " packing=" + packing, {"", " clamp=true rounding=silu"});
    }
  }
}

TYPED_TEST(GatedContract, PrintLeavesOutWhatParseCompletes) {
  using C = typename TypeParam::Contract;
  EXPECT_EQ(test::printed<C>(""), "rows=4096 cols=14336 dtype=bf16");
  EXPECT_EQ(test::printed<C>("cols=33 packing=halves"),
            "rows=4096 cols=33 dtype=bf16 packing=halves");
  EXPECT_EQ(test::printed<C>("clamp=true align=2"),
            "rows=4096 cols=14336 dtype=bf16 clamp=true align=2");
}

TYPED_TEST(GatedContract, ParseErrors) {
  test::expect_parse_errors<typename TypeParam::Contract>(
      {"dtype=i8", "align=6", "dtype=f32 align=2", "dtype=f64 align=4", "cols=33 align=4",
       "rows=0 layout=row_strided", "cols=16777217", "rows=1099511627776 cols=16777216",
       "packing=both"});
}

TYPED_TEST(GatedContract, WrongScalars) {
  using C = typename TypeParam::Contract;
  test::MatchErrors<TypeParam> errors("scalars");
  const auto clamped = [&](std::string_view title, double C::Args::* scalar, double value) {
    errors.add(title, [&](TypeParam&, auto& args) {
      args.clamp = true;
      args.*scalar = value;
    });
  };
  clamped("limit", &C::Args::limit, 0);
  clamped("limit NaN", &C::Args::limit, std::nan(""));
  clamped("alpha", &C::Args::alpha, HUGE_VAL);
  clamped("up_offset", &C::Args::up_offset, std::nan(""));
  errors.add("packing", [](TypeParam&, auto& args) { args.packing = SiluMul::Packing{9}; });
  errors.add("rounding", [](TypeParam&, auto& args) { args.rounding = SiluMul::Rounding{9}; });
}

TYPED_TEST(GatedContract, ScalarsOfThePlainFormAreNotLookedAt) {
  TypeParam valid;
  valid.args.limit = -1;
  EXPECT_EQ(TypeParam::Contract::match(valid.args).rows, 4);
}

TYPED_TEST(GatedContract, MatchAllocatesNothing) {
  test::expect_match_allocates_nothing<typename TypeParam::Contract>(TypeParam().args);
}

TYPED_TEST(GatedContract, OnlyTheReferenceServesF64) {
  using C = typename TypeParam::Contract;
  const auto view = registry();
  const OpEntry& entry = view->find(C::kName);
  const auto problem = test::parse<C>("rows=3 cols=8 dtype=f64");
  int refused = 0;
  for (const Variant* variant : entry.variants) {
    if (variant == entry.op->reference_variant) continue;
    const auto refusal = variant->supports(&problem, find_device_info("h100"));
    ASSERT_TRUE(refusal) << variant->id();
    EXPECT_THAT(refusal->reason, testing::HasSubstr("f64")) << variant->id();
    ++refused;
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(explain(entry, &problem, cpu_info()).chosen, entry.op->reference_variant);
}

}  // namespace
}  // namespace einkorn
