#pragma once

// The columns of the page's tables: header with unit, key of report_data, form.

#include "src/report/html.h"

namespace einkorn::report {

inline constexpr Column kPeakColumns[] = {
    {"roof", "name"},
    {"basis", "basis"},
    {"GB/s", "gbps", Cell::kNumber},
    {"TFLOP/s", "tflops", Cell::kNumber},
    {"from", "from"},
};

inline constexpr Column kResultColumns[] = {
    {"variant", "variant", Cell::kCode},
    {"problem", "problem", Cell::kCode},
    {"median µs", "median_us", Cell::kNumber},
    {"q1 µs", "q1_us", Cell::kNumber},
    {"q3 µs", "q3_us", Cell::kNumber},
    {"GB/s", "gbps", Cell::kNumber},
    {"TFLOP/s", "tflops", Cell::kNumber},
    {"flop/byte", "intensity", Cell::kNumber},
    {"roof", "roof"},
    {"% of roof", "percent_of_roof", Cell::kNumber},
    {"predicted µs", "predicted_us", Cell::kNumber},
    {"copy µs", "copy_us", Cell::kNumber},
    {"tiling", "tiling", Cell::kCode},
    {"failure", "failure"},
    {"latest", "latest", Cell::kOrigin},
    {"date", "date", Cell::kOrigin},
    {"commit", "commit", Cell::kOrigin},
    {"file", "source", Cell::kOrigin},
};

inline constexpr Column kBarColumns[] = {
    {"op", "op", Cell::kCode},
    {"problem", "problem", Cell::kCode},
    {"what", "name", Cell::kCode},
    {"kind", "kind"},
    {"median µs", "median_us", Cell::kNumber},
    {"q1 µs", "q1_us", Cell::kNumber},
    {"q3 µs", "q3_us", Cell::kNumber},
    {"times our best", "times_ours", Cell::kNumber},
    {"tiling or version", "detail", Cell::kCode},
    {"roof", "roof"},
    {"date", "date", Cell::kOrigin},
    {"commit", "commit", Cell::kOrigin},
    {"file", "source", Cell::kOrigin},
};

inline constexpr Column kNotMeasuredColumns[] = {
    {"op", "op", Cell::kCode},
    {"problem", "problem", Cell::kCode},
    {"what", "name", Cell::kCode},
    {"reason", "reason"},
};

inline constexpr Column kLadderColumns[] = {
    {"design", "design", Cell::kCode},
    {"problem", "problem", Cell::kCode},
    {"version", "version", Cell::kInteger},
    {"median µs", "median_us", Cell::kNumber},
    {"q1 µs", "q1_us", Cell::kNumber},
    {"q3 µs", "q3_us", Cell::kNumber},
    {"GB/s", "gbps", Cell::kNumber},
    {"TFLOP/s", "tflops", Cell::kNumber},
    {"% of roof", "percent_of_roof", Cell::kNumber},
    {"speed-up", "speedup", Cell::kNumber},
    {"of the first", "speedup_of_first", Cell::kNumber},
    {"tiling", "tiling", Cell::kCode},
    {"date", "date", Cell::kOrigin},
    {"commit", "commit", Cell::kOrigin},
    {"file", "source", Cell::kOrigin},
};

inline constexpr Column kTrialColumns[] = {
    {"variant", "variant", Cell::kCode},
    {"problem", "problem", Cell::kCode},
    {"conditions", "conditions"},
    {"trial", "order", Cell::kInteger},
    {"tiling", "tiling", Cell::kCode},
    {"status", "status"},
    {"median µs", "median_us", Cell::kNumber},
    {"q1 µs", "q1_us", Cell::kNumber},
    {"q3 µs", "q3_us", Cell::kNumber},
    {"predicted µs", "predicted_us", Cell::kNumber},
    {"best", "best"},
    {"reason", "reason"},
    {"date", "date", Cell::kOrigin},
    {"file", "source", Cell::kOrigin},
};

inline constexpr Column kStageColumns[] = {
    {"variant", "variant", Cell::kCode},
    {"problem", "problem", Cell::kCode},
    {"stage", "name", Cell::kCode},
    {"depth", "depth", Cell::kInteger},
    {"median µs", "median_us", Cell::kNumber},
    {"q1 µs", "q1_us", Cell::kNumber},
    {"q3 µs", "q3_us", Cell::kNumber},
    {"predicted µs", "predicted_us", Cell::kNumber},
    {"total µs", "total_us", Cell::kNumber},
    {"date", "date", Cell::kOrigin},
    {"commit", "commit", Cell::kOrigin},
    {"file", "source", Cell::kOrigin},
};

inline constexpr Column kSourceColumns[] = {
    {"file", "path", Cell::kCode},     {"kind", "kind"},
    {"rows", "count", Cell::kInteger}, {"device", "device"},
    {"date", "date", Cell::kOrigin},   {"commit", "commit", Cell::kOrigin},
};

inline constexpr Column kSkippedColumns[] = {
    {"file", "path", Cell::kCode},
    {"line", "line", Cell::kInteger},
    {"lines", "count", Cell::kInteger},
    {"reason", "reason"},
};

}  // namespace einkorn::report
