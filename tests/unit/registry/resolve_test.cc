// From configurations to bindings: which rule decides, what it gives, and all that can be wrong.

#include <string>
#include <vector>

#include <einkorn/batch_invariant.h>
#include <einkorn/slots.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/golden.h"
#include "tests/unit/registry/environment.h"
#include "tests/unit/registry/scale_op.h"

namespace einkorn::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Resolve : public ::testing::Test {
 protected:
  void SetUp() override { registry_with_scale(); }
};

SlotRequest slot(std::string path, std::string_view problem = {}) {
  SlotRequest out{std::move(path), "test_scale"};
  if (!problem.empty()) out.problem = split_key_values(problem);
  return out;
}

SlotBinding resolve_one(std::string_view toml, const SlotRequest& request,
                        const DeviceInfo& device = cpu_info()) {
  return resolve(OpConfig::from_toml(toml), std::span(&request, 1), device).at(0);
}

std::string losers(const SlotBinding& binding) {
  std::string out;
  for (const SlotBinding::Loser& loser : binding.losers) {
    out += fmt::format("{}: {}\n", loser.variant, loser.refusal);
  }
  return out;
}

TEST_F(Resolve, AutoWithAProblemIsDecidedNow) {
  const SlotBinding even = resolve_one("test_scale = \"auto\"", slot("a", "n=4"));
  EXPECT_EQ(even.path, "a");
  EXPECT_EQ(even.op, "test_scale");
  EXPECT_EQ(even.rule, "test_scale = \"auto\" (line 1)");
  EXPECT_EQ(even.variant, "test_scale/cpu/even_v1");
  EXPECT_EQ(even.reason, "first in list order that serves n=4");
  EXPECT_EQ(losers(even),
            "test_scale/sm90/gpu_v1: tensors are on cpu\n"
            "test_scale/cpu/reference_v1: serves, but stands behind in the list\n");
  const SlotBinding odd = resolve_one("test_scale = \"auto\"", slot("a", "n=5"));
  EXPECT_EQ(odd.variant, "test_scale/cpu/reference_v1");
  EXPECT_THAT(losers(odd), HasSubstr("test_scale/cpu/even_v1: n 5 is odd\n"));
}

TEST_F(Resolve, AutoWithoutAProblemIsDecidedLater) {
  const SlotBinding binding = resolve_one("test_scale = \"auto\"", slot("a"));
  EXPECT_EQ(binding.variant, "auto");
  EXPECT_EQ(binding.reason, "decided for each problem: the first in list order that serves");
  EXPECT_EQ(losers(binding), "test_scale/sm90/gpu_v1: tensors are on cpu\n");
}

TEST_F(Resolve, ANameIsThatVariant) {
  for (const char* problem : {"", "n=4"}) {
    const SlotBinding binding = resolve_one("test_scale = \"cpu/even_v1\"", slot("a", problem));
    EXPECT_EQ(binding.variant, "test_scale/cpu/even_v1");
    EXPECT_EQ(binding.reason, "named by the rule");
    EXPECT_EQ(binding.losers.size(), 2U);
  }
  EXPECT_EQ(resolve_one("test_scale = \"reference\"", slot("a")).variant,
            "test_scale/cpu/reference_v1");
}

TEST_F(Resolve, APatternIsTheFirstThatFitsAndServes) {
  const SlotBinding even = resolve_one("test_scale = \"cpu/*\"", slot("a", "n=4"));
  EXPECT_EQ(even.variant, "test_scale/cpu/even_v1");
  EXPECT_EQ(even.reason, "first of cpu/* that serves n=4");
  EXPECT_EQ(resolve_one("test_scale = \"cpu/*\"", slot("a", "n=5")).variant,
            "test_scale/cpu/reference_v1");
  const SlotBinding later = resolve_one("test_scale = \"cpu/*\"", slot("a"));
  EXPECT_EQ(later.variant, "cpu/*");
  EXPECT_THAT(later.reason, StartsWith("decided for each problem"));
}

