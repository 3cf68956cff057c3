// What a choice of variants allows, whoever made it.

#include "src/registry/choice.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/golden.h"
#include "tests/unit/registry/environment.h"
#include "tests/unit/registry/scale_op.h"

namespace einkorn::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const OpEntry& scale_entry() {
  static const auto kView = registry_with_scale();
  return kView->find("test_scale");
}

std::vector<std::string> names(std::string_view choice) {
  std::vector<std::string> out;
  for (const Variant* variant : detail::allowed_by(scale_entry(), choice)) {
    out.push_back(variant->name());
  }
  return out;
}

TEST(Choice, AutoAllowsAll) {
  const std::vector<std::string> all = {"sm90/gpu_v1", "cpu/even_v1", "cpu/reference_v1"};
  EXPECT_EQ(names("auto"), all);
  EXPECT_EQ(names(""), all);
}

TEST(Choice, ANameAllowsOne) {
  EXPECT_THAT(names("cpu/even_v1"), ElementsAre("cpu/even_v1"));
  EXPECT_THAT(names("test_scale/cpu/even_v1"), ElementsAre("cpu/even_v1"));
  EXPECT_THAT(names("reference"), ElementsAre("cpu/reference_v1"));
}

TEST(Choice, APatternAllowsWhatItFitsInListOrder) {
  EXPECT_THAT(names("cpu/*"), ElementsAre("cpu/even_v1", "cpu/reference_v1"));
  EXPECT_THAT(names("test_scale/sm90/*"), ElementsAre("sm90/gpu_v1"));
  EXPECT_THAT(names("*/even_v?"), ElementsAre("cpu/even_v1"));
  EXPECT_EQ(names("**").size(), 3U);
}

TEST(Choice, WhatFitsNoneIsAnError) {
  EXPECT_THAT(
      error_text([] { names("smxx/*"); }),
      HasSubstr("ValueError: test_scale: variant: expected one of sm90/gpu_v1, cpu/even_v1, "
                "cpu/reference_v1, got 'smxx/*'"));
  EXPECT_THAT(error_text([] { names("cpu/evem_v1"); }),
              HasSubstr("hint: did you mean 'cpu/even_v1'?"));
}

TEST(Choice, TheEnvironmentCountsForAutoOnly) {
  const ScopedVariable variable("EINKORN_TEST_SCALE", "reference");
  EXPECT_EQ(detail::asked_for("test_scale", "auto").choice, "reference");
  EXPECT_EQ(detail::asked_for("test_scale", "").source, "EINKORN_TEST_SCALE");
  EXPECT_EQ(detail::asked_for("test_scale", "cpu/*").choice, "cpu/*");
  EXPECT_EQ(detail::asked_for("test_scale", "cpu/*").source, "argument");
}

TEST(Choice, AutoInTheEnvironmentIsNoChoice) {
  const ScopedVariable variable("EINKORN_TEST_SCALE", "auto");
  EXPECT_EQ(detail::asked_for("test_scale", "").choice, "");
  EXPECT_EQ(detail::asked_for("test_scale", "auto").source, "list order");
}

TEST(Choice, SelectionTakesAutoAndPatterns) {
  const OpEntry& entry = scale_entry();
  const AnyProblem even = kScale.parse(split_key_values("n=4"));
  const AnyProblem odd = kScale.parse(split_key_values("n=5"));
  EXPECT_EQ(select(entry, even.get(), cpu_info(), "auto").name(), "cpu/even_v1");
  EXPECT_EQ(select(entry, even.get(), cpu_info(), "cpu/*").name(), "cpu/even_v1");
  EXPECT_EQ(select(entry, odd.get(), cpu_info(), "cpu/*").name(), "cpu/reference_v1");
  EXPECT_EQ(select(entry, even.get(), cpu_info(), "cpu/ref*").name(), "cpu/reference_v1");
  const Selection selection = explain(entry, odd.get(), cpu_info(), "*/even_*");
  EXPECT_EQ(selection.chosen, nullptr);
  EXPECT_EQ(selection.wanted, "*/even_*");
  EXPECT_THAT(describe_failure(entry, odd.get(), cpu_info(), selection),
              HasSubstr("hint: the argument asked for */even_* only"));
}

TEST(Choice, APatternByTheEnvironment) {
  const ScopedVariable variable("EINKORN_TEST_SCALE", "*/reference_*");
  const AnyProblem even = kScale.parse(split_key_values("n=4"));
  EXPECT_EQ(select(scale_entry(), even.get(), cpu_info()).name(), "cpu/reference_v1");
}

TEST(Choice, AnErrorTellsItsSource) {
  const ScopedVariable variable("EINKORN_TEST_SCALE", "smxx/*");
  const std::string text = error_text(
      [] { detail::allowed_by(scale_entry(), detail::asked_for("test_scale", "auto")); });
  EXPECT_THAT(text, HasSubstr("got 'smxx/*'\n  from: EINKORN_TEST_SCALE"));
}

}  // namespace
}  // namespace einkorn::test
