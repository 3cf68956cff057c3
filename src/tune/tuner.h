#pragma once

// Finds the fastest tiling of one variant for one problem, and keeps what it measured.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <einkorn/registry.h>

#include "src/trials/lookup.h"
#include "src/trials/store.h"
#include "src/tune/estimate.h"
#include "src/tune/lab.h"
#include "src/tune/search.h"

namespace einkorn::tune {

/// Where a tuning stands, for a line of progress.
struct Standing {
  std::string doing;      ///< "compiling lanes=32", "round of 7"
  std::size_t tried = 0;  ///< of `planned`
  std::size_t planned = 0;
  double seconds = 0;   ///< since the start
  double estimate = 0;  ///< of the whole, seconds; grows better as it goes
  double best_us = 0;   ///< 0: none yet
  std::string best_tiling;
};

struct Options {
  Strategy strategy = Strategy::kExhaustive;
  std::uint64_t seed = 1;  ///< of the inputs and of a random search
  /// Candidates to measure at most; nothing: default_trials(). Those known from before are free.
  std::optional<std::size_t> trials;
  double seconds = std::numeric_limits<double>::infinity();  ///< checked between two samples
  bool fresh = false;                                        ///< measure also what the store has
  /// Before the second try to start a lab that fell: what a reset device may take to come back.
  std::chrono::milliseconds pause{2000};
  /// Called before each step; false ends the tuning there.
  std::function<bool(const Standing&)> progress;
};

/// What is known of a candidate after a tuning.
struct Known {
  trials::Trial trial;
  bool is_reused = false;  ///< from an earlier run
};

struct Outcome {
  std::vector<Candidate> candidates;
  std::vector<Known> known;  ///< in the order in which they were measured; reused ones first
  trials::Found best;        ///< as a look-up gives it from now on; missing when none was measured
  std::optional<trials::Trial> best_trial;
  std::optional<trials::Trial> default_trial;  ///< of the heuristic's choice, if it was measured
  std::size_t planned = 0;                     ///< candidates that were to be measured
  std::size_t tried = 0;                       ///< that were
  Estimate estimate;                           ///< made before
  double seconds = 0;                          ///< it took
  std::string stopped;  ///< why it ended early: "interrupted", "budget", "device lost: ..."
};

/// One variant on one problem. The pieces outlive the tuning.
struct Job {
  const OpEntry& entry;
  const Variant& variant;
  const AnyProblem& problem;
  const DeviceInfo& device;
  std::vector<Candidate> candidates;  ///< see candidates_of()
};

/// The variant's candidates for the problem, with predicted microseconds where there are as many.
std::vector<Candidate> candidates_of(const Variant& variant, const void* problem,
                                     const DeviceInfo& device,
                                     std::span<const double> predicted_us = {});

/// What measuring `trials` of the job's candidates is expected to cost.
Estimate estimate_of(const Job& job, Strategy strategy, std::size_t trials);

/// Tunes in a lab and adds every trial to the store as soon as it is decided. Candidates whose
/// trial the store has (same source, device, driver, compiler, mode) are not measured again, unless
/// they are the one to beat. A candidate that fails is recorded with the reason; one that takes the
/// lab down costs a restart. When a restart fails, too, the tuning ends with what it has.
///
/// NotImplementedError: the variant refuses the problem, or an empty problem. RuntimeError: the
/// lab could not even start.
Outcome tune(const Job& job, const Options& options, Lab& lab, trials::TrialStore& store);

}  // namespace einkorn::tune
