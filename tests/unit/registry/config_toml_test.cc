// Configurations as TOML: order, lines, mistakes.

#include <string>

#include <einkorn/slots.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/golden.h"
#include "tests/unit/registry/config_rules.h"

namespace einkorn::test {
namespace {

using ::testing::StartsWith;

TEST(ConfigToml, RulesAndTablesInTheOrderOfTheText) {
  const OpConfig config = OpConfig::from_toml(
      "# comments are allowed\n"
      "silu_mul = \"cpu/rows_v1\"\n"
      "default = 'auto'\n"
      "\n"
      "[modules.\"z.*\"]\n"
      "rms_norm = \"reference\"\n"
      "[modules.\"a.**.norm\"]\n"
      "silu_mul = \"auto\"\n"
      "default = \"smxx/*\"\n"
      "[modules.plain]\n"
      "rms_norm = \"auto\"\n");
  EXPECT_EQ(rules_of(config),
            "silu_mul=cpu/rows_v1 @line 2\n"
            "default=auto @line 3\n"
            "z.* @line 5\n"
            "  rms_norm=reference @line 6\n"
            "a.**.norm @line 7\n"
            "  silu_mul=auto @line 8\n"
            "  default=smxx/* @line 9\n"
            "plain @line 10\n"
            "  rms_norm=auto @line 11\n");
}

TEST(ConfigToml, OtherSpellingsOfATable) {
  EXPECT_EQ(rules_of(OpConfig::from_toml("modules.\"b.*\".rms_norm = \"auto\"\n"
                                         "modules.\"a.*\".rms_norm = \"reference\"\n")),
            "b.* @line 1\n"
            "  rms_norm=auto @line 1\n"
            "a.* @line 2\n"
            "  rms_norm=reference @line 2\n");
  EXPECT_EQ(rules_of(OpConfig::from_toml("modules = {\"b\" = {x = \"auto\"}, a = {}}")),
            "b @line 1\n"
            "  x=auto @line 1\n"
            "a @line 1\n");
}

TEST(ConfigToml, AnEmptyTextHasNoRules) { EXPECT_EQ(rules_of(OpConfig::from_toml("")), ""); }

// Not golden: the reason is the parser's own text.
TEST(ConfigToml, WhatIsNoTomlIsToldWithItsPlace) {
  EXPECT_THAT(error_text([] { OpConfig::from_toml("a = \"auto\"\nb cpu\n"); }),
              StartsWith("ValueError: OpConfig: text: expected TOML, got a mistake at line 2, "));
  EXPECT_THAT(error_text([] { OpConfig::from_toml("a = \"auto\n"); }),
              StartsWith("ValueError: OpConfig: text: expected TOML, got a mistake at line 1, "));
  EXPECT_THAT(error_text([] { OpConfig::from_toml("\n\na = \"auto\"\na = \"auto\"\n"); }),
              StartsWith("ValueError: OpConfig: text: expected TOML, got a mistake at line 4, "));
}

TEST(ConfigToml, ErrorTexts) {
  GoldenErrors errors("errors/config_toml.txt");
  errors.add("number", [] { OpConfig::from_toml("\nrms_norm = 1\n"); });
  errors.add("array", [] { OpConfig::from_toml("rms_norm = [\"auto\", \"reference\"]\n"); });
  errors.add("date", [] { OpConfig::from_toml("rms_norm = 2026-01-01\n"); });
  errors.add("empty choice", [] { OpConfig::from_toml("rms_norm = \"\"\n"); });
  errors.add("table of another name",
             [] { OpConfig::from_toml("[module.\"a.*\"]\nrms_norm = \"auto\"\n"); });
  errors.add("modules is no table", [] { OpConfig::from_toml("modules = \"auto\"\n"); });
  errors.add("rule among patterns",
             [] { OpConfig::from_toml("[modules]\nrms_norm = \"auto\"\n"); });
  errors.add("pattern without quotes",
             [] { OpConfig::from_toml("[modules.model.norm]\nrms_norm = \"auto\"\n"); });
}

}  // namespace
}  // namespace einkorn::test
