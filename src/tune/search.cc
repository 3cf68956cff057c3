#include "src/tune/search.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include <einkorn/op.h>

#include "src/tune/model_search.h"

namespace einkorn::tune {
namespace {

constexpr std::array<std::string_view, 3> kNames{"exhaustive", "random", "model"};

/// An order that answers do not change.
class ListSearch final : public Search {
 public:
  explicit ListSearch(std::vector<std::size_t> order)
      : order_(std::move(order)), seen_(order_.size(), false) {}

  std::vector<std::size_t> propose(std::size_t count) override {
    std::vector<std::size_t> out;
    for (; next_ < order_.size() && out.size() < count; ++next_) {
      if (seen_[order_[next_]]) continue;
      seen_[order_[next_]] = true;
      out.push_back(order_[next_]);
    }
    return out;
  }

  void tell(std::size_t index, std::optional<double>) override { seen_[index] = true; }

 private:
  std::vector<std::size_t> order_;
  std::vector<bool> seen_;
  std::size_t next_ = 0;
};

/// The heuristic's choice first, the rest shuffled (Fisher and Yates).
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng random(seed);
  for (std::size_t i = count; i > 2; --i) {
    const auto other = 1 + static_cast<std::size_t>(random.next() % (i - 1));
    std::swap(order[i - 1], order[other]);
  }
  return order;
}

}  // namespace

std::string_view name(Strategy strategy) { return kNames[static_cast<std::size_t>(strategy)]; }

std::optional<Strategy> find_strategy(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Strategy>(found - kNames.begin());
}

std::vector<std::size_t> by_prediction(std::span<const Candidate> candidates) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() < 2) return order;
  std::stable_sort(order.begin() + 1, order.end(), [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t i) {
      const double us = candidates[i].predicted_us;
      return us > 0 ? us : std::numeric_limits<double>::max();
    };
    return key(a) < key(b);
  });
  return order;
}

std::unique_ptr<Search> make_search(Strategy strategy, std::span<const Candidate> candidates,
                                    std::uint64_t seed) {
  switch (strategy) {
    case Strategy::kExhaustive:
      break;
    case Strategy::kRandom:
      return std::make_unique<ListSearch>(shuffled(candidates.size(), seed));
    case Strategy::kModel:
      return std::make_unique<ModelSearch>(candidates);
  }
  return std::make_unique<ListSearch>(by_prediction(candidates));
}

std::size_t default_trials(Strategy strategy, std::size_t count) {
  if (strategy != Strategy::kModel || count <= kSmall) return count;
  return std::max(kFewest, count / 5);
}

}  // namespace einkorn::tune
