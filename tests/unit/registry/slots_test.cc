// Slots: bound or not, called, copied, bound together or not at all.

#include <einkorn/slots.h>

#include <string>
#include <vector>

#include <einkorn/batch_invariant.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/unit/golden.h"
#include "tests/unit/registry/environment.h"
#include "tests/unit/registry/scale_op.h"

namespace einkorn::test {
namespace {

using ::testing::HasSubstr;

struct OtherOp : Scale {
  static constexpr std::string_view kName = "test_other";
};

/// A model with two places, as an instance would have them.
struct Model {
  OpSlot first{"layers.0", "test_scale"};
  OpSlot second{"layers.1", "test_scale", split_key_values("n=8")};

  std::vector<OpSlot*> slots() { return {&first, &second}; }
};

class Slots : public ::testing::Test {
 protected:
  void SetUp() override {
    registry_with_scale();
    clear_plan_caches();
    plans_before_ = even_plans.load();
  }
  int new_plans() const { return even_plans.load() - plans_before_; }

 private:
  int plans_before_ = 0;
};

OpConfig config(std::string_view toml) { return OpConfig::from_toml(toml); }

/// Runs the slot on x = 0, 1, 2, ... and compares.
void run_and_compare(const OpSlot& slot, std::int64_t n) {
  const Inputs<Scale::Args> inputs = counting_inputs(n, 3);
  slot.run<Scale>(inputs.args, Stream::cpu());
  for (std::int64_t i = 0; i < n; ++i) {
    ASSERT_EQ(inputs.args.y.data_as<float>()[i], 3 * static_cast<float>(i));
  }
}

TEST_F(Slots, AnUnboundSlotDoesNothingButSaySo) {
  const OpSlot slot("model.norm", "test_scale");
  EXPECT_FALSE(slot.is_bound());
  const Inputs<Scale::Args> inputs = counting_inputs(4);
  inputs.args.y.data_as<float>()[2] = -1;
  GoldenErrors errors("errors/slots.txt");
  errors.add("run, unbound", [&] { slot.run<Scale>(inputs.args, Stream::cpu()); });
  errors.add("prepare, unbound", [&] { slot.prepare<Scale>(inputs.args, Stream::cpu()); });
  errors.add("binding, unbound", [&] { static_cast<void>(slot.binding()); });
  errors.add("variant_name, unbound", [&] { static_cast<void>(slot.variant_name()); });
  errors.add("choice, unbound", [&] { static_cast<void>(slot.choice()); });
  errors.add("another slot's binding", [] {
    Model model;
    bind_slots(model.slots(), config("default = \"auto\""), cpu_info());
    model.first.bind(model.second.binding());
  });
  errors.add("another op's call", [] {
    Model model;
    bind_slots(model.slots(), config("default = \"auto\""), cpu_info());
    model.first.run<OtherOp>({}, Stream::cpu());
  });
  errors.add("a null pointer", [] {
    OpSlot* const slots[] = {nullptr};
    bind_slots(slots, config("default = \"auto\""), cpu_info());
  });
  errors.add("a device that is not here", [] {
    Model model;
    bind_slots(model.slots(), config("default = \"auto\""), find_device_info("h100"));
  });
  EXPECT_EQ(inputs.args.y.data_as<float>()[2], -1) << "nothing is written";
}

TEST_F(Slots, ABoundSlotCallsItsVariant) {
  Model model;
  bind_slots(model.slots(), config("test_scale = \"cpu/even_v1\""), cpu_info());
  EXPECT_EQ(model.first.variant_name(), "test_scale/cpu/even_v1");
  EXPECT_EQ(model.first.choice(), "test_scale/cpu/even_v1");
  run_and_compare(model.first, 8);
  EXPECT_EQ(new_plans(), 1);
  const Inputs<Scale::Args> odd = counting_inputs(7);
  EXPECT_THAT(error_text([&] { model.first.run<Scale>(odd.args, Stream::cpu()); }),
              HasSubstr("NotImplementedError: test_scale: no variant for cpu, n=7"))
      << "nothing falls back";
}

TEST_F(Slots, AutoIsDecidedForEachProblem) {
  Model model;
  bind_slots(model.slots(), config("default = \"auto\""), cpu_info());
  EXPECT_EQ(model.first.variant_name(), "auto");
  EXPECT_EQ(model.first.choice(), "");
  EXPECT_EQ(model.second.variant_name(), "test_scale/cpu/even_v1") << "its problem was known";
  run_and_compare(model.first, 8);
  run_and_compare(model.first, 7);
  EXPECT_EQ(new_plans(), 1);
}

TEST_F(Slots, APatternIsHeldAtEachCall) {
  Model model;
  bind_slots(model.slots(), config("test_scale = \"cpu/ref*\""), cpu_info());
  EXPECT_EQ(model.first.choice(), "cpu/ref*");
  run_and_compare(model.first, 8);
  EXPECT_EQ(new_plans(), 0);
}

TEST_F(Slots, TheEnvironmentDoesNotMoveABoundSlot) {
  Model model;
  bind_slots(model.slots(),
             config("test_scale = \"auto\"\n[modules.\"layers.0\"]\ntest_scale = \"cpu/even_v1\""),
             cpu_info());
  const ScopedVariable variable("EINKORN_TEST_SCALE", "reference");
  run_and_compare(model.first, 8);
  EXPECT_EQ(new_plans(), 1);
  bind_slots(model.slots(), config("test_scale = \"auto\""), cpu_info());
  run_and_compare(model.first, 6);
  EXPECT_EQ(new_plans(), 1) << "but one with auto";
}

TEST_F(Slots, TwoModelsKeepDifferentChoices) {
  Model one;
  Model other;
  bind_slots(one.slots(), config("test_scale = \"cpu/even_v1\""), cpu_info());
  bind_slots(other.slots(), config("test_scale = \"reference\""), cpu_info());
  run_and_compare(other.first, 8);
  EXPECT_EQ(new_plans(), 0);
  run_and_compare(one.first, 8);
  EXPECT_EQ(new_plans(), 1);
  EXPECT_EQ(one.first.variant_name(), "test_scale/cpu/even_v1");
}

TEST_F(Slots, ACopyHasItsOwnBinding) {
  Model model;
  bind_slots(model.slots(), config("test_scale = \"cpu/even_v1\""), cpu_info());
  Model copy = model;
  EXPECT_EQ(copy.first.variant_name(), "test_scale/cpu/even_v1");
  bind_slots(copy.slots(), config("test_scale = \"reference\""), cpu_info());
  EXPECT_EQ(copy.first.variant_name(), "test_scale/cpu/reference_v1");
  EXPECT_EQ(model.first.variant_name(), "test_scale/cpu/even_v1");
  copy.first.unbind();
  EXPECT_FALSE(copy.first.is_bound());
  EXPECT_TRUE(model.first.is_bound());
}

TEST_F(Slots, BindingFailsForAllOrForNone) {
  Model model;
  constexpr std::string_view kHalf =
      "test_scale = \"auto\"\n[modules.\"layers.1\"]\ntest_scale = \"sm90/gpu_v1\"";
  EXPECT_THROW(bind_slots(model.slots(), config(kHalf), cpu_info()), Error);
  EXPECT_FALSE(model.first.is_bound());
  EXPECT_FALSE(model.second.is_bound());
  bind_slots(model.slots(), config("test_scale = \"reference\""), cpu_info());
  EXPECT_THROW(bind_slots(model.slots(), config(kHalf), cpu_info()), Error);
  EXPECT_EQ(model.first.variant_name(), "test_scale/cpu/reference_v1") << "as it was";
  EXPECT_EQ(model.second.variant_name(), "test_scale/cpu/reference_v1");
}

TEST_F(Slots, ABoundVariantThatTheModeRefusesIsAnError) {
  Model model;
  bind_slots(model.slots(), config("test_scale = \"cpu/even_v1\""), cpu_info());
  run_and_compare(model.first, 8);
  const Inputs<Scale::Args> inputs = counting_inputs(8);
  const BatchInvariantScope scope;
  EXPECT_THAT(error_text([&] { model.first.run<Scale>(inputs.args, Stream::cpu()); }),
              HasSubstr("cpu/even_v1       refused: not declared batch-invariant"));
}

TEST_F(Slots, PrepareMakesThePlan) {
  Model model;
  bind_slots(model.slots(), config("test_scale = \"cpu/even_v1\""), cpu_info());
  const Inputs<Scale::Args> inputs = counting_inputs(6);
  model.first.prepare<Scale>(inputs.args, Stream::cpu());
  EXPECT_EQ(new_plans(), 1);
  model.first.run<Scale>(inputs.args, Stream::cpu());
  EXPECT_EQ(new_plans(), 1);
}

TEST_F(Slots, DumpTellsChoiceReasonAndLosers) {
  Model model;
  bind_slots(model.slots(), config("test_scale = \"auto\""), cpu_info());
  const std::vector<SlotBinding> bindings = {model.first.binding(), model.second.binding()};
  EXPECT_EQ(dump(bindings),
            "layers.0  test_scale  auto\n"
            "  by    test_scale = \"auto\" (line 1)\n"
            "  as    decided for each problem: the first in list order that serves\n"
            "  not   test_scale/sm90/gpu_v1: tensors are on cpu\n"
            "layers.1  test_scale  test_scale/cpu/even_v1\n"
            "  by    test_scale = \"auto\" (line 1)\n"
            "  as    first in list order that serves n=8\n"
            "  not   test_scale/sm90/gpu_v1: tensors are on cpu\n"
            "  not   test_scale/cpu/reference_v1: serves, but stands behind in the list\n");
  EXPECT_EQ(dump({}), "");
}

TEST_F(Slots, JsonHasTheSame) {
  SlotBinding binding{"a\xff", "test_scale", "rule", "auto", "reason", {{"x/y_v1", "no"}}};
  const auto document = nlohmann::json::parse(bindings_json(std::span(&binding, 1)));
  EXPECT_EQ(document, nlohmann::json::parse(R"([{
    "path": "a\ufffd", "op": "test_scale", "rule": "rule", "variant": "auto", "reason": "reason",
    "losers": [{"variant": "x/y_v1", "refusal": "no"}]}])"));
  EXPECT_EQ(bindings_json({}), "[]");
}

}  // namespace
}  // namespace einkorn::test
