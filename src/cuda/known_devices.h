#pragma once

#include <string_view>

namespace einkorn::cuda {

/// Memory bandwidth that the datasheet gives for a device with this driver name, 1e9 bytes/s;
/// 0 when it is not in the table.
double datasheet_gbps_of(std::string_view driver_name);

}  // namespace einkorn::cuda
