#pragma once

// Stage times: each leaf of a plan, and each place where branches run side by side, timed alone
// beside the whole plan.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/measure/bench.h"
#include "src/profile/subject.h"

namespace einkorn::profile {

struct StageTime {
  std::string name;  ///< path in the plan's tree
  measure::Timing timing;
  double share = 0;  ///< of the whole plan's time; stages side by side sum up to more than 1
  std::optional<double> predicted_us;  ///< by the roofline; nothing where a peak is not known
  double gbps = 0;                     ///< 1e9 bytes/s by the stage's cost; 0: not told
  double tflops = 0;                   ///< by the stage's cost; 0: not told
  std::vector<int> branches;  ///< for each enclosing Concurrent, from outside in: which branch
};

struct ConcurrentTime {
  std::string name;
  double sum_us = 0;      ///< its leaves, each alone
  double longest_us = 0;  ///< the longest branch, its leaves alone: what the joint time can reach
  measure::Timing joint;  ///< all branches together
  double gain = 0;        ///< sum_us over joint: 1 when nothing overlaps
};

struct EventProfile {
  measure::Timing total;
  std::optional<double> predicted_us;
  std::vector<StageTime> stages;
  std::vector<ConcurrentTime> concurrent;
  int input_sets = 0;     ///< rotated over
  bool complete = false;  ///< false: stopped before all rounds; what there is counts
};

struct EventOptions {
  double seconds = 0.3;  ///< measuring time for each thing that is timed
  /// Before each round, and while warming up with round 0. May be empty.
  std::function<void(const std::string& text, int round, int rounds)> progress = {};
  std::function<bool()> stop = {};  ///< asked after each round; true keeps what was measured
};

/// Times are those of a sampler of src/measure: on CUDA device events around replays of a graph, on
/// a CPU the steady clock; inputs rotate, one sample of everything a round. Before each sample the
/// whole plan runs once with the workspace that the stage is then given, so that what stages before
/// it leave there is there. A stage alone runs many times on one such workspace: one that changes
/// its own input there (a counter, say) has to bear that.
///
/// Throws what compiling, loading and running the plan throws; ValueError for an empty problem,
/// which has no stages.
EventProfile profile_event(const Subject& subject, const EventOptions& options);

}  // namespace einkorn::profile
