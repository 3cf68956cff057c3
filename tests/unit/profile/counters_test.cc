#include "src/profile/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/profile/ncu_output.h"
#include "tests/unit/the.h"

namespace einkorn::profile {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Counters, FromTheRawPage) {
  const auto kernels = parse_ncu_csv(test::kRawCsv);
  const Counters memory = counters_of(kernels[0]);
  EXPECT_DOUBLE_EQ(einkorn::test::the(memory.duration_us), 98.784);
  EXPECT_EQ(memory.dram_percent, 91.53);
  EXPECT_NEAR(einkorn::test::the(memory.dram_bytes), 4584072595281.31 * 98.784e-6, 1)
      << "by its rate";
  EXPECT_EQ(memory.tensor_percent, 0);
  EXPECT_EQ(memory.occupancy_percent, 88.12);
  EXPECT_EQ(memory.waves, 15.52);
  EXPECT_EQ(memory.registers, 32);
  EXPECT_THAT(memory.missing, IsEmpty());
  const Counters spills = counters_of(kernels[1]);
  EXPECT_EQ(spills.local_load_bytes, 1048576);
  EXPECT_FALSE(spills.tensor_percent.has_value());
  EXPECT_THAT(spills.missing, ElementsAre("tensor"));
}

TEST(Counters, FromTheDetailsPageInOtherUnits) {
  const Counters found = counters_of(parse_ncu_csv(test::kDetailsCsv)[0]);
  EXPECT_EQ(found.duration_us, 1234.5);
  EXPECT_EQ(found.compute_percent, 88.1);
  EXPECT_THAT(found.missing, AllOf(Contains("tensor"), Contains("waves"), Contains("registers")));
  const NcuKernel bytes{"k",
                        {{"l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum", {"1.5", "Mbyte"}},
                         {"gpu__time_duration.sum", {"2", "msecond"}}}};
  EXPECT_EQ(counters_of(bytes).local_load_bytes, 1.5e6);
  EXPECT_EQ(counters_of(bytes).duration_us, 2000);
  const NcuKernel total{"k", {{"dram__bytes.sum", {"3", "Gbyte"}}}};
  EXPECT_EQ(counters_of(total).dram_bytes, 3e9);
  const NcuKernel rate{
      "k",
      {{"dram__bytes.sum.per_second", {"2", "Tbyte/s"}}, {"gpu__time_duration.sum", {"10", "us"}}}};
  EXPECT_NEAR(einkorn::test::the(counters_of(rate).dram_bytes), 2e7, 1e-3);
}

Counters counters(double dram, double tensor, double compute, double l2_hit) {
  Counters out;
  out.dram_percent = dram;
  out.tensor_percent = tensor;
  out.compute_percent = compute;
  out.l2_hit_percent = l2_hit;
  return out;
}

TEST(Classify, EachRule) {
  EXPECT_EQ(classify(counters(91, 0, 35, 50)).bound, "memory");
  EXPECT_EQ(classify(counters(71, 0, 61, 50)).bound, "memory") << "both high: the higher";
  EXPECT_EQ(classify(counters(71, 85, 40, 50)).bound, "compute");
  EXPECT_EQ(classify(counters(20, 75, 70, 95)).bound, "compute");
  EXPECT_EQ(classify(counters(20, 0, 70, 95)).bound, "compute");
  EXPECT_EQ(classify(counters(50, 30, 30, 60)).bound, "locality");
  EXPECT_EQ(classify(counters(50, 30, 30, 85)).bound, "latency");
  EXPECT_EQ(classify(counters(10, 5, 30, 60)).bound, "latency");
  EXPECT_EQ(classify(counters(70, 60, 60, 80)).bound, "latency") << "limits are not high";
  EXPECT_EQ(classify(Counters{}).bound, "unknown");
}

TEST(Classify, BytesThatHaveToBeMovedAreNoWantOfReuse) {
  Counters streams = counters(54, 0, 42, 53);
  streams.dram_bytes = 67e6;
  EXPECT_EQ(classify(streams, 67e6).bound, "latency");
  EXPECT_TRUE(classify(streams, 67e6).notes.empty()) << "low L2 hits are right there";
  streams.dram_bytes = 134e6;
  EXPECT_EQ(classify(streams, 67e6).bound, "locality");
  EXPECT_THAT(classify(streams, 67e6).rule, HasSubstr("2.00 times the bytes"));
  streams.dram_percent = 90;
  EXPECT_EQ(classify(streams, 67e6).bound, "memory");
  EXPECT_THAT(classify(streams, 67e6).notes, ElementsAre(HasSubstr("2.00 times the bytes")));
}

TEST(Classify, TheRuleNamesNumbersAndThreshold) {
  EXPECT_THAT(classify(counters(91.53, 0, 34.9, 51)).rule, HasSubstr("DRAM 91.5 % > 70 %"));
  EXPECT_THAT(classify(counters(20, 75.25, 70, 95)).rule, HasSubstr("tensor 75.2 % > 60 %"));
  EXPECT_THAT(classify(Counters{}).rule, HasSubstr("not reported"));
}

TEST(Classify, Notes) {
  const auto kernels = parse_ncu_csv(test::kRawCsv);
  EXPECT_THAT(classify(counters_of(kernels[1])).notes,
              ElementsAre(HasSubstr("1572864 bytes"), HasSubstr("0.48 waves < 1"),
                          HasSubstr("occupancy 11.7 % < 25 %")));
  EXPECT_THAT(classify(counters_of(kernels[0])).notes, ElementsAre(HasSubstr("L2 hits 51.0 %")));
}

}  // namespace
}  // namespace einkorn::profile
