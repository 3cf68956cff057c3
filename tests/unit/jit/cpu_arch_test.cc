#include "src/jit/cpu_arch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace einkorn::jit {
namespace {

TEST(CpuArch, IsOneThatThisCpuRuns) {
  EXPECT_FALSE(cpu_arch().empty());
  EXPECT_NE(cpu_arch(), "native");
  EXPECT_EQ(cannot_run(cpu_arch()), std::nullopt);
  EXPECT_EQ(cannot_run("znver3"), std::nullopt);  // unknown: the compiler's business
}

#if defined(__x86_64__)
TEST(CpuArch, AgreesWithTheCompilersBuiltIns) {
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
                  __builtin_cpu_supports("bmi2") != 0;
  EXPECT_EQ(cpu_arch() == "x86-64-v3" || cpu_arch() == "x86-64-v4", v3);
  const bool v4 =
      v3 && __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  EXPECT_EQ(cpu_arch() == "x86-64-v4", v4);
}

TEST(CpuArch, LevelsAreOrdered) {
  EXPECT_EQ(cannot_run("x86-64"), std::nullopt);
  if (cpu_arch() != "x86-64-v4") {
    EXPECT_THAT(cannot_run("x86-64-v4").value_or(""),
                testing::HasSubstr("it was compiled for x86-64-v4, and this CPU is x86-64"));
  }
}
#endif

}  // namespace
}  // namespace einkorn::jit
