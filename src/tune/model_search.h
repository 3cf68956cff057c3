#pragma once

#include <vector>

#include "src/tune/search.h"

namespace einkorn::tune {

/// Bayesian optimisation over a list: a Gaussian process of the logarithm of time over the
/// tilings' features, and the candidate of the largest expected improvement next (Jones, Schonlau
/// and Welch 1998). The first few are the heuristic's choice, the best predicted one where that is
/// not as good as the heuristic's, and those farthest from all before. A failed candidate counts as
/// the slowest seen, which keeps the search away from its neighbours. Of several proposals at once
/// each takes those before as measured as guessed.
class ModelSearch final : public Search {
 public:
  explicit ModelSearch(std::span<const Candidate> candidates);

  std::vector<std::size_t> propose(std::size_t count) override;
  void tell(std::size_t index, std::optional<double> us) override;

 private:
  struct Told {
    std::size_t index;
    std::optional<double> log_us;
  };

  bool is_better_predicted(std::span<const Candidate> candidates) const;
  std::size_t first_points() const;
  std::size_t farthest() const;
  /// The largest expected improvement over what was told and `guessed`; adds its own guess.
  std::size_t most_promising(std::vector<Told>& guessed) const;
  std::optional<std::size_t> next(std::vector<Told>& guessed);

  std::vector<std::vector<double>> features_;
  std::vector<std::size_t> order_;  ///< by prediction
  std::vector<bool> seen_;
  std::vector<Told> told_;
  bool is_better_predicted_ = false;  ///< another one than the heuristic's choice
};

}  // namespace einkorn::tune
