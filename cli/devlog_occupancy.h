#pragma once

#include <string>

#include "src/versions/devlog.h"

namespace einkorn::cli {

/// Fills in the occupancy of each row, as "75 %", from the kernel compiled for the device that was
/// measured, which need not be here. Where the variant is not in this build, is no CUDA variant, or
/// the device or compiler is missing, the row is left as it is. Returns why it was, empty when all
/// rows have it.
std::string fill_occupancy(versions::Devlog& log);

}  // namespace einkorn::cli
