#include "src/report/peaks.h"

#include <algorithm>
#include <map>

#include <einkorn/roofline.h>
#include <fmt/format.h>

namespace einkorn::report {
namespace {

/// The rate of the copy that was timed in the same rounds, over the same bytes.
double copy_gbps(const Result& result) {
  if (result.copy_us <= 0 || !result.failure.empty()) return 0;
  return result.gbps * result.time.median_us / result.copy_us;
}

/// The fastest copy of a problem that is larger than the last-level cache.
Peak best_copy(std::string_view device, std::span<const BenchDocument> benches) {
  Peak best{.name = "memory", .value = 0, .measured = true, .from = {}};
  for (const BenchDocument& bench : benches) {
    if (bench.origin.device != device) continue;
    for (const Result& result : bench.results) {
      if (result.roof == "cache" || copy_gbps(result) <= best.value) continue;
      best.value = copy_gbps(result);
      best.from = fmt::format("copy timed beside {}, {}", result.variant, result.problem);
    }
  }
  return best;
}

/// One measured memory roof is enough; the higher one is nearer to the truth.
void raise_measured(const Peak& peak, Peaks& peaks) {
  if (peak.value <= 0) return;
  if (peaks.memory.empty() || !peaks.memory.back().measured) {
    peaks.memory.push_back(peak);
  } else if (peak.value > peaks.memory.back().value) {
    peaks.memory.back() = peak;
  }
}

void add_measured_rates(std::string_view device, std::span<const Rate> rates, Peaks& peaks) {
  std::map<std::string, Peak> best;
  for (const Rate& rate : rates) {
    if (rate.origin.device != device) continue;
    const bool memory = rate.gbps > 0;
    const std::string name = memory ? "memory" : rate.what.substr(0, rate.what.find(' '));
    Peak& peak = best[name];
    const double value = memory ? rate.gbps : rate.tflops;
    if (value <= peak.value) continue;
    peak = {name, value, true, fmt::format("{} of doctor --measure", rate.what)};
  }
  for (const auto& [name, peak] : best) {
    if (name == "memory") {
      raise_measured(peak, peaks);
    } else {
      peaks.compute.push_back(peak);
    }
  }
}

/// What the table knows, or this machine measured of itself.
void add_known(const DevicePeaks& known, Peaks& peaks) {
  const einkorn::Peaks& sheet = known.datasheet;
  if (sheet.gbps > 0) peaks.memory.push_back({"memory", sheet.gbps, false, sheet.source});
  if (known.measured) {
    peaks.memory.push_back({"memory", known.measured->gbps, true, known.measured->source});
  }
  const auto add = [&](std::string_view dtype, Unit unit) {
    if (sheet.of(unit) <= 0) return;
    peaks.compute.push_back({std::string(dtype), sheet.of(unit), false, sheet.source});
  };
  add("f32", Unit::kF32);
  add("f16", Unit::kTensor16);
  add("bf16", Unit::kTensor16);
  add("f8e4m3", Unit::kTensorFp8);
}

}  // namespace

Peaks peaks_of(std::string_view device, std::span<const Rate> rates,
               std::span<const BenchDocument> benches) {
  Peaks peaks;
  add_known(einkorn::peaks_of(device), peaks);
  add_measured_rates(device, rates, peaks);
  raise_measured(best_copy(device, benches), peaks);
  return peaks;
}

const Peak* memory_roof(const Peaks& peaks) {
  // The datasheet's comes first where it is known.
  return peaks.memory.empty() ? nullptr : &peaks.memory.front();
}

double attainable_tflops(const Peaks& peaks, double intensity, std::string_view dtype) {
  const Peak* memory = memory_roof(peaks);
  if (memory == nullptr) return 0;
  double highest = 0;
  double of_dtype = 0;
  for (const Peak& peak : peaks.compute) {
    highest = std::max(highest, peak.value);
    if (peak.name == dtype) of_dtype = std::max(of_dtype, peak.value);
  }
  const double compute = of_dtype > 0 ? of_dtype : highest;
  const double by_memory = memory->value * intensity / 1000;
  return compute > 0 ? std::min(compute, by_memory) : by_memory;
}

}  // namespace einkorn::report
