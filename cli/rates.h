#pragma once

#include <span>
#include <string>
#include <vector>

#include <einkorn/device.h>

#include "cli/terminal.h"

namespace einkorn::cli {

/// One rate of a device, measured here.
struct Rate {
  std::string device;    ///< "cpu", "cuda:0"
  std::string what;      ///< "copy", "f32 fma", "bf16 matmul"
  double value = 0;      ///< 0: not measured, `reason` says why
  std::string unit;      ///< "GB/s", "TFLOP/s"
  double datasheet = 0;  ///< 0: unknown
  std::string reason;
};

/// Copy bandwidth and arithmetic rates of each device, appended one by one so that an interruption
/// keeps those before it.
void measure_rates(std::span<const DeviceInfo> devices, Progress& progress,
                   std::vector<Rate>& rates);

/// Keeps what was measured of each device as its peaks, for predict and bench. Returns for each
/// where, or why it could not.
std::vector<std::string> save_rates(std::span<const DeviceInfo> devices,
                                    std::span<const Rate> rates);

}  // namespace einkorn::cli
