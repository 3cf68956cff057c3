// The model's search replayed on tilings that were all measured: what it tries of them, and how far
// that is from the fastest. Synthetic surfaces (surface.h) are kinder than kernels are.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/file.h"
#include "src/trials/trial.h"
#include "src/tune/session.h"
#include "tests/unit/source_dir.h"
#include "tests/unit/tune/surface.h"

namespace einkorn::tune {
namespace {

using testing::ElementsAre;
using testing::Pair;

/// Within so much of the fastest the search must come.
constexpr double kWithin = 0.02;
/// What a measurement is off by, either way. Of 44 tilings measured again on the device, 42 had
/// been off by no more than 0.54 %.
constexpr double kNoise = 0.005;
constexpr int kSeeds = 20;

/// Surfaces by op and number of rows, tokens or sequences. Tilings are in the order of their first
/// trials: the heuristic's choice, then by prediction, and more the model does not see of it. Of a
/// tiling that was measured again, as finalists are, the last trial counts.
void add_surfaces(const std::string& file, std::map<std::string, Surface>& out) {
  std::istringstream lines(read_file(test::source_dir() + "/bench/results/" + file).text);
  for (std::string line; std::getline(lines, line);) {
    const trials::Trial trial = trials::parse_line(line);
    ASSERT_EQ(trial.status, trials::Status::kOk) << trial.tiling;
    const std::string scale = trial.op.ends_with("_prefill")
                                  ? ""
                                  : " " + trial.problem.substr(0, trial.problem.find(' '));
    Surface& surface = out[trial.op + scale];
    const auto known = std::ranges::find(surface.candidates, trial.tiling, &Candidate::tiling);
    if (known != surface.candidates.end()) {
      surface.us[static_cast<std::size_t>(known - surface.candidates.begin())] = trial.median_us;
    } else {
      surface.candidates.push_back({trial.tiling, trial.predicted_us});
      surface.us.push_back(trial.median_us);
    }
  }
}

const std::map<std::string, Surface>& surfaces() {
  static const auto kAll = [] {
    std::map<std::string, Surface> out;
    add_surfaces("2026-11-28-tune-bulk_v1-exhaustive-h200.jsonl", out);
    add_surfaces("2026-11-29-tune-exhaustive-h200.jsonl", out);
    return out;
  }();
  return kAll;
}

/// By what share the fastest tiling that a tuning by default tries is slower than the fastest.
double loss(const Surface& surface, double noise, std::uint64_t seed) {
  const auto search = make_search(Strategy::kModel, surface.candidates, 0);
  Rng random(seed);
  double best = std::numeric_limits<double>::max();
  std::size_t left = default_trials(Strategy::kModel, surface.us.size());
  while (left > 0) {
    for (const std::size_t index : search->propose(std::min(kModelBatch, left))) {
      best = std::min(best, surface.us[index]);
      search->tell(index, surface.us[index] * (1 + noise * (2 * random.uniform() - 1)));
      --left;
    }
  }
  return best / surface.best() - 1;
}

/// The same tilings without a random third; the heuristic's choice stays.
Surface thinned(const Surface& surface, std::uint64_t seed) {
  Rng random(seed);
  std::vector<std::size_t> left(surface.us.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  while (left.size() > surface.us.size() - surface.us.size() / 3) {
    const auto at = 1 + random.next() % (left.size() - 1);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
  }
  Surface out;
  for (const std::size_t index : left) {
    out.candidates.push_back(surface.candidates[index]);
    out.us.push_back(surface.us[index]);
  }
  return out;
}

/// The same tilings with another one as the heuristic's choice.
Surface begun_at(Surface surface, std::size_t index) {
  const auto to_front = [index](auto& list) {
    const auto at = list.begin() + static_cast<std::ptrdiff_t>(index);
    std::rotate(list.begin(), at, at + 1);
  };
  to_front(surface.candidates);
  to_front(surface.us);
  return surface;
}

TEST(MeasuredSearch, TheSurfacesAreThoseOfTheFiles) {
  std::vector<std::pair<std::string, std::size_t>> sizes;
  for (const auto& [name, surface] : surfaces()) sizes.emplace_back(name, surface.us.size());
  EXPECT_THAT(sizes, ElementsAre(Pair("gdn_prefill", 27), Pair("kda_decode seqs=16", 24),
                                 Pair("kda_prefill", 36), Pair("rms_norm rows=16384", 48),
                                 Pair("rms_norm rows=2048", 26), Pair("silu_mul rows=2048", 66)));
}

TEST(MeasuredSearch, AFifthOfTheTilingsHasOneWithinTwoPercentOfTheBest) {
  for (const auto& [name, surface] : surfaces()) {
    EXPECT_LE(loss(surface, 0, 0), kWithin) << name;
  }
}

TEST(MeasuredSearch, NoiseDoesNotChangeThat) {
  for (const auto& [name, surface] : surfaces()) {
    int found = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      found += loss(surface, kNoise, seed) <= kWithin ? 1 : 0;
    }
    EXPECT_GE(found, kSeeds * 95 / 100) << name;
  }
}

// The tilings above were looked at when the search was made; these spaces were made by chance.

TEST(MeasuredSearch, FindsItInNineOfTenSpacesWithAThirdLeftOut) {
  int found = 0;
  int all = 0;
  for (const auto& [name, surface] : surfaces()) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed, ++all) {
      found += loss(thinned(surface, seed), kNoise, seed) <= kWithin ? 1 : 0;
    }
  }
  RecordProperty("found", std::to_string(found));
  EXPECT_GE(found, all * 90 / 100) << "of " << all;
}

// Begun beside the best or far from it, whatever the heuristic knows. Counted by candidates, it is
// 91 %; the largest space, silu_mul's, has its six good ones of 66 in 81 %.
TEST(MeasuredSearch, FindsItFromNearlyAnywhere) {
  std::size_t found = 0;
  std::size_t all = 0;
  for (const auto& [name, surface] : surfaces()) {
    for (std::size_t first = 0; first < surface.us.size(); ++first, ++all) {
      found += loss(begun_at(surface, first), kNoise, first) <= kWithin ? 1 : 0;
    }
  }
  EXPECT_GE(found, all * 88 / 100) << "of " << all;
  RecordProperty("found", std::to_string(found));
}

}  // namespace
}  // namespace einkorn::tune
