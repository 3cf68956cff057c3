#include "src/measure/roofs.h"

#include <fmt/format.h>

namespace einkorn::measure {
namespace {

std::string_view roof_of(const Prediction& predicted) {
  if (predicted.cache_resident) return "cache";
  // Where nothing is known of the device, bytes are what row-wise ops are made of.
  return predicted.bound == Bound::kUnknown ? name(Bound::kMemory) : name(predicted.bound);
}

/// In percent; 0 when the roof is not known.
double share(double rate, double roof) { return roof > 0 ? 100 * rate / roof : 0; }

}  // namespace

void hold_against_roofs(const Work& work, const Prediction& predicted, const DevicePeaks& peaks,
                        BenchResult& result) {
  const double median = result.timing.median_us;
  result.roof = roof_of(predicted);
  result.predicted_us = predicted.us;
  result.gbps = work.min_bytes / median * 1e-3;
  result.tflops = work.useful_flops / median * 1e-6;
  result.percent_of_copy = 100 * result.copy.median_us / median;
  if (predicted.cache_resident) return;
  const bool compute = predicted.bound == Bound::kCompute;
  const auto share_of = [&](const Peaks& roofs) {
    return compute ? share(result.tflops, roofs.of(work.unit)) : share(result.gbps, roofs.gbps);
  };
  result.percent_of_roof = share_of(peaks.datasheet);
  if (peaks.measured) result.percent_of_measured_roof = share_of(*peaks.measured);
  const double of_memory = share(result.gbps, peaks.datasheet.gbps);
  if (of_memory > 100) {
    result.failure = fmt::format(
        "accounting error: {:.0f} GB/s is {:.1f} % of the datasheet's {:.0f} GB/s, more than "
        "memory can give; the op's minimum bytes, the input sets or the cache size are wrong",
        result.gbps, of_memory, peaks.datasheet.gbps);
  }
}

}  // namespace einkorn::measure
