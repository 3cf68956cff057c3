#include "src/tune/search.h"

#include <algorithm>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "src/tune/features.h"
#include "src/tune/surrogate.h"
#include "tests/unit/tune/surface.h"

namespace einkorn::tune {
namespace {

/// Trials until one within 2 % of the best was measured.
std::size_t trials_needed(const Surface& surface, Strategy strategy, std::uint64_t seed,
                          std::size_t batch) {
  const auto search = make_search(strategy, surface.candidates, seed);
  Rng random(seed);
  std::size_t trials = 0;
  for (;;) {
    const auto proposed = search->propose(batch);
    if (proposed.empty()) return trials;
    for (const std::size_t index : proposed) {
      ++trials;
      if (surface.us[index] <= 1.02 * surface.best()) return trials;
      search->tell(index, measured(surface.us[index], random));
    }
  }
}

std::vector<std::size_t> all_of(Search& search, std::size_t batch) {
  std::vector<std::size_t> out;
  for (auto some = search.propose(batch); !some.empty(); some = search.propose(batch)) {
    for (const std::size_t index : some) {
      out.push_back(index);
      search.tell(index, 1 + static_cast<double>(index % 7));
    }
  }
  return out;
}

/// The model costs the cube of what it was told; a few are enough to see that it ends.
Surface small_surface() {
  Surface out = make_surface(3);
  out.candidates.resize(40);
  out.us.resize(40);
  return out;
}

TEST(Search, EachProposesEveryCandidateOnceTheHeuristicsFirst) {
  const Surface surface = small_surface();
  for (const Strategy strategy : {Strategy::kExhaustive, Strategy::kRandom, Strategy::kModel}) {
    const auto order = all_of(*make_search(strategy, surface.candidates, 1), 9);
    EXPECT_EQ(order.size(), surface.candidates.size()) << name(strategy);
    EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), order.size());
    EXPECT_EQ(order.front(), 0U);
    EXPECT_EQ(all_of(*make_search(strategy, surface.candidates, 1), 9), order);
  }
}

TEST(Search, RandomFollowsItsSeed) {
  const Surface surface = make_surface(3);
  const auto order = all_of(*make_search(Strategy::kRandom, surface.candidates, 1), 4);
  EXPECT_NE(all_of(*make_search(Strategy::kRandom, surface.candidates, 2), 4), order);
}

TEST(Search, WhatIsKnownIsNotProposed) {
  const Surface surface = small_surface();
  for (const Strategy strategy : {Strategy::kExhaustive, Strategy::kRandom, Strategy::kModel}) {
    const auto search = make_search(strategy, surface.candidates, 1);
    search->tell(0, 3.0);
    search->tell(5, std::nullopt);
    const auto order = all_of(*search, 10);
    EXPECT_EQ(order.size(), surface.candidates.size() - 2);
    EXPECT_EQ(std::ranges::count(order, 0U) + std::ranges::count(order, 5U), 0);
  }
}

TEST(Search, PredictionsOrderTheList) {
  const std::vector<Candidate> list{{"a=1", 9}, {"a=2", 0}, {"a=3", 5}, {"a=4", 2}, {"a=5", 0}};
  EXPECT_EQ(by_prediction(list), (std::vector<std::size_t>{0, 3, 2, 1, 4}));
  EXPECT_EQ(make_search(Strategy::kExhaustive, list, 1)->propose(9),
            (std::vector<std::size_t>{0, 3, 2, 1, 4}));
  EXPECT_EQ(make_search(Strategy::kModel, list, 1)->propose(2), (std::vector<std::size_t>{0, 3}));
}

TEST(ModelSearch, PredictionsThatTellNothingApartAreNotFollowed) {
  const std::vector<Candidate> list{{"a=1", 5}, {"a=2", 4.99}, {"a=8", 5}, {"a=4", 5}};
  EXPECT_EQ(make_search(Strategy::kModel, list, 1)->propose(2), (std::vector<std::size_t>{0, 2}));
}

TEST(Search, SmallAndStrangeSpacesWork) {
  for (const Strategy strategy : {Strategy::kExhaustive, Strategy::kRandom, Strategy::kModel}) {
    EXPECT_TRUE(make_search(strategy, {}, 1)->propose(3).empty());
    const std::vector<Candidate> one{{"", 0}};
    EXPECT_EQ(make_search(strategy, one, 1)->propose(3), std::vector<std::size_t>{0});
    const std::vector<Candidate> same{{"a=x", 0}, {"a=x", 0}, {"b=1", 0}};
    EXPECT_EQ(all_of(*make_search(strategy, same, 1), 1).size(), 3U);
  }
}

