#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <einkorn/error.h>

#include "src/measure/check.h"

namespace einkorn::measure {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Comparison compare_floats(std::vector<float> got, std::vector<double> want, Tolerance tolerance) {
  const auto count = [](const auto& values) { return static_cast<std::int64_t>(values.size()); };
  return compare(TensorView(got.data(), kF32, {count(got)}, kCpuDevice),
                 TensorView(want.data(), kF64, {count(want)}, kCpuDevice), tolerance);
}

Comparison compare_half(std::uint16_t got, double want, Tolerance tolerance) {
  return compare(TensorView(&got, kF16, {1}, kCpuDevice), TensorView(&want, kF64, {1}, kCpuDevice),
                 tolerance);
}

TEST(Compare, ErrorIsAMultipleOfTheTolerance) {
  const Comparison result = compare_floats({1, 2.5, 4}, {1, 2, 4}, {0.1, 0.05});
  EXPECT_DOUBLE_EQ(result.error, 0.5 / (0.05 + 0.1 * 2));
  EXPECT_EQ(result.worst, 1);
  EXPECT_EQ(result.got, 2.5);
  EXPECT_EQ(result.want, 2);
}

TEST(Compare, EqualIsZeroEvenWithoutTolerance) {
  EXPECT_EQ(compare_floats({1, -0.0F}, {1, 0}, {}).error, 0);
  EXPECT_EQ(compare_floats({1}, {1.5}, {}).error, kInf);
}

TEST(Compare, RmsBoundsTheWhole) {
  const Tolerance tolerance{.rms = 0.1};
  // Errors 0, 0, 2 against 3, 4, 12: sqrt(4 / 169) of the whole, though one element is off by 1/6.
  const Comparison result = compare_floats({3, 4, 14}, {3, 4, 12}, tolerance);
  EXPECT_DOUBLE_EQ(result.error, std::sqrt(4.0 / 169) / 0.1);
  EXPECT_EQ(result.worst, 2);
  EXPECT_EQ(result.got, 14);
  EXPECT_EQ(result.want, 12);
  // A small element may be far off as itself: the whole is what counts.
  EXPECT_LT(compare_floats({0.01F, 100}, {0, 100}, tolerance).error, 1e-2);
  EXPECT_EQ(compare_floats({3, 4}, {3, 4}, tolerance).error, 0);
}

TEST(Compare, RmsOfZerosIsHeldToTheFloor) {
  EXPECT_EQ(compare_floats({1e-3F, 0}, {0, 0}, {.rms = 0.1}).error, kInf);
  EXPECT_NEAR(compare_floats({0.5F, 0.5F}, {0, 0}, {.absolute = 10, .rms = 0.1}).error, 0.5, 1e-9);
}

TEST(Compare, RmsForgivesNoNanOrInfinity) {
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const auto inf = std::numeric_limits<float>::infinity();
  const Tolerance wide{.rms = 100};
  EXPECT_EQ(compare_floats({nan, 1, 1}, {1, 1, 1}, wide).error, kInf);
  EXPECT_EQ(compare_floats({1, 1, 1}, {1, kNan, 1}, wide).error, kInf);
  EXPECT_EQ(compare_floats({inf, 1, 1}, {1, 1, 1}, wide).error, kInf);
  EXPECT_EQ(compare_floats({nan, inf, 1}, {kNan, kInf, 1}, wide).error, 0);
  EXPECT_EQ(compare_floats({1, inf}, {1, kInf}, wide).worst, 0);
}

TEST(Compare, NanMatchesNanOnly) {
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(compare_floats({nan}, {kNan}, {1, 1}).error, 0);
  EXPECT_EQ(compare_floats({nan}, {1}, {1, 1}).error, kInf);
  EXPECT_EQ(compare_floats({1}, {kNan}, {1, 1}).error, kInf);
}

TEST(Compare, InfinityMatchesItsEqualOnly) {
  const auto inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(compare_floats({inf, -inf}, {kInf, -kInf}, {1, 1}).error, 0);
  EXPECT_EQ(compare_floats({-inf}, {kInf}, {1, 1}).error, kInf);
  EXPECT_EQ(compare_floats({3e38F}, {kInf}, {1, 1}).error, kInf);
  EXPECT_EQ(compare_floats({inf}, {3e38}, {1e-3, 0}).error, kInf);
}

TEST(Compare, InfinityStandsForWhatTheDtypeCannotHold) {
  constexpr std::uint16_t kHalfInfinity = 0x7C00;
  EXPECT_EQ(compare_half(kHalfInfinity, 70000, {1e-3, 0}).error, 0);
  EXPECT_EQ(compare_half(kHalfInfinity, 65519.9, {1e-3, 0}).error, 0);
  EXPECT_EQ(compare_half(kHalfInfinity, 60000, {1e-3, 0}).error, kInf);
  EXPECT_EQ(compare_half(kHalfInfinity, -70000, {1e-3, 0}).error, kInf);
}

TEST(Compare, StridedAndTransposed) {
  float got[12] = {0, 1, 2, -9, 3, 4, 5, -9, 6, 7, 8, -9};
  double want[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  const TensorView rows(got, kF32, {3, 4}, kCpuDevice);
  const TensorView wanted(want, kF64, {3, 3}, kCpuDevice);
  EXPECT_EQ(compare(rows.slice(1, 0, 3), wanted, {}).error, 0);
  const Comparison transposed = compare(rows.slice(1, 0, 3).transpose(0, 1), wanted, {0, 1});
  EXPECT_EQ(transposed.error, 4);  // element [0, 2]: 6 against 2
  EXPECT_EQ(transposed.worst, 2);
}

TEST(Compare, EmptyAndScalar) {
  EXPECT_EQ(compare_floats({}, {}, {}).worst, -1);
  float got = 2;
  double want = 2;
  EXPECT_EQ(
      compare(TensorView(&got, kF32, {}, kCpuDevice), TensorView(&want, kF64, {}, kCpuDevice), {})
          .worst,
      0);
}

TEST(Compare, DifferentShapesAreOurFault) { EXPECT_THROW(compare_floats({1, 2}, {1}, {}), Error); }

}  // namespace
}  // namespace einkorn::measure
