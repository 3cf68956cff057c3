#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/roofline.h>

namespace einkorn::roofline {

/// Where a device's measured peaks may be kept: <cache>/peaks/<device>.json for each folder that a
/// cache may be in, the preferred one first.
std::vector<std::string> peaks_paths(std::string_view device_name);

/// What was saved for a device of that name, in the first of those files that exists; nothing when
/// there is none, or it cannot be understood, which is one warning with path and reason. Read once
/// in a process.
std::optional<Peaks> load_peaks(std::string_view device_name);

/// Keeps the peaks for later processes and this one, in the first of those files that can be
/// written, which it returns. RuntimeError with all paths and reasons.
std::string save_peaks(std::string_view device_name, const Peaks& peaks);

/// The file's text, and its inverse. ValueError that says what was expected.
std::string print_peaks(std::string_view device_name, const Peaks& peaks);
Peaks parse_peaks(std::string_view text, std::string_view device_name);

}  // namespace einkorn::roofline
