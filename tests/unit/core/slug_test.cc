#include "src/core/slug.h"

#include <gtest/gtest.h>

namespace einkorn {
namespace {

TEST(Slug, IsANameOfAFile) {
  EXPECT_EQ(slug("NVIDIA H100 80GB HBM3"), "nvidia_h100_80gb_hbm3");
  EXPECT_EQ(slug("../../etc"), "etc");
  EXPECT_EQ(slug("  "), "unknown");
}

}  // namespace
}  // namespace einkorn
