#include "src/tune/tuner.h"

#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/registry/planned.h"
#include "src/tune/built.h"
#include "tests/unit/the.h"
#include "tests/unit/tune/fake_lab.h"
#include "tests/unit/tune/tuned_op.h"

namespace einkorn::tune {
namespace {

using test::the;
using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;
using testing::StartsWith;
using trials::Status;

/// A job on the toy op with candidates "mood=good n=0" ... of which the lab decides all.
class TunerTest : public testing::Test {
 protected:
  TunerTest() { lab_.compiler = compiler_of({}, cpu_info()); }

  Job job(int candidates) {
    Job out{entry_, toy::kMoody, problem_, cpu_info(), {}};
    for (int i = 0; i < candidates; ++i) {
      out.candidates.push_back({fmt::format("mood=good n={}", i), 0});
    }
    return out;
  }

  static int n_of(std::string_view tiling) {
    return std::stoi(std::string(tiling.substr(tiling.rfind('=') + 1)));
  }

  /// The lab's candidates: n takes 20 us, and one more for each step away from `best`.
  void times_around(int best) {
    lab_.fate = [best](std::string_view tiling) {
      return FakeLab::Fate{.us = 20.0 + std::abs(n_of(tiling) - best)};
    };
  }

  Status status_of(const Outcome& outcome, int n) {
    for (const Known& one : outcome.known) {
      if (n_of(one.trial.tiling) == n) return one.trial.status;
    }
    ADD_FAILURE() << n << " is not known";
    return Status::kOk;
  }

