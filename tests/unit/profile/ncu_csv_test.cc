#include "src/profile/ncu_csv.h"

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/profile/ncu_output.h"

namespace einkorn::profile {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

double number(const NcuKernel& kernel, std::string_view metric) {
  const NcuValue* value = kernel.find(metric);
  return value == nullptr ? -1 : value->number().value_or(-2);
}

TEST(NcuCsv, AColumnForEachMetric) {
  const auto kernels = parse_ncu_csv(test::kRawCsv);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].name, "void rms_norm_rows_v1<float, 4>(Params<\"x\">)");
  EXPECT_EQ(number(kernels[0], "gpu__time_duration.sum"), 98784);
  EXPECT_EQ(kernels[0].find("gpu__time_duration.sum")->unit, "ns");
  EXPECT_EQ(number(kernels[1], "l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum"), 1048576);
  EXPECT_EQ(number(kernels[1], "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"),
            -2)
      << "n/a is no number";
  EXPECT_EQ(kernels[0].find("no_such_metric"), nullptr);
}

TEST(NcuCsv, ALineForEachMetric) {
  const auto kernels = parse_ncu_csv(test::kDetailsCsv);
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].name, "gemm");
  EXPECT_EQ(number(kernels[0], "Duration"), 1234.5);
  EXPECT_EQ(kernels[0].find("Duration")->unit, "us");
  EXPECT_EQ(number(kernels[0], "Achieved Occupancy"), 18.75);
}

TEST(NcuCsv, LineEndsOfWindowsAndNoRows) {
  const auto kernels = parse_ncu_csv("\"ID\",\"Kernel Name\",\"m\"\r\n\"0\",\"k\",\"1\"\r\n");
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(number(kernels[0], "m"), 1);
  EXPECT_THAT(parse_ncu_csv("ID,Kernel Name,m\n"), IsEmpty());
}

std::string failure(std::string_view text) {
  try {
    static_cast<void>(parse_ncu_csv(text));
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(NcuCsv, SaysWhatIsWrong) {
  EXPECT_THAT(failure(""), HasSubstr("no table"));
  EXPECT_THAT(failure("==PROF== nothing\n"), HasSubstr("no table"));
  EXPECT_THAT(failure("\"ID\",\"Kernel Name\",\"m\"\n\"0\",\"k\"\n"),
              HasSubstr("line 2: expected 3 columns as in the header, got 2"));
  // A quote that is never closed takes the rest.
  EXPECT_THAT(failure("\"ID\",\"Kernel Name\",\"m\"\n\"0\",\"k,1\n\"1\",\"k\",\"1\"\n"),
              HasSubstr("line 2"));
}

}  // namespace
}  // namespace einkorn::profile
