// Configurations as pairs and from the environment.

#include <string>

#include <einkorn/slots.h>
#include <gtest/gtest.h>

#include "tests/unit/golden.h"
#include "tests/unit/registry/config_rules.h"
#include "tests/unit/registry/environment.h"

namespace einkorn::test {
namespace {

TEST(ConfigPairs, OpsAndPatterns) {
  const OpConfig config = OpConfig::from_pairs(
      {{"rms_norm", "auto"}, {"layers.*:silu_mul", " reference "}, {"layers.*:default", "cpu/*"}});
  EXPECT_EQ(rules_of(config),
            "rms_norm=auto @\n"
            "layers.* @\n"
            "  silu_mul=reference @\n"
            "  default=cpu/* @\n");
}

TEST(ConfigEnvironment, IsSplitAtCommas) {
  const ScopedVariable variable("EINKORN_OPS", " rms_norm = auto ,a.*:silu_mul=cpu/rows_v1,, ");
  EXPECT_EQ(rules_of(OpConfig::from_environment()),
            "rms_norm=auto @EINKORN_OPS\n"
            "a.* @EINKORN_OPS\n"
            "  silu_mul=cpu/rows_v1 @EINKORN_OPS\n");
}

TEST(ConfigEnvironment, NothingSetIsNoRule) {
  const ScopedVariable variable("EINKORN_OPS", "  ");
  EXPECT_EQ(rules_of(OpConfig::from_environment()), "");
}

TEST(ConfigPairs, ErrorTexts) {
  GoldenErrors errors("errors/config_pairs.txt");
  errors.add("empty key", [] { OpConfig::from_pairs({{"", "auto"}}); });
  errors.add("empty op behind a pattern", [] { OpConfig::from_pairs({{"a.*:", "auto"}}); });
  errors.add("empty choice", [] { OpConfig::from_pairs({{"rms_norm", " "}}); });
  errors.add("key twice",
             [] { OpConfig::from_pairs({{"rms_norm", "auto"}, {"rms_norm ", "reference"}}); });
  errors.add("key of a pattern twice",
             [] { OpConfig::from_pairs({{"a:rms_norm", "auto"}, {"a:rms_norm", "reference"}}); });
  errors.add("environment without =", [] {
    const ScopedVariable variable("EINKORN_OPS", "rms_norm=auto,silu_mul");
    OpConfig::from_environment();
  });
  errors.add("environment, no choice", [] {
    const ScopedVariable variable("EINKORN_OPS", "rms_norm=");
    OpConfig::from_environment();
  });
}

}  // namespace
}  // namespace einkorn::test
