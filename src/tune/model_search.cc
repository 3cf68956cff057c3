#include "src/tune/model_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "src/tune/features.h"
#include "src/tune/surrogate.h"

namespace einkorn::tune {
namespace {

double distance_squared(const std::vector<double>& a, const std::vector<double>& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out += (a[i] - b[i]) * (a[i] - b[i]);
  return out;
}

/// By how much the guess is expected to fall below `best`, where it does.
double expected_improvement(const Guess& guess, double best) {
  const double gain = best - guess.mean;
  if (guess.deviation < 1e-12) return std::max(gain, 0.0);
  const double z = gain / guess.deviation;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  return gain * below + guess.deviation * density;
}

}  // namespace

ModelSearch::ModelSearch(std::span<const Candidate> candidates)
    : features_(features(candidates)),
      order_(by_prediction(candidates)),
      seen_(candidates.size(), false),
      is_better_predicted_(is_better_predicted(candidates)) {}

bool ModelSearch::is_better_predicted(std::span<const Candidate> candidates) const {
  if (order_.size() < 2) return false;
  const double best = candidates[order_[1]].predicted_us;
  const double heuristic = candidates[order_[0]].predicted_us;
  return best > 0 && (!(heuristic > 0) || best < heuristic * (1 - kPredictionsTied));
}

std::size_t ModelSearch::first_points() const {
  const std::size_t columns = features_.empty() ? 0 : features_[0].size();
  return std::clamp<std::size_t>(1 + columns / 2, 2, 4);
}

std::size_t ModelSearch::farthest() const {
  std::size_t out = seen_.size();
  double largest = -1;
  for (const std::size_t i : order_) {
    if (seen_[i]) continue;
    double nearest = std::numeric_limits<double>::max();
    for (std::size_t j = 0; j < seen_.size(); ++j) {
      if (seen_[j]) nearest = std::min(nearest, distance_squared(features_[i], features_[j]));
    }
    if (nearest > largest) {
      largest = nearest;
      out = i;
    }
  }
  return out;
}

std::size_t ModelSearch::most_promising(std::vector<Told>& guessed) const {
  double best = std::numeric_limits<double>::max();
  double worst = std::numeric_limits<double>::lowest();
  std::vector<Told> points = told_;
  points.insert(points.end(), guessed.begin(), guessed.end());
  for (const Told& one : points) {
    if (!one.log_us) continue;
    best = std::min(best, *one.log_us);
    worst = std::max(worst, *one.log_us);
  }
  if (best > worst) return farthest();  // nothing but failures so far
  std::vector<std::vector<double>> rows;
  std::vector<double> values;
  for (const Told& one : points) {
    rows.push_back(features_[one.index]);
    values.push_back(one.log_us.value_or(worst));
  }
  const Surrogate model(std::move(rows), values);
  std::size_t chosen = seen_.size();
  Guess its;
  double largest = -1;
  for (const std::size_t i : order_) {
    if (seen_[i]) continue;
    const Guess guess = model.at(features_[i]);
    const double gain = expected_improvement(guess, best);
    if (gain > largest) {
      largest = gain;
      chosen = i;
      its = guess;
    }
  }
  if (chosen < seen_.size()) guessed.push_back({chosen, its.mean});
  return chosen;
}

std::optional<std::size_t> ModelSearch::next(std::vector<Told>& guessed) {
  if (order_.empty()) return std::nullopt;
  std::size_t index = seen_.size();
  if (!seen_[order_[0]]) {
    index = order_[0];
  } else if (is_better_predicted_ && !seen_[order_[1]]) {
    index = order_[1];
  } else {
    index = told_.size() + guessed.size() < first_points() ? farthest() : most_promising(guessed);
  }
  if (index >= seen_.size()) return std::nullopt;
  seen_[index] = true;
  return index;
}

std::vector<std::size_t> ModelSearch::propose(std::size_t count) {
  std::vector<std::size_t> out;
  std::vector<Told> guessed;
  while (out.size() < count) {
    const auto index = next(guessed);
    if (!index) break;
    out.push_back(*index);
  }
  return out;
}

void ModelSearch::tell(std::size_t index, std::optional<double> us) {
  seen_[index] = true;
  const auto value = us && *us > 0 ? std::optional(std::log(*us)) : std::nullopt;
  // The last answer about a candidate counts.
  const auto known = std::ranges::find(told_, index, &Told::index);
  if (known != told_.end()) {
    known->log_us = value;
  } else {
    told_.push_back({index, value});
  }
}

}  // namespace einkorn::tune
