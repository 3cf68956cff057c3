#include "src/trials/lookup.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "tests/unit/file_tree.h"
#include "tests/unit/the.h"
#include "tests/unit/trials/trials.h"

namespace einkorn::trials {
namespace {

using test::the;

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): out of memory ends it all
const std::vector<ProblemKey> kKeys{
    {"rows", true, "4"}, {"cols", true, "4"}, {"dtype", false, "bf16"}, {"pad", true, "0"}};

Query query(std::string problem = "rows=8 cols=4") {
  return {.op = "twice",
          .variant = "twice/cpu/toy_v1",
          .problem = std::move(problem),
          .keys = kKeys,
          .device = "Toy GPU 80GB",
          .cc = 90,
          .sm_count = 132,
          .source = "s1",
          .mode = "graph",
          .l2 = "cold"};
}

Reading reading(std::vector<Trial> trials) {
  Reading out;
  out.trials = std::move(trials);
  out.lines.assign(out.trials.size(), 1);
  return out;
}

bool any(std::string_view) { return true; }

Found find(std::vector<Trial> trials, const Query& wanted = query()) {
  return look_up(reading(std::move(trials)), {}, wanted, any);
}

TEST(Distance, IsInOctaves) {
  EXPECT_EQ(distance("rows=8 cols=4", "rows=8 cols=4", kKeys), 0);
  EXPECT_EQ(distance("rows=8 cols=4", "rows=16 cols=4", kKeys), 1);
  EXPECT_DOUBLE_EQ(the(distance("rows=8 cols=4", "rows=16 cols=8", kKeys)), std::sqrt(2));
  EXPECT_EQ(distance("rows=8 cols=4", "cols=4 rows=8 dtype=bf16", kKeys), 0);  // the default
  EXPECT_FALSE(distance("rows=8 cols=4", "rows=8 cols=4 dtype=f32", kKeys));
  EXPECT_FALSE(distance("rows=8 cols=4", "rows=8 cols=4 pad=1", kKeys));  // 0 to 1: no octaves
  EXPECT_FALSE(distance("rows=8 cols=4", "rows=8 cols=4 strange=1", kKeys));
  EXPECT_FALSE(distance("rows=8 cols=4", "rows=-8 cols=4", kKeys));
}

TEST(LookUp, ExactBeforeNearest) {
  const Found found = find({toy_trial("a=1", 3, "rows=16 cols=4"), toy_trial("a=2", 9)});
  EXPECT_EQ(found.quality, Quality::kExact);
  EXPECT_EQ(found.tiling, "a=2");
  EXPECT_EQ(found.origin, "trials");
  EXPECT_EQ(found.us, 9);
  EXPECT_EQ(found.distance, 0);
}

TEST(LookUp, NearestByDistanceWithinTwoOctaves) {
  const Found found =
      find({toy_trial("a=1", 3, "rows=32 cols=4"), toy_trial("a=2", 3, "rows=16 cols=4"),
            toy_trial("a=3", 3, "rows=128 cols=4")});
  EXPECT_EQ(found.quality, Quality::kNearest);
  EXPECT_EQ(found.tiling, "a=2");
  EXPECT_EQ(found.distance, 1);
  EXPECT_EQ(find({toy_trial("a=1", 3, "rows=32 cols=4")}).distance, 2);
  EXPECT_EQ(find({toy_trial("a=1", 3, "rows=33 cols=4")}).quality, Quality::kMissing);
  EXPECT_EQ(find({}).quality, Quality::kMissing);
}

TEST(LookUp, EqualDistancesGoByTheProblemsText) {
  std::vector<Trial> trials{toy_trial("a=1", 3, "rows=4 cols=4"),
                            toy_trial("a=2", 3, "rows=16 cols=4"),
                            toy_trial("a=3", 3, "rows=8 cols=8")};
  std::ranges::sort(trials, {}, &Trial::tiling);
  do {
    EXPECT_EQ(find(trials).tiling, "a=2");  // "rows=16 ..." sorts first
  } while (std::ranges::next_permutation(trials, {}, &Trial::tiling).found);
}

TEST(LookUp, AnotherSourceModeOrVariantIsNotUsed) {
  for (const auto change :
       {+[](Trial& t) { t.source = "s2"; }, +[](Trial& t) { t.mode = "eager"; },
        +[](Trial& t) { t.l2 = "warm"; }, +[](Trial& t) { t.variant = "twice/cpu/toy_v2"; }}) {
    Trial trial = toy_trial("a=1", 3);
    change(trial);
    EXPECT_EQ(find({trial}).quality, Quality::kMissing);
  }
  Query unknown = query();
  unknown.source.clear();
  Trial trial = toy_trial("a=1", 3);
  trial.source.clear();
  EXPECT_EQ(find({trial}, unknown).quality, Quality::kMissing);
}

TEST(LookUp, AnotherDeviceOfTheArchIsNearestAtBest) {
  Trial other = toy_trial("a=1", 3);
  other.place.device = "Toy GPU 40GB";
  const Found found = find({other});
  EXPECT_EQ(found.quality, Quality::kNearest);
  EXPECT_EQ(found.device, "Toy GPU 40GB");
  // A farther problem of the same device comes first.
  EXPECT_EQ(find({other, toy_trial("a=2", 3, "rows=32 cols=4")}).tiling, "a=2");
  Trial slice = toy_trial("a=1", 3);
  slice.place.sm_count = 16;
  EXPECT_EQ(find({slice}).quality, Quality::kNearest);
}

TEST(LookUp, WhatShipsServesItsDeviceOnly) {
  Trial other = toy_trial("a=1", 3);
  other.place.device = "Toy GPU 40GB";
  EXPECT_EQ(look_up({}, reading({other}), query(), any).quality, Quality::kMissing);
}

TEST(LookUp, NeverCrossesArchitectures) {
  Trial other = toy_trial("a=1", 3);
  other.place.cc = 80;
  EXPECT_EQ(find({other}).quality, Quality::kMissing);
  Trial cpu = toy_trial("a=1", 3);
  cpu.place = {.device = "CPU A", .cc = 0, .sm_count = 8, .driver = "", .compiler = ""};
  Query on_cpu = query();
  on_cpu.cc = 0;
  on_cpu.sm_count = 8;
  on_cpu.device = "CPU A";
  EXPECT_EQ(find({cpu}, on_cpu).quality, Quality::kExact);
  on_cpu.device = "CPU B";
  EXPECT_EQ(find({cpu}, on_cpu).quality, Quality::kMissing);
}

TEST(LookUp, TheUsersTrialsWinOverBundledOnes) {
  const Reading bundled = reading({toy_trial("a=1", 1)});
  EXPECT_EQ(look_up({}, bundled, query(), any).origin, "bundled");
  const Found found = look_up(reading({toy_trial("a=2", 5)}), bundled, query(), any);
  EXPECT_EQ(found.tiling, "a=2");
  EXPECT_EQ(found.origin, "trials");
  // Only where they are as near.
  const Found exact =
      look_up(reading({toy_trial("a=2", 5, "rows=16 cols=4")}), bundled, query(), any);
  EXPECT_EQ(exact.tiling, "a=1");
}

TEST(LookUp, AFailedOneIsNeverChosenHoweverFastItWasBefore) {
  for (const Status status : {Status::kWrong, Status::kCrash, Status::kHang}) {
    std::vector<Trial> trials{toy_trial("a=1", 1), failed_trial("a=1", status), toy_trial("a=1", 1),
                              toy_trial("a=2", 5)};
    EXPECT_EQ(find(trials).tiling, "a=2") << name(status);
  }
  // An error may pass: a compiler that was missing.
  EXPECT_EQ(find({failed_trial("a=1", Status::kError), toy_trial("a=1", 1)}).tiling, "a=1");
  EXPECT_EQ(find({toy_trial("a=1", 1), failed_trial("a=1", Status::kError)}).quality,
            Quality::kMissing);
}

TEST(LookUp, WhatDoesNotFitGivesWayToTheNext) {
  const auto fits = [](std::string_view tiling) { return tiling == "a=3"; };
  const Reading user =
      reading({toy_trial("a=1", 1), toy_trial("a=2", 2), toy_trial("a=3", 3, "rows=16 cols=4")});
  const Found found = look_up(user, {}, query(), fits);
  EXPECT_EQ(found.tiling, "a=3");
  EXPECT_EQ(found.quality, Quality::kNearest);
}

TEST(PickWinner, TakesTheFastestBeyondNoise) {
  const std::vector<Standing> list{{"a=1", 10, 9.99, 10.01, {}}, {"a=2", 9.8, 9.79, 9.81, {}}};
  EXPECT_EQ(pick_winner(list), 1U);
  EXPECT_FALSE(pick_winner({}));
}

TEST(PickWinner, WithinNoiseTheCheapestWinsWhateverTheOrder) {
  std::vector<Standing> list{
      {"a=1", 10.00, 9.99, 10.01, {.threads = 256, .registers = 64, .smem = 1024}},
      {"a=2", 10.05, 10.04, 10.06, {.threads = 256, .registers = 32, .smem = 1024}},
      {"a=3", 10.09, 10.08, 10.10, {.threads = 128, .registers = 32, .smem = 1024}},
      {"a=4", 10.08, 10.07, 10.09, {.threads = 128, .registers = 32, .smem = 1024}},
      {"a=5", 10.20, 10.19, 10.21, {}},  // 2 % slower and far apart
      {"a=6", 10.30, 10.00, 10.40, {.threads = 1, .registers = 1, .smem = 2048}},  // overlaps
      {"a=7", 11.00, 9.00, 12.00, {}},  // too slow for any quartiles
  };
  std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): repeatable
  for (int i = 0; i < 100; ++i) {
    std::ranges::shuffle(list, random);
    EXPECT_EQ(list[the(pick_winner(list))].tiling, "a=3");
  }
}

TEST(Tuned, ReadsTheUsersStore) {
  const test::FileTree tree;
  const test::Variable named("EINKORN_TRIALS", tree.path("mine"));
  EXPECT_EQ(tuned(query(), any).quality, Quality::kMissing);
  user_store(true).add(toy_trial("a=1", 3));
  EXPECT_EQ(tuned(query(), any).tiling, "a=1");
}

}  // namespace
}  // namespace einkorn::trials
