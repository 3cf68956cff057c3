// What the contracts of rms_norm and its gradients have in common.

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/ops/rms_arguments.h"

namespace einkorn {
namespace {

template <class Valid>
struct RmsContract : testing::Test {};
using Types = testing::Types<test::RmsNormArguments, test::RmsNormBwdArguments>;
TYPED_TEST_SUITE(RmsContract, Types, test::OpNames);

TYPED_TEST(RmsContract, EveryCaseMatchesItsKeys) {
  test::expect_cases_match<typename TypeParam::Contract>();
}

TYPED_TEST(RmsContract, EveryLayoutMatchesItsKeys) {
  using C = typename TypeParam::Contract;
  const bool forward = C::kName == RmsNorm::kName;
  for (const std::string dtype : {"f32", "f16", "bf16"}) {
    for (const std::string residual : {"none", "f32", "bf16"}) {
      test::expect_layouts_match<C>(
          "dtype=" + dtype + " residual=" + residual,
          {"", " weight=none rstd=true", forward ? " residual_out=false" : " dweight=f32"});
    }
  }
}

TYPED_TEST(RmsContract, KeysNameTheDtypes) {
  int found = 0;
  for (const Key& key : TypeParam::Contract::keys()) {
    if (key.name == "dtype") found += key.allowed == "f32|f16|bf16|f64" ? 1 : 0;
    if (key.name == "weight") found += key.allowed == "none|f32|f16|bf16|f64" ? 1 : 0;
    if (key.name == "rows") found += key.default_value == "4096" ? 1 : 0;
  }
  EXPECT_EQ(found, 3);
}

TYPED_TEST(RmsContract, WrongScalars) {
  test::MatchErrors<TypeParam> errors("scalars");
  const auto eps = [&](std::string_view title, double value) {
    errors.add(title, [&](TypeParam&, auto& args) { args.eps = value; });
  };
  eps("eps 0", 0);
  eps("eps negative", -1e-6);
  eps("eps NaN", std::numeric_limits<double>::quiet_NaN());
  eps("eps infinite", HUGE_VAL);
  eps("eps below f32", 1e-300);
  errors.add("offset", [](TypeParam&, auto& args) { args.offset = 2; });
  errors.add("rounding", [](TypeParam&, auto& args) { args.rounding = RmsNorm::Rounding{7}; });
}

TYPED_TEST(RmsContract, MatchAllocatesNothing) {
  test::expect_match_allocates_nothing<typename TypeParam::Contract>(TypeParam().args);
}

}  // namespace
}  // namespace einkorn
