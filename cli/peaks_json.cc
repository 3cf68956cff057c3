// A device's peaks as JSON, for predict and list.

#include "cli/peaks_json.h"

#include <string>
#include <utility>

namespace einkorn::cli {
namespace {

Json one_json(const Peaks& peaks) {
  Json tflops = Json::object();
  Json ridge = Json::object();
  for (std::size_t i = 0; i < kUnits; ++i) {
    if (peaks.tflops[i] <= 0) continue;
    const std::string name(kUnitNames[i]);
    tflops[name] = peaks.tflops[i];
    if (peaks.gbps > 0) ridge[name] = ridge_point(peaks, static_cast<Unit>(i));
  }
  if (peaks.gbps <= 0 && tflops.empty()) return {};
  return {{"source", peaks.source},
          {"gbps", peaks.gbps > 0 ? Json(peaks.gbps) : Json()},
          {"tflops", std::move(tflops)},
          {"ridge", std::move(ridge)}};
}

}  // namespace

Json peaks_json(const DevicePeaks& peaks) {
  return {{"datasheet", one_json(peaks.datasheet)},
          {"measured", peaks.measured ? one_json(*peaks.measured) : Json()}};
}

}  // namespace einkorn::cli
