// The mode: nested, left by exceptions, one thread's own, and part of what a plan is kept by.

#include <einkorn/batch_invariant.h>

#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/golden.h"
#include "tests/unit/registry/scale_op.h"

namespace einkorn::test {
namespace {

using ::testing::HasSubstr;

const OpEntry& scale_entry() {
  static const auto kView = registry_with_scale();
  return kView->find("test_scale");
}

AnyProblem problem(std::string_view keys) { return kScale.parse(split_key_values(keys)); }

TEST(BatchInvariant, ScopesNest) {
  EXPECT_FALSE(batch_invariant_mode());
  {
    const BatchInvariantScope outer;
    {
      const BatchInvariantScope inner;
      EXPECT_TRUE(batch_invariant_mode());
    }
    EXPECT_TRUE(batch_invariant_mode());
  }
  EXPECT_FALSE(batch_invariant_mode());
}

TEST(BatchInvariant, AnExceptionLeavesIt) {
  try {
    const BatchInvariantScope scope;
    throw std::runtime_error("on the way");
  } catch (const std::runtime_error&) {
    EXPECT_FALSE(batch_invariant_mode());
  }
}

TEST(BatchInvariant, BeginAndEnd) {
  begin_batch_invariant();
  begin_batch_invariant();
  end_batch_invariant();
  EXPECT_TRUE(batch_invariant_mode());
  end_batch_invariant();
  EXPECT_FALSE(batch_invariant_mode());
  EXPECT_THAT(error_text([] { end_batch_invariant(); }),
              HasSubstr("RuntimeError: end_batch_invariant: thread: expected one in"));
  EXPECT_FALSE(batch_invariant_mode()) << "one end too many leaves it as it was";
}

TEST(BatchInvariant, IsOneThreadsOwn) {
  const BatchInvariantScope scope;
  bool elsewhere = true;
  std::thread([&] { elsewhere = batch_invariant_mode(); }).join();
  EXPECT_FALSE(elsewhere);
  EXPECT_TRUE(batch_invariant_mode());
}

TEST(BatchInvariant, OnlyWhatDeclaresItServes) {
  const OpEntry& entry = scale_entry();
  ASSERT_FALSE(kEven.batch_invariant);
  ASSERT_TRUE(kScale.reference_variant->batch_invariant);
  EXPECT_EQ(select(entry, problem("n=4").get(), cpu_info()).name(), "cpu/even_v1");
  const BatchInvariantScope scope;
  const Selection selection = explain(entry, problem("n=4").get(), cpu_info());
  ASSERT_NE(selection.chosen, nullptr);
  EXPECT_EQ(selection.chosen->name(), "cpu/reference_v1");
  constexpr std::string_view kWhy = "not declared batch-invariant";
  EXPECT_EQ(selection.tried.at(1).refusal.value_or(Refusal{}).reason, kWhy);
  EXPECT_EQ(refusal_of(kEven, problem("n=4").get(), cpu_info()).value_or(Refusal{}).reason, kWhy);
  EXPECT_THAT(error_text([&] { select(entry, problem("n=4").get(), cpu_info(), "cpu/even_v1"); }),
              HasSubstr("cpu/even_v1       refused: not declared batch-invariant"));
}

TEST(BatchInvariant, PlansAreKeptApart) {
  scale_entry();
  clear_plan_caches();
  const int before = even_plans.load();
  const Inputs<Scale::Args> inputs = counting_inputs(8);
  dispatch<Scale>(inputs.args, Stream::cpu());
  EXPECT_EQ(even_plans.load(), before + 1);
  {
    const BatchInvariantScope scope;
    dispatch<Scale>(inputs.args, Stream::cpu());
    EXPECT_EQ(even_plans.load(), before + 1);
    // The plan of the calls outside, which the thread used a moment ago, would run it.
    EXPECT_THROW(dispatch<Scale>(inputs.args, Stream::cpu(), "cpu/even_v1"), Error);
  }
  dispatch<Scale>(inputs.args, Stream::cpu(), "cpu/even_v1");
  EXPECT_EQ(even_plans.load(), before + 2);
  {
    const BatchInvariantScope scope;
    EXPECT_THROW(dispatch<Scale>(inputs.args, Stream::cpu(), "cpu/even_v1"), Error);
  }
  dispatch<Scale>(inputs.args, Stream::cpu());
  EXPECT_EQ(even_plans.load(), before + 2) << "the plans outside are still there";
}

}  // namespace
}  // namespace einkorn::test
