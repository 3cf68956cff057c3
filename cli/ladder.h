#pragma once

// Versions of a design against each other: what each changed.

#include <string>
#include <vector>

#include "cli/json.h"
#include "src/measure/bench.h"

namespace einkorn::cli {

/// A version's fastest result for a case, beside that of the version before it in the same run.
struct Rung {
  measure::BenchResult result;
  std::string previous;    ///< id; empty: the first that was measured
  double previous_us = 0;  ///< its median
  double change() const { return previous_us > 0 ? result.timing.median_us / previous_us - 1 : 0; }
};

/// By case, design and version. `variant`: only versions of its design; empty: of all. Results that
/// failed are left out.
std::vector<Rung> ladder(const std::vector<measure::BenchResult>& results,
                         const std::string& variant);

/// A table of the rungs; a change below zero is a shorter time.
std::string ladder_text(const std::vector<Rung>& rungs);
/// An array; see docs/guide/json.md.
Json ladder_json(const std::vector<Rung>& rungs);

/// "rms_norm/cpu/rows" of "rms_norm/cpu/rows_v2".
std::string design_of(const std::string& variant);

}  // namespace einkorn::cli
