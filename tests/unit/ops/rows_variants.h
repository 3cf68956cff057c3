#pragma once

// What the tests of the CPU variants named rows share.

#include "src/cpu/hwy_targets.h"  // before Highway, as where the variants are compiled

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "tests/unit/ops/op_test.h"

namespace einkorn::test {

inline constexpr const char* kDTypes[] = {"f32", "f16", "bf16"};
/// Of norms.
inline constexpr const char* kRoundings[] = {"llama", "gemma", "none"};

/// Tests of cpu/rows_v1 of the op that is the parameter.
class RowsVariants : public testing::TestWithParam<const char*> {
 public:
  static std::string op(const testing::TestParamInfo<const char*>& info) { return info.param; }

 protected:
  static void expect_rows(const std::string& keys) {
    expect_correct(GetParam(), "cpu/rows_v1", keys);
  }
  /// With each instruction set that was compiled and is here.
  template <class F>
  static void for_each_instruction_set(F&& test) {
    const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
    ASSERT_FALSE(targets.empty());
    for (const std::int64_t target : targets) {
      SCOPED_TRACE(hwy::TargetName(target));
      hwy::SetSupportedTargetsForTest(target);
      hwy::GetChosenTarget().DeInit();
      test();
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
};

}  // namespace einkorn::test
