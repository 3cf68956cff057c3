#pragma once

// Which candidates to try, in which order. Pure: it proposes, somebody else measures.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace einkorn::tune {

/// A tiling that may be tried. The first of a list is the heuristic's choice.
struct Candidate {
  std::string tiling;       ///< printed: "lanes=128 items=4"
  double predicted_us = 0;  ///< 0: no prediction
};

/// Where all candidates are known before: exhaustive tries all; random an arbitrary part of them;
/// model those that a regression over the tilings' fields expects most of.
enum class Strategy : std::uint8_t { kExhaustive, kRandom, kModel };
std::string_view name(Strategy strategy);
/// Nothing for an unknown name.
std::optional<Strategy> find_strategy(std::string_view name);

class Search {
 public:
  virtual ~Search() = default;

  /// Up to `count` candidates by index, none of them proposed or told of before. Empty: none left.
  virtual std::vector<std::size_t> propose(std::size_t count) = 0;

  /// What one took, also one that was not proposed; nothing: it failed.
  virtual void tell(std::size_t index, std::optional<double> us) = 0;
};

/// Every strategy begins with the heuristic's choice, and gives the same proposals for the same
/// candidates, seed and answers. `candidates` must outlive the search.
std::unique_ptr<Search> make_search(Strategy strategy, std::span<const Candidate> candidates,
                                    std::uint64_t seed);

/// The heuristic's choice, then by predicted time; those without a prediction keep their order, at
/// the end.
std::vector<std::size_t> by_prediction(std::span<const Candidate> candidates);

/// Predictions closer than this do not tell candidates apart: where all move the same bytes, the
/// first of them by prediction is one like any other.
inline constexpr double kPredictionsTied = 0.01;

/// How many of `count` candidates a budget of trials is by default: all of up to kSmall, else, with
/// the model, a fifth, but not fewer than kFewest.
std::size_t default_trials(Strategy strategy, std::size_t count);
inline constexpr std::size_t kSmall = 12;
inline constexpr std::size_t kFewest = 5;

}  // namespace einkorn::tune
