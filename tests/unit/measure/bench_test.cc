#include "src/measure/bench.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <einkorn/error.h>

#include "src/measure/input_sets.h"
#include "src/measure/sampler.h"
#include "tests/unit/measure/toy_op.h"

namespace einkorn::measure {
namespace {

using testing::HasSubstr;
using toy::Twice;

void right(const Twice::Args& args) { Twice::reference(args); }
void throws(const Twice::Args&) { throw_error(ErrorKind::kRuntime, "twice: no"); }

TEST(Summarize, MedianAndQuartiles) {
  const Timing odd = summarize({5, 1, 4, 2, 3});
  EXPECT_EQ(odd.median_us, 3);
  EXPECT_EQ(odd.q1_us, 2);
  EXPECT_EQ(odd.q3_us, 4);
  EXPECT_EQ(odd.samples, 5);
  const Timing even = summarize({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(even.median_us, 2.5);
  EXPECT_DOUBLE_EQ(even.q1_us, 1.75);
  EXPECT_DOUBLE_EQ(even.q3_us, 3.25);
  EXPECT_EQ(summarize({7}).q1_us, 7);
  EXPECT_EQ(summarize({}).samples, 0);
}

TEST(SetCount, OutgrowsTheCache) {
  DeviceInfo gpu;
  gpu.device = cuda_device(0);
  gpu.l2_bytes = 50 << 20;
  EXPECT_EQ(set_count(10 << 20, gpu), 20);  // 4 times the cache
  EXPECT_EQ(set_count(100 << 20, gpu), 3);  // at least 3
  EXPECT_EQ(set_count(200 << 20, gpu), 2);  // one set alone is enough
  EXPECT_EQ(set_count(1, gpu), 256);        // bounded
  EXPECT_EQ(set_count(std::int64_t{7} << 30, gpu), 2);
  DeviceInfo cpu;
  cpu.l2_bytes = 30 << 20;
  EXPECT_EQ(set_count(10 << 20, cpu), 6);
  EXPECT_EQ(set_count(500 << 20, cpu), 2);  // memory
  cpu.l2_bytes = 0;
  EXPECT_GE(set_count(10 << 20, cpu), 3);
}

TEST(Sampler, RotatesOverAllSets) {
  std::vector<int> counts(3);
  const auto sampler = make_sampler(
      kCpuDevice, nullptr, [&](int set, Stream) { ++counts[static_cast<std::size_t>(set)]; }, 3);
  EXPECT_GT(sampler->sample(), 0);
  EXPECT_GT(counts[0], 100);
  EXPECT_NEAR(counts[0], counts[1], 3);
  EXPECT_NEAR(counts[1], counts[2], 3);
}

BenchResult bench_one(const Variant& variant, std::string_view keys) {
  BenchOptions options;
  options.seconds = 0.01;
  options.variant = "all";
  const auto results = bench(toy::entry({&variant}), toy::problem(keys), "case", options);
  EXPECT_EQ(results.size(), 1U);
  return results.at(0);
}

TEST(Bench, MeasuresAVariantAndACopy) {
  const BenchResult result = bench_one(toy::kVariant<right>, "rows=100 cols=100");
  EXPECT_EQ(result.failure, "");
  EXPECT_EQ(result.variant, "twice/cpu/toy_v1");
  EXPECT_EQ(result.problem, "rows=100 cols=100");
  EXPECT_GE(result.timing.samples, 11);
  EXPECT_EQ(result.timing.samples, result.copy.samples);
  EXPECT_GT(result.timing.median_us, 0);
  EXPECT_LE(result.timing.q1_us, result.timing.q3_us);
  EXPECT_NEAR(result.gbps, 80000 / result.timing.median_us * 1e-3, 1e-9);
  EXPECT_NEAR(result.percent_of_copy, 100 * result.copy.median_us / result.timing.median_us, 1e-9);
  EXPECT_GE(result.input_sets, 2);
}

TEST(Bench, FailuresAreResults) {
  EXPECT_THAT(bench_one(toy::kVariant<throws>, "rows=10 cols=10").failure, HasSubstr("twice: no"));
  EXPECT_THAT(bench_one(toy::kVariant<right>, "rows=0 cols=10").failure, HasSubstr("empty"));
  EXPECT_THAT(bench_one(toy::kVariant<right>, "rows=501 cols=1").failure,
              HasSubstr("no variant but the reference"));
}

}  // namespace
}  // namespace einkorn::measure
