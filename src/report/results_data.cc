// Measured results: the rows of the roofline picture.

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "src/report/data.h"

namespace einkorn::report {
namespace {

/// Of "rows=4 cols=8 dtype=bf16"; empty when the problem does not say.
std::string dtype_of(const std::string& problem) {
  constexpr std::string_view kKey = "dtype=";
  const std::size_t begin = problem.find(kKey);
  if (begin == std::string::npos) return {};
  const std::size_t end = problem.find(' ', begin);
  return problem.substr(begin + kKey.size(),
                        end == std::string::npos ? end : end - begin - kKey.size());
}

using Key = std::pair<std::string, std::string>;

/// The newest document of each variant and problem.
std::map<Key, const BenchDocument*> newest(const std::vector<const BenchDocument*>& benches) {
  std::map<Key, const BenchDocument*> out;
  for (const BenchDocument* bench : benches) {
    // They come newest first.
    for (const Result& row : bench->results) out.try_emplace({row.variant, row.problem}, bench);
  }
  return out;
}

Json row_json(const BenchDocument& bench, const Result& row, const Peaks& peaks, bool latest) {
  const bool measured = row.failure.empty();
  // Flops a byte; needs both rates, and an op without flops (a copy) has none.
  const double intensity = measured && row.gbps > 0 ? row.tflops * 1000 / row.gbps : 0;
  const double attainable =
      intensity > 0 ? attainable_tflops(peaks, intensity, dtype_of(row.problem)) : 0;
  return {{"op", bench.op},
          {"variant", row.variant},
          {"case", row.case_name},
          {"problem", row.problem},
          {"tiling", row.tiling},
          {"median_us", known(row.time.median_us)},
          {"q1_us", known(row.time.q1_us)},
          {"q3_us", known(row.time.q3_us)},
          {"gbps", known(row.gbps)},
          {"tflops", known(row.tflops)},
          {"intensity", computed(intensity)},
          {"roof", row.roof},
          {"percent_of_roof", known(row.percent_of_roof)},
          {"percent_attainable", computed(attainable > 0 ? 100 * row.tflops / attainable : 0)},
          {"predicted_us", known(row.predicted_us)},
          {"copy_us", known(row.copy_us)},
          {"failure", row.failure.empty() ? Json() : Json(row.failure)},
          {"latest", latest},
          {"date", bench.origin.date},
          {"commit", bench.origin.commit},
          {"source", bench.origin.path}};
}

}  // namespace

Json results_data(std::span<const BenchDocument> benches, const Peaks& peaks) {
  std::vector<const BenchDocument*> ordered;
  for (const BenchDocument& bench : benches) ordered.push_back(&bench);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto* a, const auto* b) { return a->origin.date > b->origin.date; });
  const auto latest = newest(ordered);
  Json out = Json::array();
  for (const BenchDocument* bench : ordered) {
    for (const Result& row : bench->results) {
      out.push_back(row_json(*bench, row, peaks, latest.at({row.variant, row.problem}) == bench));
    }
  }
  return out;
}

}  // namespace einkorn::report