TEST_F(Resolve, ADeviceThatIsNotHere) {
  EXPECT_EQ(resolve_one("default = \"auto\"", slot("a", "n=5"), find_device_info("h100")).variant,
            "test_scale/sm90/gpu_v1");
}

TEST_F(Resolve, TheLastTableThatFitsAndHasARuleDecides) {
  constexpr std::string_view kConfig =
      "test_scale = \"cpu/even_v1\"\n"
      "[modules.\"model.**\"]\n"
      "default = \"auto\"\n"
      "[modules.\"model.layers.*.norm\"]\n"
      "test_scale = \"reference\"\n"
      "[modules.\"model.layers.1.*\"]\n"
      "silu_mul = \"auto\"\n";
  const std::vector<SlotRequest> slots = {slot("head.norm"), slot("model.norm"),
                                          slot("model.layers.0.norm"), slot("model.layers.1.norm")};
  const std::vector<SlotBinding> bindings =
      resolve(OpConfig::from_toml(kConfig), slots, cpu_info());
  EXPECT_EQ(bindings[0].rule, "test_scale = \"cpu/even_v1\" (line 1)");
  EXPECT_EQ(bindings[1].rule, "[modules.\"model.**\"] default = \"auto\" (line 3)");
  EXPECT_EQ(bindings[2].rule,
            "[modules.\"model.layers.*.norm\"] test_scale = \"reference\" (line 5)");
  EXPECT_EQ(bindings[3].rule, bindings[2].rule) << "the last table says nothing of this op";
}

TEST_F(Resolve, AnOpsRuleGoesBeforeTheDefault) {
  EXPECT_EQ(resolve_one("test_scale = \"reference\"\ndefault = \"auto\"", slot("a")).variant,
            "test_scale/cpu/reference_v1");
  EXPECT_EQ(resolve_one("default = \"reference\"\nsilu_mul = \"auto\"", slot("a")).variant,
            "test_scale/cpu/reference_v1");
}

TEST_F(Resolve, RulesOfOpsThatTheModelLacksAreFine) {
  EXPECT_EQ(resolve_one("rms_norm = \"auto\"\ntest_scale = \"auto\"", slot("a")).variant, "auto");
}

TEST_F(Resolve, TheEnvironmentCountsForAutoOnly) {
  const ScopedVariable variable("EINKORN_TEST_SCALE", "reference");
  const SlotBinding now = resolve_one("default = \"auto\"", slot("a", "n=4"));
  EXPECT_EQ(now.variant, "test_scale/cpu/reference_v1");
  EXPECT_EQ(now.reason, "EINKORN_TEST_SCALE=reference");
  EXPECT_THAT(losers(now),
              HasSubstr("test_scale/cpu/even_v1: not asked for by EINKORN_TEST_SCALE\n"));
  const SlotBinding later = resolve_one("default = \"auto\"", slot("a"));
  EXPECT_EQ(later.variant, "auto");
  EXPECT_EQ(later.reason, "decided for each problem: EINKORN_TEST_SCALE=reference");
  EXPECT_EQ(resolve_one("default = \"cpu/even_v1\"", slot("a", "n=4")).variant,
            "test_scale/cpu/even_v1");
}

TEST_F(Resolve, TheModeCounts) {
  const BatchInvariantScope scope;
  const SlotBinding binding = resolve_one("default = \"auto\"", slot("a", "n=4"));
  EXPECT_EQ(binding.variant, "test_scale/cpu/reference_v1");
  EXPECT_THAT(losers(binding), HasSubstr("test_scale/cpu/even_v1: not declared batch-invariant"));
  for (const char* problem : {"", "n=4"}) {
    EXPECT_THAT(
        error_text([&] { resolve_one("test_scale = \"cpu/even_v1\"", slot("a", problem)); }),
        AllOf(StartsWith("NotImplementedError: "), HasSubstr("not declared batch-invariant")));
  }
}

