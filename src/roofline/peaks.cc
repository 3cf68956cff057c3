// What is known of a device's peaks, from the table and from this machine.

#include <einkorn/roofline.h>
#include <fmt/format.h>

#include "src/cuda/known_devices.h"
#include "src/roofline/saved_peaks.h"

namespace einkorn {
namespace {

static_assert(std::tuple_size_v<cuda::UnitRates> == kUnits);
static_assert(static_cast<std::size_t>(Unit::kTensorInt8) + 1 == kUnits);

// A launch within a graph, where we have not measured one.
constexpr double kLaunchUs = 2.0;
// A call whose rows are too few to wake other threads: rms_norm of one row of 64 takes 0.08.
constexpr double kCpuLaunchUs = 0.1;

DevicePeaks from_table(std::string_view name) {
  DevicePeaks out;
  out.launch_us = kLaunchUs;
  const cuda::KnownDevice* known = cuda::find_known_device(name);
  if (known == nullptr) return out;
  out.datasheet = {known->gbps, known->tflops, "datasheet"};
  const cuda::MeasuredRates& measured = known->measured;
  if (measured.gbps > 0) {
    out.measured = Peaks{measured.gbps, measured.tflops, std::string(measured.source)};
    out.launch_us = measured.launch_us;
  }
  return out;
}

}  // namespace

Peaks DevicePeaks::best() const {
  if (!measured) return datasheet;
  Peaks out = *measured;
  if (out.gbps <= 0) out.gbps = datasheet.gbps;
  for (std::size_t i = 0; i < kUnits; ++i) {
    if (out.tflops[i] <= 0) out.tflops[i] = datasheet.tflops[i];
  }
  return out;
}

DevicePeaks peaks_of(std::string_view device_name) {
  DevicePeaks out = from_table(device_name);
  if (auto saved = roofline::load_peaks(device_name)) out.measured = std::move(saved);
  return out;
}

DevicePeaks peaks_of(const DeviceInfo& device) {
  DevicePeaks out = peaks_of(device.name);
  if (device.device.kind == DeviceKind::kCpu) out.launch_us = kCpuLaunchUs;
  if (out.datasheet.gbps <= 0 && device.datasheet_gbps > 0) {
    out.datasheet.gbps = device.datasheet_gbps;  // read from the device's clocks
    out.datasheet.source = "memory clock and bus width";
  }
  return out;
}

double ridge_point(const Peaks& peaks, Unit unit) {
  return peaks.gbps > 0 ? peaks.of(unit) * 1e3 / peaks.gbps : 0;
}

}  // namespace einkorn
