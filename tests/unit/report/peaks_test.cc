#include "src/report/peaks.h"

#include <gtest/gtest.h>

namespace einkorn::report {
namespace {

Origin on(const std::string& device) {
  Origin out;
  out.device = device;
  return out;
}

BenchDocument bench(const std::string& device, const char* roof, double copy_us) {
  Result row;
  row.variant = "o/sm90/a_v1";
  row.gbps = 1000;
  row.time.median_us = 10;
  row.copy_us = copy_us;
  row.roof = roof;
  return {on(device), "o", {row}};
}

Rate rate(const std::string& device, const std::string& what, double gbps, double tflops) {
  return {on(device), what, gbps, tflops};
}

TEST(ReportPeaks, AreOfTheDeviceAlone) {
  const std::vector benches{bench("a", "memory", 5), bench("b", "memory", 2)};
  const std::vector rates{rate("b", "bf16 matmul", 0, 700)};
  const Peaks peaks = peaks_of("a", rates, benches);
  ASSERT_EQ(peaks.memory.size(), 1U);
  EXPECT_EQ(peaks.memory[0].value, 2000);
  EXPECT_TRUE(peaks.memory[0].measured);
  EXPECT_TRUE(peaks.compute.empty());
}

TEST(ReportPeaks, DatasheetComesFirst) {
  const std::string h100 = "NVIDIA H100 80GB HBM3";
  const Peaks peaks = peaks_of(h100, {}, std::vector{bench(h100, "memory", 5)});
  ASSERT_EQ(peaks.memory.size(), 2U);
  EXPECT_EQ(peaks.memory[0].value, 3350);
  EXPECT_FALSE(peaks.memory[0].measured);
  EXPECT_EQ(memory_roof(peaks), peaks.memory.data());
}

TEST(ReportPeaks, ACopyWithinTheCacheIsNoRoof) {
  const Peaks peaks = peaks_of("a", {}, std::vector{bench("a", "cache", 5)});
  EXPECT_TRUE(peaks.memory.empty());
  EXPECT_EQ(memory_roof(peaks), nullptr);
  EXPECT_EQ(attainable_tflops(peaks, 1, "bf16"), 0);
}

TEST(ReportPeaks, OneMeasuredMemoryRoofTheHigher) {
  const std::vector benches{bench("a", "memory", 5)};
  const std::vector low{rate("a", "copy", 1500, 0)};
  const std::vector high{rate("a", "copy", 2500, 0), rate("a", "copy", 2400, 0)};
  EXPECT_EQ(peaks_of("a", low, benches).memory[0].value, 2000);
  ASSERT_EQ(peaks_of("a", high, benches).memory.size(), 1U);
  EXPECT_EQ(peaks_of("a", high, benches).memory[0].value, 2500);
}

TEST(ReportPeaks, AttainableIsUnderBothRoofs) {
  Peaks peaks;
  peaks.memory.push_back({"memory", 1000, false, ""});
  EXPECT_DOUBLE_EQ(attainable_tflops(peaks, 2, "f32"), 2);
  peaks.compute.push_back({"f32", 60, false, ""});
  peaks.compute.push_back({"bf16", 900, false, ""});
  EXPECT_DOUBLE_EQ(attainable_tflops(peaks, 2, "f32"), 2);
  EXPECT_DOUBLE_EQ(attainable_tflops(peaks, 100, "f32"), 60);
  EXPECT_DOUBLE_EQ(attainable_tflops(peaks, 2000, "bf16"), 900);
  EXPECT_DOUBLE_EQ(attainable_tflops(peaks, 2000, "f8"), 900);  // not in the table: the highest
}

}  // namespace
}  // namespace einkorn::report
