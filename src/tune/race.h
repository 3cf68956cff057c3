#pragma once

// Who is fastest, with as few samples as can tell. Pure: it says what to sample next, somebody else
// does it.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/trials/lookup.h"

namespace einkorn::tune {

struct RaceOptions {
  int first = 5;   ///< samples of each candidate in the first round; doubled in each round
  int last = 31;   ///< no candidate gets more, ...
  int most = 151;  ///< ... unless who wins hangs on a thousandth; never fewer than `last`
};

/// Within so much of the leader's median a candidate is not given up, since a tie (trials::kNoise)
/// may hang on it: a median of 5 samples is good to a thousandth or two, one of 31 to a third of
/// it.
inline constexpr double kUndecided = 2 * trials::kNoise;

/// Successive halving over interleaved samples. In a round each candidate left gets as many samples
/// as the others, one at a time, in an order that begins elsewhere each time, so that a drift of
/// the clock meets all alike. After a round those go whose lower quartile is above the leader's
/// upper one, and of the rest the slower half; one that is tied with the leader (trials::is_tied)
/// or undecided never goes, since a tie is decided by other things than time. Ends when one is left
/// that had two rounds, or all left had their last samples.
class Race {
 public:
  explicit Race(RaceOptions options = {}) : options_(options) {}

  /// Before the first next(). `id` is the caller's.
  void add(std::size_t id, std::string tiling, trials::Resources resources);

  struct Step {
    std::size_t id;
    int samples;
  };
  /// What to sample next; nothing at the end.
  std::optional<Step> next();

  /// Microseconds a call, each of them a sample of the last step's candidate.
  void accept(std::size_t id, std::span<const double> us);
  /// It failed and is out; its samples do not count.
  void fail(std::size_t id);
  /// No more samples: a budget is spent.
  void stop() { stopped_ = true; }

  bool is_racing(std::size_t id) const;
  int samples_of(std::size_t id) const;

  struct Result {
    std::size_t id;
    trials::Standing standing;
    int samples;
    bool dropped;  ///< left the race before its end
  };
  /// All that have samples and did not fail, in the order of add().
  std::vector<Result> results() const;
  /// Of those that were not dropped, by the tie rule.
  std::optional<std::size_t> winner() const;
  /// The best median so far.
  std::optional<Result> leader() const;

 private:
  struct Runner {
    std::size_t id;
    std::string tiling;
    trials::Resources resources;
    std::vector<double> samples = {};
    bool racing = true;
    bool failed = false;
  };

  Runner& runner(std::size_t id);
  trials::Standing standing(const Runner& runner) const;
  std::vector<Runner*> racing();
  void end_round();
  bool is_over() const;
  bool is_close() const;

  RaceOptions options_;
  std::vector<Runner> runners_;
  int target_ = 0;  ///< samples of each at the end of this round
  int rounds_ = 0;  ///< that ended
  bool stopped_ = false;
};

}  // namespace einkorn::tune
