#pragma once

// Results of measuring, for the verbs that measure.

#include <string>
#include <string_view>
#include <vector>

#include "cli/json.h"
#include "src/measure/bench.h"

namespace einkorn::cli {

/// Variant, case, time with quartiles, bytes per second, and how that compares with the memory's
/// datasheet, with a plain copy and with each peer; failures after the table.
std::string bench_text(const std::vector<measure::BenchResult>& results);

/// The whole result file: device, driver, versions, commit, date, results; docs/guide/json.md.
Json bench_json(std::string_view op, const DeviceInfo& device,
                const std::vector<measure::BenchResult>& results);

bool any_measured(const std::vector<measure::BenchResult>& results);

/// Whether something could not be measured.
bool any_failure(const std::vector<measure::BenchResult>& results);

}  // namespace einkorn::cli