TEST(Search, FailuresDoNotStopIt) {
  const Surface surface = make_surface(4);
  const auto search = make_search(Strategy::kModel, surface.candidates, 1);
  for (int i = 0; i < 10; ++i) {
    const auto some = search->propose(2);
    ASSERT_EQ(some.size(), 2U);
    search->tell(some[0], std::nullopt);
    search->tell(some[1], i < 5 ? std::nullopt : std::optional(surface.us[some[1]]));
  }
}

TEST(ModelSearch, FindsOneWithinTwoPercentInAFifthOfTheTrials) {
  constexpr int kSurfaces = 40;
  int found = 0;
  double share = 0;
  for (std::uint64_t seed = 1; seed <= kSurfaces; ++seed) {
    const Surface surface = make_surface(seed);
    const std::size_t needed = trials_needed(surface, Strategy::kModel, seed, 2);
    found += needed <= surface.us.size() / 5 ? 1 : 0;
    share += static_cast<double>(needed) / static_cast<double>(surface.us.size()) / kSurfaces;
  }
  RecordProperty("mean_share_of_trials", std::to_string(share));
  EXPECT_GE(found, kSurfaces - 1) << "mean share of trials: " << share;
  EXPECT_LT(share, 0.07);
}

TEST(ModelSearch, IsBetterThanChance) {
  std::size_t model = 0;
  std::size_t random = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Surface surface = make_surface(seed);
    model += trials_needed(surface, Strategy::kModel, seed, 2);
    random += trials_needed(surface, Strategy::kRandom, seed, 2);
  }
  EXPECT_LT(2 * model, random);
}

TEST(DefaultTrials, AreAllOfAFewAndAFifthOfMany) {
  EXPECT_EQ(default_trials(Strategy::kModel, 8), 8U);
  EXPECT_EQ(default_trials(Strategy::kModel, 20), 5U);
  EXPECT_EQ(default_trials(Strategy::kModel, 100), 20U);
  EXPECT_EQ(default_trials(Strategy::kExhaustive, 100), 100U);
  EXPECT_EQ(find_strategy("model"), Strategy::kModel);
  EXPECT_FALSE(find_strategy("annealing"));
}

TEST(Features, NumbersAreLogarithmsAndWordsAreIndicators) {
  const std::vector<Candidate> list{{"n=1 w=a c=7", 0}, {"n=4 w=b c=7", 0}, {"n=16 w=a c=7", 0}};
  const auto rows = features(list);
  ASSERT_EQ(rows[0].size(), 3U);  // n, and w as two columns; c never changes
  EXPECT_DOUBLE_EQ(rows[0][0], 0);
  EXPECT_DOUBLE_EQ(rows[1][0], 0.5);
  EXPECT_DOUBLE_EQ(rows[2][0], 1);
  EXPECT_EQ(rows[0][1], rows[2][1]);
  EXPECT_NE(rows[0][1], rows[1][1]);
}

TEST(Surrogate, GoesThroughItsPointsAndIsUnsureElsewhere) {
  const std::vector<double> values{1.0, 2.0, 1.5};
  const Surrogate model({{0.0}, {0.5}, {1.0}}, values);
  EXPECT_NEAR(model.at({0.5}).mean, 2.0, 0.05);
  EXPECT_GT(model.at({0.25}).deviation, model.at({0.5}).deviation);
  const std::vector<double> flat{3.0, 3.0};
  EXPECT_NEAR(Surrogate({{0.0}, {1.0}}, flat).at({0.3}).mean, 3.0, 1e-6);
}

TEST(Surrogate, WhatColumnsDoAddsUp) {
  const std::vector<double> values{0.0, -0.2, -0.2};
  const Surrogate model({{0, 0}, {1, 0}, {0, 1}}, values);
  EXPECT_LT(model.at({1, 1}).mean, -0.21);
}

TEST(Surrogate, TwoEqualTimesDoNotSayThatAllAre) {
  const std::vector<double> values{3.0, 3.0};
  EXPECT_GT(Surrogate({{0.0}, {1.0}}, values).at({0.5}).deviation, 0.001);
}

}  // namespace
}  // namespace einkorn::tune
