// The worker in a process of its own: this test program, started again with a variable set.

#include "src/tune/child_lab.h"

#include <unistd.h>

#include <cstdlib>

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/tune/tuner.h"
#include "src/tune/worker.h"
#include "tests/unit/file_tree.h"
#include "tests/unit/the.h"
#include "tests/unit/tune/tuned_op.h"

namespace einkorn::tune {
namespace {

using test::the;
using testing::HasSubstr;
using trials::Status;

constexpr const char* kVariable = "EINKORN_TEST_TUNE_WORKER";

/// Before main(): gtest would take the child for a run of all tests.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): it ends the child
const bool kIsWorker = [] {
  if (std::getenv(kVariable) == nullptr) return false;
  toy::register_moody();
  _exit(serve_standard());
}();

class ChildLabTest : public testing::Test {
 protected:
  // A sanitizer in the worker would turn a signal into an exit of its own, after a long report.
  ChildLabTest() : variable_(kVariable, "1"), sanitizer_("ASAN_OPTIONS", "handle_segv=0") {
    toy::register_moody();
  }

  static std::vector<std::string> command() { return {ChildLab::own_command().front()}; }
  /// `prepare` is waited for where a candidate hangs; only there may a slow machine need less.
  static TimeLimits limits(std::chrono::milliseconds prepare = std::chrono::seconds(60)) {
    return {
        .start = std::chrono::seconds(30), .prepare = prepare, .sample = std::chrono::seconds(5)};
  }
  static Subject subject() {
    return {"twice", "twice/cpu/moody_v1", "rows=16 cols=16 gap=2", "cpu", 1};
  }

 private:
  test::Variable variable_;
  test::Variable sanitizer_;
};

TEST_F(ChildLabTest, PreparesAndTimes) {
  ASSERT_FALSE(kIsWorker);
  ChildLab lab(command(), limits());
  const Started started = lab.start(subject());
  EXPECT_GE(started.input_sets, 2);
  const Prepared good = lab.prepare(3, "mood=good n=1", true);
  EXPECT_EQ(good.status, Status::kOk) << good.reason;
  EXPECT_THAT(good.compiler, testing::AnyOf(HasSubstr("g++"), HasSubstr("clang")));
  EXPECT_GT(good.sample_seconds, 0);
  lab.prepare(4, "mood=slow n=2", true);
  const Samples fast = lab.sample(3, 3);
  const Samples slow = lab.sample(4, 1);
  EXPECT_EQ(fast.us.size(), 3U);
  EXPECT_GT(slow.us[0], 390);
  EXPECT_LT(fast.us[0], slow.us[0]);
  lab.drop(3);
  EXPECT_THROW(lab.sample(3, 1), Error);
  EXPECT_EQ(lab.sample(4, 1).us.size(), 1U);  // it survived
}

TEST_F(ChildLabTest, SaysWhatIsWrong) {
  ChildLab lab(command(), limits());
  lab.start(subject());
  const Prepared wrong = lab.prepare(1, "mood=wrong n=1", true);
  EXPECT_EQ(wrong.status, Status::kWrong);
  EXPECT_THAT(wrong.reason, HasSubstr("times the tolerance"));
  const Prepared outside = lab.prepare(2, "mood=outside n=1", true);
  EXPECT_EQ(outside.status, Status::kWrong) << outside.reason;
  const Prepared thrown = lab.prepare(3, "mood=throw n=1", true);
  EXPECT_EQ(thrown.status, Status::kError);
  EXPECT_THAT(thrown.reason, HasSubstr("no more of that"));
  const Prepared invalid = lab.prepare(4, "mood=good n=99", true);
  EXPECT_EQ(invalid.status, Status::kInvalid);
  const Prepared nonsense = lab.prepare(5, "mud=good", true);
  EXPECT_EQ(nonsense.status, Status::kError);
}

TEST_F(ChildLabTest, ACrashTellsItsSignalAndANewLabComesUp) {
  ChildLab lab(command(), limits());
  lab.start(subject());
  try {
    lab.prepare(1, "mood=crash n=1", true);
    FAIL() << "it lives";
  } catch (const LabLost& lost) {
    EXPECT_FALSE(lost.is_hang());
    EXPECT_THAT(lost.what(), HasSubstr("signal 11"));
  }
  EXPECT_THROW(lab.sample(1, 1), LabLost);
  lab.start(subject());
  EXPECT_EQ(lab.prepare(1, "mood=good n=1", true).status, Status::kOk);
}

TEST_F(ChildLabTest, AHangEndsAtTheLimit) {
  ChildLab lab(command(), limits(std::chrono::seconds(1)));
  lab.start(subject());
  try {
    lab.prepare(1, "mood=hang n=1", true);
    FAIL() << "it ended";
  } catch (const LabLost& lost) {
    EXPECT_TRUE(lost.is_hang());
    EXPECT_THAT(lost.what(), HasSubstr("no answer in 1 s"));
  }
}

TEST_F(ChildLabTest, WhatCannotBeServedIsTheWorkersOwnError) {
  ChildLab lab(command(), limits());
  Subject unknown = subject();
  unknown.op = "thrice";
  EXPECT_THROW(lab.start(unknown), Error);
  ChildLab none({"/no/such/program"}, limits());
  EXPECT_THROW(none.start(subject()), Error);
}

TEST_F(ChildLabTest, ATuningOverAllMoods) {
  const OpEntry entry = toy::entry({&toy::kMoody});
  const AnyProblem problem = toy::problem("rows=16 cols=16 gap=2");
  const Job job{entry, toy::kMoody, problem, cpu_info(),
                candidates_of(toy::kMoody, problem.get(), cpu_info())};
  ChildLab lab(command(), limits(std::chrono::seconds(10)));
  const test::FileTree tree;
  trials::TrialStore store(tree.path("trials"));
  const Outcome got = tune(job, {}, lab, store);
  EXPECT_EQ(got.best.tiling, "mood=good n=1");
  EXPECT_EQ(got.stopped, "");
  std::map<std::string, Status> statuses;
  for (const Known& one : got.known) statuses[one.trial.tiling] = one.trial.status;
  EXPECT_EQ(statuses.at("mood=wrong n=1"), Status::kWrong);
  EXPECT_EQ(statuses.at("mood=outside n=1"), Status::kWrong);
  EXPECT_EQ(statuses.at("mood=crash n=1"), Status::kCrash);
  EXPECT_EQ(statuses.at("mood=hang n=1"), Status::kHang);
  EXPECT_EQ(statuses.at("mood=throw n=1"), Status::kError);
  EXPECT_EQ(statuses.at("mood=slow n=4"), Status::kOk);
  EXPECT_GT(the(got.default_trial).median_us, got.best.us);
  EXPECT_EQ(store.read("twice", cpu_info().name).trials.size(), 8U);
}

}  // namespace
}  // namespace einkorn::tune
