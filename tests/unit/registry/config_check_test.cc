// Rules held against the registry and against paths: which one a slot takes, which cannot be right.

#include "src/registry/config_check.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/golden.h"
#include "tests/unit/registry/scale_op.h"

namespace einkorn::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ConfigCheck, GoodRulesPass) {
  registry_with_scale();
  OpConfig::from_pairs({{"default", "auto"},
                        {"test_scale", "cpu/*"},
                        {"a:test_scale", "reference"},
                        {"b:default", "cpu/even_v1"}})
      .check();
}

// Not golden: the list of ops grows with what other tests of this process register.
TEST(ConfigCheck, AllWrongRulesAreToldAtOnce) {
  registry_with_scale();
  const std::string text = error_text([] {
    OpConfig::from_toml(
        "test_scael = \"auto\"\n"
        "test_scale = \"cpu/evem_v1\"\n"
        "defualt = \"auto\"\n"
        "[modules.\"a.*\"]\n"
        "test_scale = \"smxx/*\"\n"
        "default = \"cpu/evne_v1\"\n")
        .check();
  });
  EXPECT_THAT(text, AllOf(StartsWith("ValueError: OpConfig: expected no fault, got 5\n"),
                          HasSubstr("  test_scael = \"auto\" (line 1):\n    key: expected one of "),
                          HasSubstr("hint: did you mean 'test_scale'?"),
                          HasSubstr("  test_scale = \"cpu/evem_v1\" (line 2):\n"),
                          HasSubstr("hint: did you mean 'default'?")));
  EXPECT_THAT(text, AllOf(HasSubstr("  [modules.\"a.*\"] test_scale = \"smxx/*\" (line 5):\n"),
                          HasSubstr("  [modules.\"a.*\"] default = \"cpu/evne_v1\" (line 6):\n"),
                          HasSubstr("hint: did you mean 'cpu/even_v1'?")));
  EXPECT_THAT(text, Not(HasSubstr("(line 4)"))) << "the table itself is right";
}

TEST(ConfigCheck, OfTwoRulesForOneOpTheLaterCounts) {
  OpConfig config;
  config.rules = {{"default", "a"}, {"x", "b"}, {"x", "c"}, {"default", "d"}};
  EXPECT_EQ(detail::rule_for(config, {"p", "x"}).rule->choice, "c");
  EXPECT_EQ(detail::rule_for(config, {"p", "y"}).rule->choice, "d");
  config.modules = {{"p", {{"x", "e"}}}, {"p", {{"y", "f"}}}};
  EXPECT_EQ(detail::rule_for(config, {"p", "x"}).rule->choice, "e");
  EXPECT_EQ(detail::rule_for(config, {"q", "x"}).rule->choice, "c");
  EXPECT_EQ(detail::rule_for({}, {"p", "x"}).rule, nullptr);
}

TEST(ConfigCheck, APatternHasToFitSomePath) {
  OpConfig config;
  config.modules = {{"model.*", {}}, {"model.layer", {}, "line 3"}};
  const std::vector<SlotRequest> slots = {{"model.layers", "x"}};
  detail::Faults faults;
  detail::check_patterns(config, slots, faults);
  EXPECT_EQ(error_text([&] { faults.throw_if_any("who"); }),
            "ValueError: who: expected no fault, got 1\n"
            "  [modules.\"model.layer\"] (line 3):\n"
            "    expected a pattern that fits some slot's path, got one that fits none of 1\n"
            "    hint: did you mean 'model.layers'?");
}

}  // namespace
}  // namespace einkorn::test
