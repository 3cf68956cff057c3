#include "src/tune/estimate.h"

#include <gtest/gtest.h>

namespace einkorn::tune {
namespace {

TEST(Estimate, GrowsWithTrialsAndBytes) {
  const Costs small{.bytes = 1e6};
  const Costs large{.bytes = 1e9};
  EXPECT_LT(estimate(small, 5, 8).total(), estimate(small, 50, 8).total());
  EXPECT_LT(estimate(small, 5, 8).total(), estimate(large, 5, 8).total());
  EXPECT_EQ(estimate(small, 0, 8).total(), 0);
}

TEST(Estimate, WhatWasMeasuredIsNotGuessed) {
  const Costs known{.bytes = 1e9,
                    .gpu = true,
                    .input_sets = 4,
                    .call_seconds = 1e-4,
                    .setup_seconds = 2,
                    .prepare_seconds = 3,
                    .sample_seconds = 0.01};
  const Estimate got = estimate(known, 10, 16);
  EXPECT_EQ(got.setup_seconds, 2);
  EXPECT_EQ(got.prepare_seconds, 30);
  // 10 first rounds of 5 samples, and what one candidate takes on to 31.
  EXPECT_NEAR(got.sample_seconds, (50 + 26) * 0.01, 1e-9);
}

TEST(Estimate, ALongCallMakesALongSample) {
  EXPECT_NEAR(
      guess({.bytes = 1, .gpu = true, .input_sets = 8, .call_seconds = 0.01}).sample_seconds, 0.12,
      1e-9);
  EXPECT_NEAR(guess({.bytes = 1, .call_seconds = 0.01}).sample_seconds, 0.01, 1e-9);
}

}  // namespace
}  // namespace einkorn::tune
