#include "cli/rates.h"

#include <functional>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/cpu/describe.h"
#include "src/cuda/matmul.h"

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

}  // namespace

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
