#include "src/report/peaks.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "src/cuda/known_devices.h"

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
    (name == "memory" ? peaks.memory : peaks.compute).push_back(peak);
  }
}

}  // namespace

Peaks peaks_of(std::string_view device, std::span<const Rate> rates,
               std::span<const BenchDocument> benches) {
  Peaks peaks;
  if (const double gbps = cuda::datasheet_gbps_of(device); gbps > 0) {
    peaks.memory.push_back({"memory", gbps, false, "datasheet"});
  }
  add_measured_rates(device, rates, peaks);
  const bool by_doctor = !peaks.memory.empty() && peaks.memory.back().measured;
  const Peak copy = best_copy(device, benches);
  if (by_doctor) {
    // One measured roof is enough; the higher one is nearer to the truth.
    if (copy.value > peaks.memory.back().value) peaks.memory.back() = copy;
  } else if (copy.value > 0) {
    peaks.memory.push_back(copy);
  }
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
