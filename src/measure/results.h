#pragma once

// The file that a measurement leaves behind, and the same text for `einkorn bench --json`.

#include <span>
#include <string>
#include <string_view>

#include "src/measure/bench.h"

namespace einkorn::measure {

/// JSON as docs/guide/json.md says: {device, driver, versions, commit, date, results}. Ends with a
/// newline.
std::string results_json(std::string_view op, const DeviceInfo& device,
                         std::span<const BenchResult> results);

/// "2026-11-27-rms_norm-nvidia_h100_80gb_hbm3.json", by the current date in UTC.
std::string results_file_name(std::string_view op, const DeviceInfo& device);

/// Writes results_json to a file; its folder is made. RuntimeError with the path and the reason
/// when that fails; a file that was there before is then as it was.
void write_results(const std::string& path, std::string_view op, const DeviceInfo& device,
                   std::span<const BenchResult> results);

}  // namespace einkorn::measure
