// What the contracts of the composite ops refuse beside wrong tensors, what they count, and their
// references against values computed by hand.

#include <cmath>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/ops/composite_arguments.h"

namespace einkorn {
namespace {

template <class Valid>
class Composite : public testing::Test {};

using AllArguments = testing::Types<test::GatedRmsNormArguments, test::GatedNormPairArguments>;
TYPED_TEST_SUITE(Composite, AllArguments, test::OpNames);

TYPED_TEST(Composite, WrongScalars) {
  test::MatchErrors<TypeParam> errors("scalars");
  errors.add("eps 0", [](auto&, auto& args) { args.eps = 0; });
  errors.add("eps NaN", [](auto&, auto& args) { args.eps = std::nan(""); });
  errors.add("eps infinite", [](auto&, auto& args) { args.eps = HUGE_VAL; });
}

TYPED_TEST(Composite, ParseErrors) {
  test::expect_parse_errors<typename TypeParam::Contract>(
      {"dtype=f64", "dtype=i8", "align=3", "align=32", "align=1", "cols=33 align=4", "cols=262145",
       "rows=1099511627776 cols=262144", "weight=f32"});
}

TYPED_TEST(Composite, EveryCaseMatchesItsKeys) {
  test::expect_cases_match<typename TypeParam::Contract>();
}

TYPED_TEST(Composite, AcceptsTheGateInPlace) {
  TypeParam valid;
  valid.args.y = valid.args.gate;
  EXPECT_EQ(TypeParam::Contract::match(valid.args).rows, 4);
}

TYPED_TEST(Composite, MatchAllocatesNothing) {
  test::expect_match_allocates_nothing<typename TypeParam::Contract>(TypeParam().args);
}

TEST(GatedRmsNormContract, ASequenceMovesTwoTensorsMore) {
  const auto problem = test::parse<GatedRmsNorm>("rows=4096 cols=4096 dtype=bf16");
  const double least = GatedRmsNorm::work(problem).min_bytes;
  const double moved =
      RmsNorm::work(problem.norm()).min_bytes + SiluMul::work(problem.product()).min_bytes;
  EXPECT_NEAR(moved / least, 1.67, 0.005);
}

// Rows of +-2 have a root mean square of 2, so that they come out as +-1 with eps far below.
constexpr double kLog3 = 1.0986122886681098;  // sigmoid(log 3) = 3 / 4

TEST(GatedRmsNormReference, HandComputed) {
  const Tensor x = test::tensor_of(kF32, {1, 2}, {2, -2});
  const Tensor gate = test::tensor_of(kF32, {1, 2}, {kLog3, -kLog3});
  const Tensor weight = test::tensor_of(kF32, {2}, {1, 3});
  const Tensor y = Tensor::empty({1, 2}, kF64, kCpuDevice);
  GatedRmsNorm::reference({x, gate, weight, y, 1e-9});
  const std::vector<double> got = test::values_of(y);
  EXPECT_NEAR(got[0], 0.75 * kLog3, 1e-6);
  EXPECT_NEAR(got[1], 3 * 0.25 * kLog3, 1e-6);
}

TEST(GatedNormPairReference, HandComputed) {
  const Tensor gate = test::tensor_of(kF32, {1, 2}, {2, -2});
  const Tensor up = test::tensor_of(kF32, {1, 2}, {-4, 4});
  const Tensor gate_weight = test::tensor_of(kF32, {2}, {kLog3, kLog3});
  const Tensor up_weight = test::tensor_of(kF32, {2}, {2, 5});
  const Tensor y = Tensor::empty({1, 2}, kF64, kCpuDevice);
  GatedNormPair::reference({gate, up, gate_weight, up_weight, y, 1e-9});
  const std::vector<double> got = test::values_of(y);
  EXPECT_NEAR(got[0], 0.75 * kLog3 * -2, 1e-6);
  EXPECT_NEAR(got[1], -0.25 * kLog3 * 5, 1e-6);
}

}  // namespace
}  // namespace einkorn