TEST_F(Resolve, ErrorTexts) {
  GoldenErrors errors("errors/resolve.txt");
  errors.add("named variant refuses",
             [] { resolve_one("test_scale = \"cpu/even_v1\"", slot("a", "n=5")); });
  errors.add("pattern refuses", [] { resolve_one("test_scale = \"*/even_*\"", slot("a", "n=5")); });
  errors.add("named variant of hardware that is not here",
             [] { resolve_one("test_scale = \"sm90/gpu_v1\"", slot("a")); });
  errors.add("the same with a problem",
             [] { resolve_one("test_scale = \"sm90/*\"", slot("a", "n=4")); });
  errors.add("auto on a device that nothing is for", [] {
    DeviceInfo old;
    old.device = cuda_device(0);
    old.name = "an old card";
    old.cc = 75;
    resolve_one("test_scale = \"auto\"", slot("a"), old);
  });
  errors.add("no rule", [] { resolve_one("rms_norm = \"auto\"", slot("a")); });
  errors.add("pattern that fits no path", [] {
    resolve_one("default = \"auto\"\n[modules.\"model.layer.0\"]\ntest_scale = \"auto\"",
                slot("model.layers.0"));
  });
  errors.add("problem of another op",
             [] { resolve_one("default = \"auto\"", slot("a", "rows=4")); });
  errors.add("unknown variant by environment", [] {
    const ScopedVariable variable("EINKORN_TEST_SCALE", "cpu/odd_v1");
    resolve_one("default = \"auto\"", slot("a"));
  });
}

// Not golden: the ops' variants come and go.
TEST_F(Resolve, ADefaultThatTheOpDoesNotHave) {
  const SlotRequest other{"a", "silu_mul"};
  EXPECT_THAT(error_text([&] { resolve_one("default = \"cpu/even_v1\"", other); }),
              AllOf(StartsWith("ValueError: slots: expected no fault, got 1\n"),
                    HasSubstr("slot 'a' (silu_mul):\n    silu_mul: variant: expected one of "),
                    HasSubstr("got 'cpu/even_v1'")));
  EXPECT_THAT(error_text([&] { resolve_one("default = \"cpu/evem_v1\"", other); }),
              HasSubstr("default = \"cpu/evem_v1\" (line 1):\n    variant: expected one of "));
}

TEST_F(Resolve, AllFaultsAreToldAndTheirSlotsTogether) {
  const std::vector<SlotRequest> slots = {
      slot("a.0", "n=5"), slot("a.1", "n=5"), slot("b"), {"c", "test_scael"}, slot("d", "n=4")};
  const std::string text = error_text([&] {
    resolve(OpConfig::from_toml("[modules.\"a.*\"]\n"
                                "test_scale = \"cpu/even_v1\"\n"
                                "[modules.d]\n"
                                "test_scale = \"cpu/evem_v1\"\n"
                                "[modules.\"e\"]\n"),
            slots, cpu_info());
  });
  EXPECT_THAT(text, AllOf(StartsWith("ValueError: slots: expected no fault, got 5\n"),
                          HasSubstr("slot 'a.0' (test_scale), slot 'a.1' (test_scale):\n"),
                          HasSubstr("n 5 is odd"), HasSubstr("slot 'b' (test_scale):\n"),
                          HasSubstr("slot 'c' (test_scael):\n    op: expected one of "),
                          HasSubstr("hint: did you mean 'test_scale'?"),
                          HasSubstr("[modules.\"e\"] (line 5):\n")));
  EXPECT_THAT(text,
              AllOf(HasSubstr("hint: did you mean 'cpu/even_v1'?"), Not(HasSubstr("slot 'd'"))))
      << "its rule is told already";
}

TEST_F(Resolve, NoSlotsNeedNoRules) { EXPECT_TRUE(resolve(OpConfig{}, {}, cpu_info()).empty()); }

}  // namespace
}  // namespace einkorn::test
