#include "src/cpu/describe.h"

#include <gtest/gtest.h>

namespace einkorn::cpu {
namespace {

TEST(DescribeCpu, FillsWhatTheSystemTells) {
  const DeviceInfo info = describe();
  EXPECT_EQ(info.device, kCpuDevice);
  EXPECT_TRUE(info.present);
  EXPECT_FALSE(info.name.empty());
  EXPECT_GE(info.sm_count, 1);
  EXPECT_GE(info.l2_bytes, 0);
  EXPECT_LT(info.l2_bytes, std::int64_t{1} << 40);
  EXPECT_EQ(info.cc, 0);
}

TEST(CachedBytes, IsAShareOfALargeCache) {
  DeviceInfo info;
  info.sm_count = 2;
  info.l2_bytes = 4 << 20;
  EXPECT_EQ(cached_bytes(info), 4 << 20);
  info.l2_bytes = std::int64_t{480} << 20;
  EXPECT_EQ(cached_bytes(info), 16 << 20);
}

TEST(HighwayTargets, NamesAtLeastOne) {
  const auto names = highway_targets();
  ASSERT_FALSE(names.empty());
  for (const auto& name : names) EXPECT_FALSE(name.empty());
}

TEST(MeasuredRates, AreThoseOfAComputer) {
  const double gbps = measure_copy_gbps();
  EXPECT_GT(gbps, 0.1);
  EXPECT_LT(gbps, 1e5);
  const double gflops = measure_fma_gflops();
  EXPECT_GT(gflops, 0.1);
  EXPECT_LT(gflops, 1e6);
}

}  // namespace
}  // namespace einkorn::cpu
