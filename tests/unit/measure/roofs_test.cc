// Shares of the roofs, and the accounting error above them.

#include "src/measure/roofs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace einkorn::measure {
namespace {

using ::testing::HasSubstr;

struct Roofs : testing::Test {
  Roofs() {
    peaks.datasheet.gbps = 1000;
    peaks.datasheet.tflops[0] = 10;
    peaks.measured = Peaks{};
    peaks.measured->gbps = 800;
    work.min_bytes = 4e6;  // 4 us by the datasheet
    work.useful_flops = 1e6;
    predicted.bound = Bound::kMemory;
    predicted.us = 5;
    result.timing.median_us = 8;
    result.copy.median_us = 6;
  }
  DevicePeaks peaks;
  Work work;
  Prediction predicted;
  BenchResult result;
};

TEST_F(Roofs, OfMemory) {
  hold_against_roofs(work, predicted, peaks, result);
  EXPECT_EQ(result.roof, "memory");
  EXPECT_DOUBLE_EQ(result.gbps, 500);
  EXPECT_DOUBLE_EQ(result.percent_of_roof, 50);
  EXPECT_DOUBLE_EQ(result.percent_of_measured_roof, 62.5);
  EXPECT_DOUBLE_EQ(result.percent_of_copy, 75);
  EXPECT_EQ(result.predicted_us, 5);
  EXPECT_EQ(result.failure, "");
}

TEST_F(Roofs, OfArithmetic) {
  predicted.bound = Bound::kCompute;
  work.useful_flops = 40e6;  // 4 us
  hold_against_roofs(work, predicted, peaks, result);
  EXPECT_EQ(result.roof, "compute");
  EXPECT_DOUBLE_EQ(result.percent_of_roof, 50);
}

TEST_F(Roofs, MoreThanMemoryCanGiveIsAnAccountingError) {
  result.timing.median_us = 3.9;
  hold_against_roofs(work, predicted, peaks, result);
  EXPECT_THAT(result.failure, HasSubstr("accounting error: 1026 GB/s is 102.6 %"));
}

TEST_F(Roofs, WhatFitsTheCacheIsHeldAgainstNone) {
  result.timing.median_us = 1;
  predicted.cache_resident = true;
  hold_against_roofs(work, predicted, peaks, result);
  EXPECT_EQ(result.roof, "cache");
  EXPECT_EQ(result.percent_of_roof, 0);
  EXPECT_EQ(result.failure, "");
}

}  // namespace
}  // namespace einkorn::measure
