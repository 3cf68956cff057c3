#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace einkorn::cuda {

/// Dense rates, 1e12 operations/s: f32, f64 (the larger of its two units), tensor tf32, 16 bit with
/// f32 sums, fp8 with f32 sums, int8. In the order of Unit; 0: there is none.
using UnitRates = std::array<double, 6>;

/// Rates that we measured on such a device.
struct MeasuredRates {
  double gbps = 0;
  UnitRates tflops{};
  double launch_us = 0;
  std::string_view source;
};

/// A device that can be explained and predicted for without having it.
struct KnownDevice {
  std::string_view name;   ///< what a user types
  std::string_view title;  ///< what the driver, or the datasheet, calls it
  int cc;
  int sm_count;
  int max_threads_per_sm;
  std::int64_t smem_per_block_optin;
  std::int64_t smem_per_sm;
  std::int64_t l2_bytes;
  double gbps;  ///< memory bandwidth, 1e9 bytes/s; 0 unknown
  UnitRates tflops{};
  MeasuredRates measured{};
};

/// By the driver's name for it; null when it is not in the table.
const KnownDevice* find_known_device(std::string_view title);

/// Memory bandwidth that the datasheet gives for a device with this driver name, 1e9 bytes/s;
/// 0 when it is not in the table.
double datasheet_gbps_of(std::string_view driver_name);

}  // namespace einkorn::cuda
