// The path of a call: cached plans, what makes them stale, several threads, wrong arguments.

#include <einkorn/dispatch.h>

#include <atomic>
#include <deque>
#include <stop_token>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/golden.h"
#include "tests/unit/registry/environment.h"
#include "tests/unit/registry/scale_op.h"

namespace einkorn::test {
namespace {

/// Runs one call and compares the result.
void call_and_compare(std::int64_t n, int factor, std::string_view variant = {}) {
  const Inputs<Scale::Args> inputs = counting_inputs(n, factor);
  dispatch<Scale>(inputs.args, Stream::cpu(), variant);
  for (std::int64_t i = 0; i < n; ++i) {
    ASSERT_EQ(inputs.args.y.data_as<float>()[i], static_cast<float>(factor) * static_cast<float>(i))
        << "n=" << n << " factor=" << factor << " at " << i;
  }
}

class Dispatch : public ::testing::Test {
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

TEST_F(Dispatch, APlanIsMadeOnceForAProblem) {
  for (int i = 0; i < 3; ++i) {
    call_and_compare(8, 2);
    call_and_compare(8, 3);
  }
  EXPECT_EQ(new_plans(), 2);
}

TEST_F(Dispatch, EqualArgumentsAreMatchedOnce) {
  Inputs<Scale::Args> inputs = counting_inputs(8, 2);
  dispatch<Scale>(inputs.args, Stream::cpu());
  const int before = scale_matches.load();
  for (int i = 0; i < 3; ++i) dispatch<Scale>(inputs.args, Stream::cpu());
  EXPECT_EQ(scale_matches.load(), before);
  inputs.args.factor = 5;
  dispatch<Scale>(inputs.args, Stream::cpu());
  EXPECT_EQ(scale_matches.load(), before + 1);
  EXPECT_EQ(inputs.args.y.data_as<float>()[3], 15.0F);
}

TEST_F(Dispatch, ArgumentsThatFailAreMatchedEachTime) {
  const Inputs<Scale::Args> good = counting_inputs(8, 2);
  Scale::Args bad = good.args;
  bad.y = TensorView();
  for (int i = 0; i < 2; ++i) {
    dispatch<Scale>(good.args, Stream::cpu());
    EXPECT_THROW(dispatch<Scale>(bad, Stream::cpu()), Error);
    EXPECT_THROW(dispatch<Scale>(bad, Stream::cpu()), Error);
  }
}

TEST_F(Dispatch, EachProblemGetsTheVariantThatServesIt) {
  call_and_compare(8, 2);
  call_and_compare(7, 2);
  EXPECT_EQ(new_plans(), 1) << "an odd size goes to the reference";
}

TEST_F(Dispatch, ClearingMakesPlansAfresh) {
  call_and_compare(8, 2);
  clear_plan_caches();
  call_and_compare(8, 2);
  EXPECT_EQ(new_plans(), 2);
}

TEST_F(Dispatch, TheEnvironmentIsReadAgainAfterClearing) {
  call_and_compare(8, 2);
  EXPECT_EQ(new_plans(), 1);
  {
    const ScopedVariable variable("EINKORN_TEST_SCALE", "reference");
    call_and_compare(8, 2);
    EXPECT_EQ(new_plans(), 1);
  }
  call_and_compare(8, 2);
  EXPECT_EQ(new_plans(), 2);
}

TEST_F(Dispatch, ARegistrationMakesPlansStale) {
  call_and_compare(8, 2);
  register_op(fresh_op());
  call_and_compare(8, 2);
  EXPECT_EQ(new_plans(), 2);
}

TEST_F(Dispatch, ANamedVariantHasAPlanOfItsOwn) {
  call_and_compare(8, 2);
  call_and_compare(8, 2, "reference");
  call_and_compare(8, 2, "cpu/even_v1");
  EXPECT_EQ(new_plans(), 2) << "one by list order, one by name";
}

TEST_F(Dispatch, TheCacheIsBounded) {
  constexpr int kProblems = static_cast<int>(PlanCache<Scale>::kCapacity) + 10;
  for (int i = 1; i <= kProblems; ++i) {
    const Inputs<Scale::Args> inputs = counting_inputs(2 * i);
    dispatch<Scale>(inputs.args, Stream::cpu());
  }
  ASSERT_EQ(new_plans(), kProblems);
  call_and_compare(2 * kProblems - 2, 2);  // one of the last ten
  EXPECT_EQ(new_plans(), kProblems) << "the newest are kept";
  call_and_compare(2, 2);
  EXPECT_EQ(new_plans(), kProblems + 1) << "the oldest went when the cache was full";
}

TEST_F(Dispatch, PrepareMakesThePlanAndWritesNothing) {
  const Inputs<Scale::Args> inputs = counting_inputs(6);
  inputs.args.y.data_as<float>()[3] = -1;
  prepare<Scale>(inputs.args, Stream::cpu());
  EXPECT_EQ(new_plans(), 1);
  EXPECT_EQ(inputs.args.y.data_as<float>()[3], -1);
  dispatch<Scale>(inputs.args, Stream::cpu());
  EXPECT_EQ(new_plans(), 1);
  EXPECT_EQ(inputs.args.y.data_as<float>()[3], 6);
}

TEST_F(Dispatch, ACallThroughTheOpsTable) {
  const Inputs<Scale::Args> inputs = counting_inputs(6, 3);
  registry()->find("test_scale").op->call(&inputs.args, Stream::cpu(), "cpu/even_v1");
  EXPECT_EQ(inputs.args.y.data_as<float>()[5], 15);
  EXPECT_EQ(new_plans(), 1);
}

TEST_F(Dispatch, ErrorTexts) {
  const Inputs<Scale::Args> inputs = counting_inputs(7);
  inputs.args.y.data_as<float>()[3] = -1;
  GoldenErrors errors("errors/dispatch.txt");
  errors.add("stream of another device",
             [&] { dispatch<Scale>(inputs.args, Stream::cuda_legacy_default(0)); });
  errors.add("stream of another device, prepare",
             [&] { prepare<Scale>(inputs.args, Stream::cuda_legacy_default(1)); });
  errors.add("named variant refuses",
             [&] { dispatch<Scale>(inputs.args, Stream::cpu(), "cpu/even_v1"); });
  errors.add("unknown variant", [&] { dispatch<Scale>(inputs.args, Stream::cpu(), "cpu/odd_v1"); });
  EXPECT_EQ(inputs.args.y.data_as<float>()[3], -1) << "a refused call writes nothing";
}

TEST_F(Dispatch, AFailureIsNotCached) {
  const Inputs<Scale::Args> inputs = counting_inputs(7);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(dispatch<Scale>(inputs.args, Stream::cpu(), "cpu/even_v1"), Error);
  }
  call_and_compare(7, 2);
}

// Several threads on several problems while plans go stale under them; the thread sanitizer runs
// what is named *Threads*.
TEST_F(Dispatch, ThreadsOnSeveralProblems) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 200;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  threads.reserve(kThreads + 1);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t, &wrong] {
      for (int round = 0; round < kRounds; ++round) {
        const std::int64_t n = 2 + (round * 7 + t) % 5;
        const int factor = 1 + (round + t) % 3;
        const Inputs<Scale::Args> inputs = counting_inputs(n, factor);
        dispatch<Scale>(inputs.args, Stream::cpu(), round % 4 == 0 ? "reference" : "");
        const float last = inputs.args.y.data_as<float>()[n - 1];
        if (last != static_cast<float>(factor) * static_cast<float>(n - 1)) wrong.fetch_add(1);
      }
    });
  }
  threads.emplace_back([] {
    for (int i = 0; i < 50; ++i) {
      clear_plan_caches();
      std::this_thread::yield();
    }
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(Dispatch, ThreadsRegisterWhileOthersLook) {
  static std::deque<Variant> variants;  // the registry keeps their addresses
  std::atomic<int> out_of_order{0};
  const OpDef& op = fresh_op();
  {
    const std::jthread reader([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const auto view = registry();  // held: the loop would not keep a temporary alive
        for (const OpEntry& entry : view->ops()) {
          if (entry.variants.back() != entry.op->reference_variant) out_of_order.fetch_add(1);
        }
      }
    });
    register_op(op);
    for (const int version : {1, 2, 3}) {
      Variant& variant = variants.emplace_back(kEven);
      variant.op = op.name;
      variant.version = version;
      register_variant(variant);
    }
  }
  EXPECT_EQ(out_of_order.load(), 0);
  EXPECT_EQ(registry()->find(op.name).variants.size(), 4U);
}

}  // namespace
}  // namespace einkorn::test
