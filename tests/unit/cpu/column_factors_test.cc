// Against additions and roundings one at a time, for each instruction set.

#include "src/cpu/column_factors.h"

#include "src/cpu/hwy_targets.h"  // before Highway, as where the code is compiled

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "src/core/float.h"

namespace einkorn::cpu {
namespace {

double rounded(double value, DType dtype) {
  const Tensor one = Tensor::empty({1}, dtype, kCpuDevice);
  store_from_double(one, 0, value);
  return load_as_double(one, 0);
}

void expect_written(const ColumnFactors& factors, std::int64_t cols) {
  constexpr float kUntouched = -77;
  std::vector<float> out(static_cast<std::size_t>(cols) + 1, kUntouched);
  factors.write(cols, out.data());
  int wrong = 0;
  for (std::int64_t i = 0; i < cols; ++i) {
    const double weight = factors.weight.defined() ? load_as_double(factors.weight, i) : 1;
    const double sum = rounded(weight + factors.offset, kF32);
    wrong += out[static_cast<std::size_t>(i)] == rounded(sum, factors.rounded_to) ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0) << cols << " columns, weight in " << name(factors.weight.dtype())
                      << " rounded to " << name(factors.rounded_to);
  EXPECT_EQ(out.back(), kUntouched);
}

TEST(ColumnFactors, WriteEveryTypeAndLength) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    for (const std::int64_t cols : {1, 3, 8, 16, 31, 64, 149}) {
      expect_written({}, cols);
      for (const DType dtype : {kF32, kF16, kBF16}) {
        const Tensor weight = Tensor::empty({cols}, dtype, kCpuDevice);
        for (std::int64_t i = 0; i < cols; ++i) {
          store_from_double(weight, i, 0.0137 * static_cast<double>(i) - 0.9);
        }
        for (const DType rounded_to : {kF32, kF16, kBF16}) {
          for (const int offset : {0, 1}) expect_written({weight, offset, rounded_to}, cols);
        }
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

TEST(ColumnFactors, AreTheWeightWhereNothingChangesIt) {
  const Tensor wide = Tensor::empty({4}, kF32, kCpuDevice);
  const Tensor narrow = Tensor::empty({4}, kBF16, kCpuDevice);
  EXPECT_TRUE((ColumnFactors{wide, 0, kF32}.are_the_weight()));
  EXPECT_FALSE((ColumnFactors{wide, 1, kF32}.are_the_weight()));
  EXPECT_FALSE((ColumnFactors{wide, 0, kBF16}.are_the_weight()));
  EXPECT_FALSE((ColumnFactors{narrow, 0, kF32}.are_the_weight()));
  EXPECT_FALSE(ColumnFactors{}.are_the_weight());
}

}  // namespace
}  // namespace einkorn::cpu
