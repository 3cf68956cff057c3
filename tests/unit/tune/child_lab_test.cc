// The worker in a process of its own: this test program, started again with a variable set.

#include "src/tune/child_lab.h"

#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/tune/tuner.h"
#include "src/tune/worker.h"
#include "tests/unit/file_tree.h"
#include "tests/unit/the.h"
#include "tests/unit/tune/tuned_op.h"
#include "tests/unit/tune/tuned_op_gpu.h"

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
  register_variant(toy::kMoodyGpu);
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

/// Candidates whose kernel writes to a null pointer: no call of their process works after it.
class BrokenContextTest : public ChildLabTest {
 protected:
  BrokenContextTest()
      : file_(tree_.write("moody.cu", toy::kMoodyKernel)), told_(toy::kMoodyFile, file_) {}

  void SetUp() override {
    std::string reason;
    if (!cuda::available(&reason)) GTEST_SKIP() << reason;
  }

  /// Making a context can take many seconds where a machine has many devices.
  static TimeLimits limits() {
    return {.start = std::chrono::minutes(2),
            .prepare = std::chrono::minutes(1),
            .sample = std::chrono::seconds(10)};
  }
  static constexpr const char* kProblem = "rows=16 cols=16 gap=2";
  static Subject subject() { return {"twice", "twice/smxx/moody_v1", kProblem, "cuda:0", 1}; }

  /// Tunes over these candidates.
  Outcome tune_over(const std::vector<std::string>& tilings) {
    const AnyProblem problem = toy::problem(kProblem);
    Job job{entry_, toy::kMoodyGpu, problem, cuda::device_info(0), {}};
    for (const std::string& tiling : tilings) job.candidates.push_back({tiling, 0});
    ChildLab lab(command(), limits());
    return tune(job, {}, lab, store_);
  }

  /// Each of the store's trials; a tiling that was recorded twice fails the test.
  std::map<std::string, trials::Trial> stored() const {
    std::map<std::string, trials::Trial> out;
    for (const trials::Trial& one : store_.read("twice", cuda::device_info(0).name).trials) {
      EXPECT_TRUE(out.emplace(one.tiling, one).second) << one.tiling;
    }
    return out;
  }

  /// What the lab's fall says of its reason; a fall it has to be, and no hang.
  template <class Act>
  static std::string loss_of(Act&& act) {
    try {
      act();
    } catch (const LabLost& lost) {
      EXPECT_FALSE(lost.is_hang());
      return lost.what();
    }
    return "the lab did not fall";
  }
  static void expect_crash(const trials::Trial& trial) {
    EXPECT_EQ(trial.status, Status::kCrash) << trial.tiling << ": " << trial.reason;
    EXPECT_THAT(trial.reason, HasSubstr(kLost)) << trial.tiling;
  }

  static constexpr const char* kLost = "the context is lost";
  const test::FileTree tree_;
  const OpEntry entry_ = toy::entry({&toy::kMoodyGpu});
  trials::TrialStore store_{tree_.path("trials")};

 private:
  std::string file_;
  test::Variable told_;
};

TEST_F(BrokenContextTest, LosesTheLabAndANewOneComesUp) {
  ChildLab lab(command(), limits());
  lab.start(subject());
  const Prepared good = lab.prepare(1, "mood=good n=1", true);
  ASSERT_EQ(good.status, Status::kOk) << good.reason;
  EXPECT_THAT(loss_of([&] { lab.prepare(2, "mood=crash n=1", true); }), HasSubstr(kLost));
  EXPECT_THROW(lab.sample(1, 1), LabLost);
  lab.start(subject());
  // Well when it is checked: it breaks while it is timed.
  const Prepared late = lab.prepare(1, "mood=late n=1", true);
  ASSERT_EQ(late.status, Status::kOk) << late.reason;
  EXPECT_THAT(loss_of([&] { lab.sample(1, 10); }), HasSubstr(kLost));
}

TEST_F(BrokenContextTest, IsACrashAndTheTuningGoesOn) {
  const AnyProblem problem = toy::problem(kProblem);
  const auto all = toy::kMoodyGpu.tilings(problem.get(), cuda::device_info(0));
  const Outcome got = tune_over(all);
  EXPECT_EQ(got.stopped, "");
  EXPECT_EQ(got.tried, all.size());
  EXPECT_EQ(got.best.tiling, "mood=good n=1");
  EXPECT_GT(the(got.default_trial).median_us, got.best.us);
  const auto trials = stored();
  EXPECT_EQ(trials.size(), all.size());
  for (const char* tiling : {"mood=crash n=1", "mood=crash n=2", "mood=late n=1"}) {
    expect_crash(trials.at(tiling));
  }
  for (const char* tiling : {"mood=slow n=2", "mood=good n=1", "mood=slow n=4"}) {
    EXPECT_EQ(trials.at(tiling).status, Status::kOk) << trials.at(tiling).reason;
    EXPECT_GT(trials.at(tiling).median_us, 0) << tiling;
  }
}

TEST_F(BrokenContextTest, OfAllButTheFirstLeavesTheFirst) {
  const Outcome got =
      tune_over({"mood=good n=1", "mood=crash n=1", "mood=late n=1", "mood=crash n=2"});
  EXPECT_EQ(got.stopped, "");
  EXPECT_EQ(got.best.tiling, "mood=good n=1");
  const auto trials = stored();
  EXPECT_EQ(trials.size(), 4U);
  EXPECT_EQ(trials.at("mood=good n=1").status, Status::kOk);
  for (const auto& [tiling, trial] : trials) {
    if (tiling != "mood=good n=1") expect_crash(trial);
  }
}

}  // namespace
}  // namespace einkorn::tune
