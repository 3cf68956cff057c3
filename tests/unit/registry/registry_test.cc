// Ops and variants from outside the lists: registered, found, chosen, refused.

#include <einkorn/registry.h>

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/registry/removal.h"
#include "tests/unit/golden.h"
#include "tests/unit/registry/environment.h"
#include "tests/unit/registry/scale_op.h"

namespace einkorn::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const OpEntry& scale_entry() {
  static const auto kView = registry_with_scale();
  return kView->find("test_scale");
}

AnyProblem problem(std::string_view keys) { return kScale.parse(split_key_values(keys)); }

TEST(Registry, RegisteredVariantsComeInOrderBeforeTheReference) {
  const OpEntry& entry = scale_entry();
  ASSERT_EQ(entry.variants.size(), 3U);
  EXPECT_EQ(entry.variants[0]->id(), "test_scale/sm90/gpu_v1");
  EXPECT_EQ(entry.variants[1]->id(), "test_scale/cpu/even_v1");
  EXPECT_EQ(entry.variants[2]->id(), "test_scale/cpu/reference_v1");
}

TEST(Registry, FirstThatAgreesServes) {
  const OpEntry& entry = scale_entry();
  EXPECT_EQ(select(entry, problem("n=4").get(), cpu_info()).name(), "cpu/even_v1");
  EXPECT_EQ(select(entry, problem("n=5").get(), cpu_info()).name(), "cpu/reference_v1");
  EXPECT_EQ(select(entry, problem("n=5").get(), find_device_info("h100")).name(), "sm90/gpu_v1");
}

TEST(Registry, FindVariantTakesThreeSpellings) {
  const OpEntry& entry = scale_entry();
  const auto view = registry();
  EXPECT_EQ(&view->find_variant(entry, "cpu/even_v1"), &kEven);
  EXPECT_EQ(&view->find_variant(entry, "test_scale/cpu/even_v1"), &kEven);
  EXPECT_EQ(&view->find_variant(entry, "reference"), kScale.reference_variant);
}

TEST(Registry, ChoiceByArgument) {
  const OpEntry& entry = scale_entry();
  const Selection selection = explain(entry, problem("n=4").get(), cpu_info(), "cpu/reference_v1");
  ASSERT_NE(selection.chosen, nullptr);
  EXPECT_EQ(selection.chosen->name(), "cpu/reference_v1");
  EXPECT_EQ(selection.source, "argument");
}

TEST(Registry, ChoiceByEnvironment) {
  const OpEntry& entry = scale_entry();
  EXPECT_EQ(environment_name("test_scale"), "EINKORN_TEST_SCALE");
  const ScopedVariable variable("EINKORN_TEST_SCALE", "reference");
  const Selection selection = explain(entry, problem("n=4").get(), cpu_info());
  ASSERT_NE(selection.chosen, nullptr);
  EXPECT_EQ(selection.chosen->name(), "cpu/reference_v1");
  EXPECT_EQ(selection.source, "EINKORN_TEST_SCALE");
}

TEST(Registry, ArgumentBeatsEnvironment) {
  const ScopedVariable variable("EINKORN_TEST_SCALE", "reference");
  EXPECT_EQ(select(scale_entry(), problem("n=4").get(), cpu_info(), "cpu/even_v1").name(),
            "cpu/even_v1");
}

TEST(Registry, EmptyVariableIsNoChoice) {
  const ScopedVariable variable("EINKORN_TEST_SCALE", "");
  EXPECT_EQ(explain(scale_entry(), problem("n=4").get(), cpu_info()).source, "list order");
}

TEST(Registry, NamedVariantThatRefusesNeverFallsBack) {
  const OpEntry& entry = scale_entry();
  const Selection selection = explain(entry, problem("n=5").get(), cpu_info(), "cpu/even_v1");
  EXPECT_EQ(selection.chosen, nullptr);
  EXPECT_EQ(selection.tried.size(), 3U);
  const ScopedVariable variable("EINKORN_TEST_SCALE", "cpu/even_v1");
  EXPECT_EQ(explain(entry, problem("n=5").get(), cpu_info()).chosen, nullptr);
}

