#include "cli/run_check.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/status.h"
#include "src/core/float.h"

namespace einkorn::cli {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kCount = 257;

template <class Value>
Tensor tensor_of(DType dtype, Value&& value) {
  Tensor out = Tensor::empty({kCount}, dtype, kCpuDevice);
  for (std::int64_t i = 0; i < kCount; ++i) store_from_double(out.view(), i, value(i));
  return out;
}

double x_at(std::int64_t i) { return static_cast<double>(i - 100) / 64; }

/// `equation` over x of `x_at`, rounded to `dtype`, and y of what `result` makes of each x.
template <class Result>
CheckOutcome outcome(const std::string& equation, DType dtype, Result&& result,
                     double tolerance = -1) {
  const Tensor x = tensor_of(dtype, x_at);
  const Tensor y =
      tensor_of(dtype, [&](std::int64_t i) { return result(load_as_double(x.view(), i)); });
  const std::vector<RunArgument> before = {
      {"y", tensor_of(dtype, [](std::int64_t) { return 7.0; })}, {"x", x}, {"a", 0.1}};
  return check_elements(equation, tolerance, before, {y, x});
}

class EveryDType : public testing::TestWithParam<DType> {};

INSTANTIATE_TEST_SUITE_P(RunCheck, EveryDType,
                         testing::Values(kF64, kF32, kF16, kBF16, kF8E4M3, kF8E5M2, kI8, kI32,
                                         kI64),
                         [](const auto& test) { return std::string(name(test.param)); });

TEST_P(EveryDType, AResultRoundedOnceHolds) {
  EXPECT_EQ(outcome("y == x", GetParam(), [](double x) { return x; }).wrong, 0);
  if (!is_floating(GetParam())) return;
  const auto affine =
      outcome("y == x * 0.7 + 0.3", GetParam(), [](double x) { return x * 0.7 + 0.3; });
  EXPECT_EQ(affine.wrong, 0) << testing::PrintToString(affine.shown);
  EXPECT_EQ(outcome("y == exp(x)", GetParam(), [](double x) { return std::exp(x); }).wrong, 0);
}

TEST_P(EveryDType, ZerosFail) {
  const auto zero = [](double) { return 0.0; };
  const CheckOutcome copy = outcome("y == x", GetParam(), zero);
  EXPECT_EQ(copy.elements, kCount);
  // All but those where x is 0, or the smallest value of its dtype.
  EXPECT_GE(copy.wrong, is_floating(GetParam()) ? kCount - 3 : kCount / 2);
  EXPECT_GE(outcome("y == 3 - x", GetParam(), zero).wrong, kCount / 2);
}

TEST_P(EveryDType, AnErrorOfAHalfFails) {
  EXPECT_GE(outcome("y == x + 4", GetParam(), [](double x) { return 1.5 * (x + 4); }).wrong,
            kCount / 2);
}

TEST(RunCheck, SmallResultsAreHeldToTheirOwnSize) {
  const auto off = outcome("y == x * 1e-7", kF32, [](double x) { return x * 2e-7; });
  EXPECT_EQ(off.wrong, kCount - 1) << "all but x = 0";
}

TEST(RunCheck, CancellationIsAllowedWhatItsOperandsLose) {
  // As a kernel in f32 computes it, with a rounding between.
  const auto rounded = [](double x) {
    return static_cast<double>(static_cast<float>(static_cast<float>(x) * 0.1F) - 0.1F);
  };
  EXPECT_EQ(outcome("y == a * x - 0.1", kF32, rounded).wrong, 0);
  EXPECT_GT(outcome("y == a * x - 0.1", kF32, rounded, 0).wrong, 0);
}

TEST(RunCheck, TheDTypeIsTheLeftSides) {
  const Tensor x = tensor_of(kI32, [](std::int64_t i) { return static_cast<double>(i); });
  const Tensor y = tensor_of(kF32, [](std::int64_t i) { return static_cast<double>(i) * 0.1; });
  const std::vector<RunArgument> before = {{"y", y}, {"a", x}};
  EXPECT_EQ(check_elements("y == a * 0.1", -1, before, {y, x}).wrong, 0);
}

TEST(RunCheck, NanAndInfinity) {
  const auto nan = [](double) { return std::nan(""); };
  EXPECT_EQ(outcome("y == x", kF32, nan).wrong, kCount);
  EXPECT_EQ(outcome("y == 0 / 0", kF32, nan).wrong, 0);
  EXPECT_EQ(outcome("y == 1 / 0", kF32, [](double x) { return x; }).wrong, kCount);
}

TEST(RunCheck, NamesAreKnownBeforeALaunch) {
  const std::vector<RunArgument> arguments = {{"y", tensor_of(kF32, x_at)}, {"flag", true}};
  check_equation("y == y0 + flag + i", arguments);
  for (const char* equation : {"y == sin", "y == min()", "y = 3 == 4", "y == ", "y == (1, 2) +"}) {
    EXPECT_THROW(check_equation(equation, arguments), Exit) << equation;
  }
  try {
    check_equation("y == z + 4", arguments);
    FAIL() << "z is no argument";
  } catch (const Exit& exit) {
    EXPECT_EQ(exit.status(), kBadUsage);
    EXPECT_THAT(exit.what(), HasSubstr("--check: unknown name \"z\""));
  }
}

}  // namespace
}  // namespace einkorn::cli
