#include "src/plan/occupancy.h"

#include <gtest/gtest.h>

namespace einkorn {
namespace {

TEST(Occupancy, AsTheGuideCounts) {
  DeviceInfo h100;
  h100.cc = 90;
  h100.max_threads_per_sm = 2048;
  h100.smem_per_sm = 228 * 1024;
  // 40 registers: 1280 a warp, 12 warps a quarter, 48 in all.
  EXPECT_EQ(resident_blocks({512, 40, 0}, h100), 3);
  EXPECT_DOUBLE_EQ(occupancy({512, 40, 0}, h100), 0.75);
  // 48 registers: 10 warps a quarter, 40 in all.
  EXPECT_EQ(resident_blocks({512, 48, 0}, h100), 2);
  EXPECT_EQ(resident_blocks({32, 16, 0}, h100), 32);  // the most blocks
  EXPECT_EQ(resident_blocks({128, 16, 100 * 1024}, h100), 2);
  EXPECT_EQ(resident_blocks({1024, 128, 0}, h100), 0);
  EXPECT_EQ(occupancy({128, 16, 0}, {}), 0);
}

}  // namespace
}  // namespace einkorn