TEST(Registry, ErrorTexts) {
  const OpEntry& entry = scale_entry();
  GoldenErrors errors("errors/registry.txt");
  errors.add("unknown variant, near",
             [&] { select(entry, problem("n=4").get(), cpu_info(), "cpu/evem_v1"); });
  errors.add("unknown variant, far",
             [&] { select(entry, problem("n=4").get(), cpu_info(), "triton"); });
  errors.add("unknown variant by environment", [&] {
    const ScopedVariable variable("EINKORN_TEST_SCALE", "cpu/even_v2");
    select(entry, problem("n=4").get(), cpu_info());
  });
  errors.add("named variant refuses",
             [&] { select(entry, problem("n=5").get(), cpu_info(), "cpu/even_v1"); });
  errors.add("named by environment refuses", [&] {
    const ScopedVariable variable("EINKORN_TEST_SCALE", "sm90/gpu_v1");
    select(entry, problem("n=5").get(), cpu_info());
  });
  errors.add("op registered twice", [] { register_op(kScale); });
  errors.add("variant registered twice", [] { register_variant(kEven); });
  errors.add("variant of an unknown arch", [] {
    static const Variant kVariant = make_variant<Scale, EvenV1>("sm91", "even", 2, "cuda", "");
    register_variant(kVariant);
  });
  errors.add("unknown arch", [] { find_arch("sm9"); });
}

// Not golden: the list grows with what other tests of this process register.
TEST(Registry, AnUnknownOpListsAllAndTheNearest) {
  const std::string text = error_text([] { registry()->find("rms_nrom"); });
  EXPECT_THAT(text, StartsWith("ValueError: op: expected one of silu_mul, "));
  EXPECT_THAT(text, HasSubstr("got 'rms_nrom'\n  hint: did you mean 'rms_norm'?"));
}

struct Unknown : Scale {
  static constexpr std::string_view kName = "test_unknown";
};

TEST(Registry, VariantOfAnUnknownOpIsRefused) {
  static const Variant kVariant = make_variant<Unknown, EvenV1>("cpu", "even", 1, "cpp", "");
  const std::string text = error_text([] { register_variant(kVariant); });
  EXPECT_THAT(text, StartsWith("ValueError: op: expected one of "));
  EXPECT_THAT(text, HasSubstr("got 'test_unknown'"));
}

TEST(Registry, AFailedRegistrationChangesNothing) {
  const auto before = registry_with_scale();
  const std::uint64_t generation = registry_generation();
  EXPECT_THROW(register_op(kScale), Error);
  EXPECT_THROW(register_variant(kEven), Error);
  EXPECT_EQ(registry(), before);
  EXPECT_EQ(registry_generation(), generation);
}

TEST(Registry, AViewDoesNotChangeWhenSomethingIsAdded) {
  const auto before = registry_with_scale();
  const std::size_t count = before->ops().size();
  const std::uint64_t generation = registry_generation();
  const OpDef& op = fresh_op();
  register_op(op);
  EXPECT_EQ(before->ops().size(), count);
  EXPECT_EQ(registry()->ops().size(), count + 1);
  EXPECT_GT(registry_generation(), generation);
  EXPECT_EQ(registry()->find(op.name).variants.size(), 1U);
}

TEST(Registry, AVariantTakesTheFirstPlaceOrAnothersWhenAsked) {
  registry_with_scale();
  const OpDef& op = fresh_op();
  register_op(op);
  static Variant plain = kEven;
  static Variant better = kEven;
  static Variant preferred = kEven;
  for (Variant* one : {&plain, &better, &preferred}) one->op = op.name;
  preferred.version = 2;
  register_variant(plain);
  register_variant(preferred, {.first = true});
  EXPECT_THROW(register_variant(better), Error);
  register_variant(better, {.replace = true});
  const auto view = registry();
  EXPECT_EQ(view->find(op.name).variants,
            (std::vector<const Variant*>{&preferred, &better, op.reference_variant}));
}

TEST(Registry, ARegisteredVariantCanBeTakenOutAgain) {
  registry_with_scale();
  const OpDef& op = fresh_op();
  register_op(op);
  static Variant added = kEven;
  added.op = op.name;
  register_variant(added);
  const std::uint64_t generation = registry_generation();
  detail::remove_variant(added.id());
  EXPECT_GT(registry_generation(), generation);
  EXPECT_EQ(registry()->find(op.name).variants.size(), 1U);
  EXPECT_THROW(detail::remove_variant(added.id()), Error);
  EXPECT_THROW(detail::remove_variant("rms_norm/cpu/rows_v1"), Error);
  EXPECT_THROW(detail::remove_variant("rms_norm/cpu/reference_v1"), Error);
  register_variant(added);
  EXPECT_EQ(registry()->find(op.name).variants.size(), 2U);
}

TEST(Registry, VariantTellsItsTilingsAndPlans) {
  const AnyProblem eight = problem("n=8");
  const auto tilings = kEven.tilings(eight.get(), cpu_info());
  EXPECT_EQ(tilings, (std::vector<std::string>{"block=64", "block=128"}));
  EXPECT_EQ(kEven.plan(eight.get(), cpu_info(), "block=128").tiling, "block=128");
  EXPECT_EQ(kEven.plan(eight.get(), cpu_info(), {}).stages.size(), 1U);
}

}  // namespace
}  // namespace einkorn::test
