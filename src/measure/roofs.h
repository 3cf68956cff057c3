#pragma once

#include <einkorn/roofline.h>

#include "src/measure/bench.h"

namespace einkorn::measure {

/// Rates and shares of the roofs from the measured time, which must be positive. More than memory
/// can give becomes the result's failure, as an accounting error: unless the problem fits the
/// last-level cache, which is held against no roof.
void hold_against_roofs(const Work& work, const Prediction& predicted, const DevicePeaks& peaks,
                        BenchResult& result);

}  // namespace einkorn::measure
