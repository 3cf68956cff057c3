#include "cli/rates.h"

#include <algorithm>
#include <functional>
#include <optional>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <einkorn/roofline.h>
#include <fmt/format.h>

#include "src/core/utc_time.h"
#include "src/cpu/describe.h"
#include "src/cuda/matmul.h"
#include "src/roofline/saved_peaks.h"

namespace einkorn::cli {
namespace {

/// A rate that cannot be measured is a row with the reason: the others are still wanted.
void add(Rate rate, const std::function<double(std::string*)>& measure, Progress& progress,
         std::vector<Rate>& rates) {
  progress.show(fmt::format("measure {} of {}", rate.what, rate.device));
  try {
    rate.value = measure(&rate.reason);
  } catch (const Error& error) {
    rate.reason = error.what();
  }
  rates.push_back(std::move(rate));
}

void add_cuda(const DeviceInfo& info, Progress& progress, std::vector<Rate>& rates) {
  const std::string device = to_string(info.device);
  const int index = info.device.index;
  add(
      {device, "copy", 0, "GB/s", info.datasheet_gbps, {}},
      [&](std::string*) { return cuda::measure_copy_gbps(index); }, progress, rates);
  for (const DType dtype : {kF32, kF16, kBF16, kF8E4M3}) {
    const std::string_view title = dtype == kF32 ? std::string_view("tf32") : name(dtype);
    add(
        {device, fmt::format("{} matmul", title), 0, "TFLOP/s", 0, {}},
        [&](std::string* reason) {
          return cuda::measure_matmul_tflops(index, dtype, reason).value_or(0);
        },
        progress, rates);
  }
}

/// The unit that a rate is of; nothing for a rate that is not of arithmetic.
std::optional<Unit> unit_of(const Rate& rate) {
  if (rate.what == "f32 fma") return Unit::kF32;
  if (rate.what == "tf32 matmul") return Unit::kTensorTf32;
  if (rate.what == "f16 matmul" || rate.what == "bf16 matmul") return Unit::kTensor16;
  if (rate.what == "f8e4m3 matmul") return Unit::kTensorFp8;
  return std::nullopt;
}

Peaks peaks_from(const std::string& device, std::span<const Rate> rates) {
  Peaks out;
  const std::string driver = cuda::driver_version();
  out.source = fmt::format("measured {}{}", utc_date(),
                           device == "cpu" || driver.empty() ? "" : ", driver " + driver);
  for (const Rate& rate : rates) {
    if (rate.device != device || rate.value <= 0) continue;
    if (rate.what == "copy") out.gbps = rate.value;
    const std::optional<Unit> unit = unit_of(rate);
    if (!unit) continue;
    double& peak = out.tflops[static_cast<std::size_t>(*unit)];
    peak = std::max(peak, rate.unit == "GFLOP/s" ? rate.value / 1000 : rate.value);
  }
  return out;
}

}  // namespace

std::vector<std::string> save_rates(std::span<const DeviceInfo> devices,
                                    std::span<const Rate> rates) {
  std::vector<std::string> notes;
  for (const DeviceInfo& info : devices) {
    const Peaks peaks = peaks_from(to_string(info.device), rates);
    if (peaks.gbps <= 0) continue;
    try {
      notes.push_back("measured peaks are kept in " + roofline::save_peaks(info.name, peaks));
    } catch (const Error& error) {  // what was measured is still shown
      notes.push_back(fmt::format("measured peaks are not kept: {}", error.what()));
    }
  }
  return notes;
}

void measure_rates(std::span<const DeviceInfo> devices, Progress& progress,
                   std::vector<Rate>& rates) {
  for (const DeviceInfo& info : devices) {
    if (info.device.kind == DeviceKind::kCuda) {
      add_cuda(info, progress, rates);
      continue;
    }
    add(
        {"cpu", "copy", 0, "GB/s", info.datasheet_gbps, {}},
        [](std::string*) { return cpu::measure_copy_gbps(); }, progress, rates);
    add(
        {"cpu", "f32 fma", 0, "GFLOP/s", 0, {}},
        [](std::string*) { return cpu::measure_fma_gflops(); }, progress, rates);
  }
}

}  // namespace einkorn::cli