  OpEntry entry_ = toy::entry({&toy::kMoody});
  AnyProblem problem_ = toy::problem("rows=8 cols=8");
  FakeLab lab_;
  trials::TrialStore store_{""};
  Options options_;
};

TEST_F(TunerTest, FindsTheBestAndKeepsEveryTrial) {
  times_around(5);
  const Outcome got = tune(job(10), options_, lab_, store_);
  EXPECT_EQ(got.best.tiling, "mood=good n=5");
  EXPECT_EQ(the(got.best_trial).samples, 10);
  EXPECT_EQ(the(got.default_trial).tiling, "mood=good n=0");
  EXPECT_EQ(got.tried, 10U);
  EXPECT_EQ(got.stopped, "");
  EXPECT_THAT(store_.read("twice", cpu_info().name).trials, SizeIs(10));
  const trials::Trial& trial = the(got.best_trial);
  EXPECT_EQ(trial.variant, "twice/cpu/moody_v1");
  EXPECT_EQ(trial.problem, "rows=8 cols=8");
  EXPECT_EQ(trial.mode, "eager");
  EXPECT_EQ(trial.source.size(), 64U);
  EXPECT_THAT(trial.date, StartsWith("20"));
  EXPECT_EQ(lab_.subject().device, "cpu");
}

TEST_F(TunerTest, ALookUpThenGivesTheWinner) {
  times_around(3);
  tune(job(6), options_, lab_, store_);
  const auto query = detail::tuning_query(entry_, toy::kMoody, problem_.get(), cpu_info());
  const trials::Found found = look_up(store_.read("twice", cpu_info().name), {}, query, {});
  EXPECT_EQ(found.quality, trials::Quality::kExact);
  EXPECT_EQ(found.tiling, "mood=good n=3");
}

TEST_F(TunerTest, FailuresAreRecordedAndNeverChosen) {
  lab_.fate = [](std::string_view tiling) {
    const int n = n_of(tiling);
    FakeLab::Fate out{.us = 20.0 - n};
    if (n == 5) out.status = Status::kWrong;
    if (n == 6) out.status = Status::kError;
    if (n == 7) out.status = Status::kCrash;
    if (n == 8) out.status = Status::kHang;
    if (n == 9) out = {.us = 1, .status = Status::kCrash, .samples_before = 3};
    return out;
  };
  const Outcome got = tune(job(10), options_, lab_, store_);
  EXPECT_EQ(got.best.tiling, "mood=good n=4");
  EXPECT_EQ(status_of(got, 5), Status::kWrong);
  EXPECT_EQ(status_of(got, 6), Status::kError);
  EXPECT_EQ(status_of(got, 7), Status::kCrash);
  EXPECT_EQ(status_of(got, 8), Status::kHang);
  EXPECT_EQ(status_of(got, 9), Status::kCrash);
  EXPECT_EQ(lab_.starts, 4);
  // Those that were well came back without another check.
  EXPECT_THAT(lab_.rebuilt, Contains("mood=good n=4"));
  EXPECT_THAT(lab_.prepared, SizeIs(10));
  for (const Known& one : got.known) {
    EXPECT_EQ(one.trial.reason.empty(), one.trial.status == Status::kOk);
  }
}

TEST_F(TunerTest, ALostDeviceEndsItWithWhatWasMeasured) {
  options_.trials = 40;
  options_.pause = std::chrono::milliseconds(1);
  lab_.fails_to_restart = true;
  lab_.fate = [](std::string_view tiling) {
    const int n = n_of(tiling);
    return n == 20 ? FakeLab::Fate{.status = Status::kCrash} : FakeLab::Fate{.us = 50.0 - n};
  };
  const Outcome got = tune(job(40), options_, lab_, store_);
  EXPECT_THAT(got.stopped, StartsWith("device lost: no CUDA-capable device"));
  EXPECT_EQ(got.best.tiling, "mood=good n=15");  // of the first batch
  EXPECT_EQ(status_of(got, 20), Status::kCrash);
  EXPECT_EQ(store_.read("twice", cpu_info().name).trials.size(), 17U);
}

TEST_F(TunerTest, ALabThatNeverStartsIsAnError) {
  lab_.fails_to_restart = true;
  lab_.starts = 1;
  EXPECT_THROW(tune(job(3), options_, lab_, store_), Error);
}

TEST_F(TunerTest, KnownTrialsAreNotMeasuredAgain) {
  times_around(5);
  tune(job(6), options_, lab_, store_);
  FakeLab second;
  second.fate = lab_.fate;
  second.compiler = lab_.compiler;
  const Outcome again = tune(job(6), options_, second, store_);
  EXPECT_EQ(second.starts, 0);
  EXPECT_EQ(again.best.tiling, "mood=good n=5");
  EXPECT_TRUE(again.known.at(0).is_reused);
  EXPECT_EQ(again.tried, 0U);
  // One more candidate: it alone is built, and the best so far to race against it.
  const Outcome more = tune(job(7), options_, second, store_);
  EXPECT_THAT(second.prepared, ElementsAre("mood=good n=6", "mood=good n=5"));
  EXPECT_EQ(more.tried, 1U);
  EXPECT_EQ(more.best.tiling, "mood=good n=5");
  // Unless asked to.
  options_.fresh = true;
  EXPECT_EQ(tune(job(7), options_, second, store_).tried, 7U);
}

TEST_F(TunerTest, WhatCrashedBeforeIsNotTriedAgainAnErrorIs) {
  lab_.fate = [](std::string_view tiling) {
    const int n = n_of(tiling);
    FakeLab::Fate out{.us = 20.0 - n};
    if (n == 1) out.status = Status::kCrash;
    if (n == 2) out.status = Status::kError;
    return out;
  };
  tune(job(4), options_, lab_, store_);
  lab_.prepared.clear();
  const Outcome got = tune(job(4), options_, lab_, store_);
  EXPECT_EQ(lab_.prepared.front(), "mood=good n=2");
  EXPECT_EQ(got.tried, 1U);
  EXPECT_EQ(got.best.tiling, "mood=good n=3");
  EXPECT_EQ(status_of(got, 1), Status::kCrash);
}

TEST_F(TunerTest, AnotherCompilerMakesTrialsOld) {
  times_around(1);
  lab_.compiler = "another 1.0";
  tune(job(3), options_, lab_, store_);
  lab_.compiler = compiler_of({}, cpu_info());
  EXPECT_EQ(tune(job(3), options_, lab_, store_).tried, 3U);
}

TEST_F(TunerTest, BudgetsEndIt) {
  times_around(30);
  options_.trials = 5;
  const Outcome few = tune(job(40), options_, lab_, store_);
  EXPECT_EQ(few.tried, 5U);
  EXPECT_EQ(few.planned, 5U);
  options_.fresh = true;
  options_.trials = {};
  options_.seconds = 0;
  const Outcome none = tune(job(40), options_, lab_, store_);
  EXPECT_EQ(none.stopped, "budget");
  EXPECT_EQ(none.best.quality, trials::Quality::kMissing);
}

TEST_F(TunerTest, WhatWasBuiltWithinTheBudgetIsMeasured) {
  times_around(3);
  options_.seconds = 0.02;
  options_.progress = [](const Standing&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return true;
  };
  const Outcome got = tune(job(16), options_, lab_, store_);
  EXPECT_EQ(got.stopped, "budget");
  EXPECT_LT(got.tried, 16U);
  ASSERT_EQ(got.known.size(), got.tried);
  for (const Known& one : got.known) EXPECT_EQ(one.trial.samples, 5);
}

TEST_F(TunerTest, StoppedItKeepsWhatWasMeasuredAndGoesOnLater) {
  times_around(3);
  int calls = 0;
  options_.progress = [&](const Standing&) { return ++calls < 60; };
  const Outcome got = tune(job(20), options_, lab_, store_);
  EXPECT_EQ(got.stopped, "interrupted");
  EXPECT_GT(store_.read("twice", cpu_info().name).trials.size(), 3U);
  options_.progress = {};
  const Outcome rest = tune(job(20), options_, lab_, store_);
  EXPECT_LT(rest.tried, 20U);
  EXPECT_EQ(rest.stopped, "");
  EXPECT_EQ(rest.best.tiling, "mood=good n=3");
}

TEST_F(TunerTest, ProgressTellsWhereItStands) {
  times_around(2);
  std::vector<Standing> seen;
  options_.progress = [&](const Standing& one) {
    seen.push_back(one);
    return true;
  };
  tune(job(20), options_, lab_, store_);
  EXPECT_EQ(seen.front().planned, 20U);
  EXPECT_GT(seen.front().estimate, 0);
  EXPECT_EQ(seen.back().tried, 20U);
  EXPECT_NEAR(seen.back().best_us, 20, 0.1);
  EXPECT_EQ(seen.back().best_tiling, "mood=good n=2");
}

TEST_F(TunerTest, TheLabNeverHoldsMoreThanABatchAndTheBest) {
  times_around(50);
  std::size_t most = 0;
  options_.progress = [&](const Standing&) {
    most = std::max(most, lab_.living());
    return true;
  };
  EXPECT_EQ(tune(job(60), options_, lab_, store_).best.tiling, "mood=good n=50");
  EXPECT_LE(most, 17U);
}

TEST_F(TunerTest, TheModelFindsItWithAFifth) {
  lab_.fate = [](std::string_view tiling) {
    const double away = std::log2(1 + n_of(tiling)) - std::log2(41);
    return FakeLab::Fate{.us = 20 * (1 + 0.2 * away * away)};
  };
  options_.strategy = Strategy::kModel;
  const Outcome got = tune(job(100), options_, lab_, store_);
  EXPECT_LE(got.tried, 20U);
  EXPECT_LT(got.best.us, 20.0 * 1.02);
}

TEST_F(TunerTest, FourRunsAgree) {
  lab_.fate = [](std::string_view tiling) {
    const int n = n_of(tiling);
    // A plateau of five that noise alone tells apart.
    return FakeLab::Fate{.us = n >= 10 && n < 15 ? 20 + 0.02 * n : 22.0 + n};
  };
  std::set<std::string> winners;
  for (int run = 0; run < 4; ++run) {
    trials::TrialStore own{""};
    winners.insert(tune(job(40), options_, lab_, own).best.tiling);
  }
  EXPECT_THAT(winners, SizeIs(1));
}

TEST_F(TunerTest, WhatTheVariantRefusesIsAnError) {
  problem_ = toy::problem("rows=501 cols=8");
  EXPECT_THROW(tune(job(3), options_, lab_, store_), Error);
  problem_ = toy::problem("rows=0 cols=8");
  EXPECT_THROW(tune(job(3), options_, lab_, store_), Error);
}

TEST(CandidatesOf, ListsWithPredictions) {
  const AnyProblem problem = toy::problem("rows=8 cols=8");
  const auto plain = candidates_of(toy::kMoody, problem.get(), cpu_info());
  ASSERT_THAT(plain, SizeIs(8));
  EXPECT_EQ(plain[0].tiling, "mood=slow n=2");
  const std::vector<double> us(8, 3.0);
  EXPECT_EQ(candidates_of(toy::kMoody, problem.get(), cpu_info(), us)[7].predicted_us, 3);
}

}  // namespace
}  // namespace einkorn::tune
