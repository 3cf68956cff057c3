// Sums of rows of every length, for each instruction set, and how far their chains reach.

// Highway includes this file once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/unit/cpu/sums_test.cc"
#include "src/cpu/hwy_targets.h"
// After the targets.
#include <hwy/foreach_target.h>
// After the list of targets.
#include "src/cpu/sums-inl.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

HWY_BEFORE_NAMESPACE();
namespace einkorn::cpu::HWY_NAMESPACE {

/// The sum of a row.
HWY_ATTR double sum_of(const float* row, std::size_t cols) {
  double total = 0;
  sum_in_chains(
      cols, hn::Zero(F32Tag()),
      [&](F32Vec& sum, std::size_t at) HWY_ATTR { sum = hn::Add(sum, F32Codec::load(row + at)); },
      [&](F32Vec& sum, std::size_t at, std::size_t count)
          HWY_ATTR { sum = hn::Add(sum, load_tail<F32Codec>(row + at, count)); },
      [&](F32Vec sum) HWY_ATTR { total += total_of(sum); });
  return total;
}

}  // namespace einkorn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace einkorn::cpu {
namespace {

HWY_EXPORT(sum_of);

template <class F>
void for_each_target(F&& test) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

TEST(SumInChains, HasEveryElementOnceAndNoneBeyond) {
  constexpr std::size_t kLongest = 9000;  // more than 4 chains of 128 vectors of 16
  std::vector<float> row(kLongest + 64, 1e9F);
  for_each_target([&] {
    int wrong = 0;
    for (std::size_t cols = 0; cols <= kLongest; cols = cols < 600 ? cols + 1 : cols + 97) {
      std::fill_n(row.begin(), cols, 1.0F);
      wrong += HWY_DYNAMIC_DISPATCH(sum_of)(row.data(), cols) == static_cast<double>(cols) ? 0 : 1;
    }
    std::fill(row.begin(), row.end(), 1e9F);
    EXPECT_EQ(wrong, 0);
  });
}

TEST(SumInChains, NoChainIsLonger) {
  // Sums of up to 128 of these are exact in f32. Beyond, 2^-17 is half a unit in the last place,
  // and a chain would lose it with every element.
  constexpr std::size_t kCols = std::size_t{1} << 20;
  const std::vector<float> row(kCols, 1.0F + 0x1p-17F);
  for_each_target([&] {
    const double want = static_cast<double>(kCols) * (1 + 0x1p-17);
    EXPECT_EQ(HWY_DYNAMIC_DISPATCH(sum_of)(row.data(), kCols), want);
  });
}

}  // namespace
}  // namespace einkorn::cpu
#endif  // HWY_ONCE
