#include "src/tune/race.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/measure/bench.h"

namespace einkorn::tune {
namespace {

// What the ratio of two medians of 31 samples repeats within.
constexpr double kClose = 0.001;

}  // namespace

void Race::add(std::size_t id, std::string tiling, trials::Resources resources) {
  runners_.push_back({id, std::move(tiling), resources});
}

Race::Runner& Race::runner(std::size_t id) {
  const auto found = std::ranges::find(runners_, id, &Runner::id);
  EK_ICHECK(found != runners_.end(), fmt::format("race: no candidate {}", id));
  return *found;
}

bool Race::is_racing(std::size_t id) const {
  const auto found = std::ranges::find(runners_, id, &Runner::id);
  return found != runners_.end() && found->racing;
}

int Race::samples_of(std::size_t id) const {
  const auto found = std::ranges::find(runners_, id, &Runner::id);
  return found == runners_.end() ? 0 : static_cast<int>(found->samples.size());
}

trials::Standing Race::standing(const Runner& runner) const {
  const measure::Timing timing = measure::summarize(runner.samples);
  return {runner.tiling, timing.median_us, timing.q1_us, timing.q3_us, runner.resources};
}

std::vector<Race::Runner*> Race::racing() {
  std::vector<Runner*> out;
  for (Runner& one : runners_) {
    if (one.racing) out.push_back(&one);
  }
  return out;
}

bool Race::is_over() const {
  const auto left = std::ranges::count(runners_, true, &Runner::racing);
  return stopped_ || left == 0 || target_ >= options_.last || (left == 1 && rounds_ >= 2);
}

/// Whether a tie hangs on a thousandth: more samples then make independent races agree. Not where
/// the noise is wider than the tie itself.
bool Race::is_close() const {
  const auto first = leader();
  if (!first) return false;
  const double best = first->standing.median_us;
  return std::ranges::any_of(runners_, [&](const Runner& one) {
    if (!one.racing || one.samples.empty()) return false;
    const trials::Standing its = standing(one);
    const bool steady = its.q3_us - its.q1_us < trials::kNoise * its.median_us;
    return steady && std::abs(its.median_us / best - 1 - trials::kNoise) < kClose;
  });
}

std::optional<Race::Step> Race::next() {
  if (target_ == 0) target_ = std::min(options_.first, options_.last);
  for (;;) {
    const std::vector<Runner*> left = racing();
    if (stopped_ || left.empty()) return std::nullopt;
    std::size_t fewest = left[0]->samples.size();
    for (const Runner* one : left) fewest = std::min(fewest, one->samples.size());
    if (fewest < static_cast<std::size_t>(target_)) {
      // The pass that goes on now begins with another candidate than the one before.
      for (std::size_t i = 0; i < left.size(); ++i) {
        const Runner* one = left[(fewest + i) % left.size()];
        if (one->samples.size() == fewest) return Step{one->id, 1};
      }
    }
    end_round();
    if (target_ >= options_.last && options_.most > options_.last && is_close()) {
      options_.last = options_.most;
    }
    if (is_over()) return std::nullopt;
    target_ = std::min(2 * target_, options_.last);
  }
}

void Race::end_round() {
  ++rounds_;
  std::vector<std::pair<trials::Standing, Runner*>> left;
  for (Runner* one : racing()) left.emplace_back(standing(*one), one);
  std::ranges::sort(left, [](const auto& a, const auto& b) {
    return std::pair(a.first.median_us, a.first.tiling) <
           std::pair(b.first.median_us, b.first.tiling);
  });
  const trials::Standing best = left.front().first;
  for (std::size_t rank = 1; rank < left.size(); ++rank) {
    const trials::Standing& one = left[rank].first;
    const bool apart = one.q1_us > best.q3_us;
    const bool slower_half = 2 * rank >= left.size();
    const bool may_win =
        trials::is_tied(one, best) || one.median_us <= best.median_us * (1 + kUndecided);
    if (!may_win && (apart || slower_half)) left[rank].second->racing = false;
  }
}

void Race::accept(std::size_t id, std::span<const double> us) {
  Runner& one = runner(id);
  one.samples.insert(one.samples.end(), us.begin(), us.end());
}

void Race::fail(std::size_t id) {
  Runner& one = runner(id);
  one.racing = false;
  one.failed = true;
}

std::vector<Race::Result> Race::results() const {
  std::vector<Result> out;
  for (const Runner& one : runners_) {
    if (one.failed || one.samples.empty()) continue;
    out.push_back({one.id, standing(one), static_cast<int>(one.samples.size()), !one.racing});
  }
  return out;
}

std::optional<std::size_t> Race::winner() const {
  std::vector<trials::Standing> standings;
  std::vector<std::size_t> ids;
  for (const Result& one : results()) {
    if (one.dropped) continue;
    standings.push_back(one.standing);
    ids.push_back(one.id);
  }
  const auto winner = trials::pick_winner(standings);
  return winner ? std::optional(ids[*winner]) : std::nullopt;
}

std::optional<Race::Result> Race::leader() const {
  const std::vector<Result> all = results();
  const auto best =
      std::ranges::min_element(all, {}, [](const Result& one) { return one.standing.median_us; });
  return best == all.end() ? std::nullopt : std::optional(*best);
}

}  // namespace einkorn::tune
