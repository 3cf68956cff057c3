#pragma once

// Results of checking, for the verbs that check.

#include <functional>
#include <string>
#include <vector>

#include "cli/json.h"
#include "src/measure/check.h"

namespace einkorn::cli {

struct CheckTotals {
  int pass = 0, fail = 0, refused = 0, skipped = 0;
  int ran() const { return pass + fail; }
};
CheckTotals totals(const std::vector<measure::CheckResult>& results);

/// One line for each variant with its counts and worst error, then every failure in full; with
/// `verbose` one line for every case.
std::string check_text(const std::vector<measure::CheckResult>& results, bool verbose);
/// An array; see docs/guide/json.md.
Json check_json(const std::vector<measure::CheckResult>& results);

/// "12 passed, 0 failed, 3 refused"
std::string summary(const CheckTotals& totals);

/// Failed, nothing ran, or all well.
int check_status(const CheckTotals& totals);

}  // namespace einkorn::cli
