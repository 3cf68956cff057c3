// Configurations as JSON: order, mistakes.

#include <string>

#include <einkorn/slots.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/golden.h"
#include "tests/unit/registry/config_rules.h"

namespace einkorn::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ConfigJson, RulesAndTablesInTheOrderOfTheText) {
  const OpConfig config = OpConfig::from_json(R"({
    "silu_mul": "cpu/rows_v1", "default": "auto",
    "modules": {"z.*": {"rms_norm": "reference"}, "a": {"silu_mul": "auto"}, "m": {}}})");
  EXPECT_EQ(rules_of(config),
            "silu_mul=cpu/rows_v1 @\n"
            "default=auto @\n"
            "z.* @\n"
            "  rms_norm=reference @\n"
            "a @\n"
            "  silu_mul=auto @\n"
            "m @\n");
}

TEST(ConfigJson, TheSameKeyInTwoTablesIsNoRepetition) {
  EXPECT_EQ(rules_of(OpConfig::from_json(R"({"x": "a", "modules": {"x": {"x": "b"}}})")),
            "x=a @\n"
            "x @\n"
            "  x=b @\n");
}

// Not golden: the reason is the parser's own text.
TEST(ConfigJson, WhatIsNoJsonIsToldWithItsPlace) {
  const std::string text = error_text([] { OpConfig::from_json("{\n\"rms_norm\": auto}"); });
  EXPECT_THAT(text, StartsWith("ValueError: OpConfig: text: expected JSON, got a mistake\n"));
  EXPECT_THAT(text, HasSubstr("line 2"));
}

TEST(ConfigJson, ErrorTexts) {
  GoldenErrors errors("errors/config_json.txt");
  errors.add("no object", [] { OpConfig::from_json("[\"rms_norm\"]"); });
  errors.add("key twice", [] { OpConfig::from_json(R"({"a": "auto", "a": "reference"})"); });
  errors.add("pattern twice", [] {
    OpConfig::from_json(R"({"modules": {"a": {"x": "auto"}, "a": {"x": "reference"}}})");
  });
  errors.add("number", [] { OpConfig::from_json(R"({"rms_norm": 1})"); });
  errors.add("null", [] { OpConfig::from_json(R"({"rms_norm": null})"); });
  errors.add("table of another name", [] { OpConfig::from_json(R"({"module": {"a": {}}})"); });
  errors.add("modules is no object", [] { OpConfig::from_json(R"({"modules": ["a"]})"); });
  errors.add("rule among patterns",
             [] { OpConfig::from_json(R"({"modules": {"rms_norm": "auto"}})"); });
  errors.add("table in a table",
             [] { OpConfig::from_json(R"({"modules": {"a": {"rms_norm": {"b": "auto"}}}})"); });
}

}  // namespace
}  // namespace einkorn::test
