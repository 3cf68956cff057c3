#pragma once

#include <einkorn/roofline.h>

#include "cli/json.h"

namespace einkorn::cli {

/// {"datasheet", "measured"}: each {"source", "gbps", "tflops", "ridge"}, the last two by unit, or
/// null where nothing is known.
Json peaks_json(const DevicePeaks& peaks);

}  // namespace einkorn::cli
