#pragma once

// einkorn tune: its options, and its parts for each other.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/json.h"
#include "cli/target.h"
#include "src/tune/tuner.h"

namespace einkorn::cli {

struct TuneOptions {
  bool json = false;
  bool dry_run = false;
  bool fresh = false;
  std::vector<std::string> words;
  std::vector<std::string> cases;
  std::string device;
  std::string search;         ///< a strategy's name; empty: by the number of candidates
  double budget_seconds = 0;  ///< of all problems together; 0: none
  std::optional<std::size_t> budget_trials;  ///< of each problem
  std::uint64_t seed = 1;
  std::string history;   ///< file to write, .csv or .json
  std::string exported;  ///< file or folder to write; instead of tuning
  std::string imported;  ///< file to read; instead of tuning
};

int tune_op(const TuneOptions& options);

/// Adds the trials of a file to the store. Exit(kFailed) with every line that does not belong here
/// and why, and nothing is added then.
int import_trials(const TuneOptions& options);

/// Writes the winners of the store as a file of bundled tunings.
int export_tunings(const TuneOptions& options);

/// One problem's tuning, or what it would be.
struct Tuned {
  std::string case_name;
  const Variant* variant = nullptr;
  std::string problem;
  tune::Strategy strategy = tune::Strategy::kExhaustive;
  tune::Outcome outcome;
};

/// Best, default and gain of each problem; all candidates of a single one; failures after them.
std::string tuned_text(const std::vector<Tuned>& all);

/// As docs/guide/json.md, tune.
Json tuned_json(std::string_view op, const DeviceInfo& device, const std::vector<Tuned>& all,
                bool dry_run);

}  // namespace einkorn::cli
