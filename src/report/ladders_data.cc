// Versions of one design, as they were measured in one document.

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "src/report/data.h"

namespace einkorn::report {
namespace {

struct DesignVersion {
  std::string design;  ///< "rms_norm/sm90/bulk"
  int version = 0;
};

std::optional<DesignVersion> split_version(const std::string& variant) {
  const std::size_t at = variant.rfind("_v");
  if (at == std::string::npos) return std::nullopt;
  DesignVersion out{.design = variant.substr(0, at)};
  const char* begin = variant.data() + at + 2;
  const char* end = variant.data() + variant.size();
  const auto [rest, error] = std::from_chars(begin, end, out.version);
  if (error != std::errc() || rest != end) return std::nullopt;
  return out;
}

struct Ladder {
  const BenchDocument* bench = nullptr;
  /// By version; of several tilings the fastest.
  std::map<int, const Result*> steps;
};

void add_step(Ladder& ladder, const BenchDocument& bench, int version, const Result& row) {
  ladder.bench = &bench;
  const Result*& best = ladder.steps[version];
  if (best == nullptr || row.time.median_us < best->time.median_us) best = &row;
}

Json ladder_json(const std::string& design, const std::string& problem, const Ladder& ladder) {
  Json steps = Json::array();
  double first = 0;
  double previous = 0;
  for (const auto& [version, row] : ladder.steps) {
    const double now = row->time.median_us;
    if (first == 0) first = now;
    steps.push_back({{"version", version},
                     {"variant", row->variant},
                     {"tiling", row->tiling},
                     {"median_us", now},
                     {"q1_us", row->time.q1_us},
                     {"q3_us", row->time.q3_us},
                     {"gbps", known(row->gbps)},
                     {"tflops", known(row->tflops)},
                     {"percent_of_roof", known(row->percent_of_roof)},
                     {"speedup", computed(previous > 0 ? previous / now : 1)},
                     {"speedup_of_first", computed(first / now)}});
    previous = now;
  }
  const Origin& origin = ladder.bench->origin;
  return {{"op", ladder.bench->op},    {"design", design},    {"problem", problem},
          {"steps", std::move(steps)}, {"date", origin.date}, {"commit", origin.commit},
          {"source", origin.path}};
}

}  // namespace

Json ladders_data(std::span<const BenchDocument> benches) {
  using Key = std::pair<std::string, std::string>;  // design, problem
  std::map<Key, Ladder> newest;
  for (const BenchDocument& bench : benches) {
    std::map<Key, Ladder> here;
    for (const Result& row : bench.results) {
      const auto parts = split_version(row.variant);
      if (!parts || !row.failure.empty()) continue;
      add_step(here[{parts->design, row.problem}], bench, parts->version, row);
    }
    for (const auto& [key, ladder] : here) {
      if (ladder.steps.size() < 2) continue;
      Ladder& best = newest[key];
      if (best.bench == nullptr || best.bench->origin.date < bench.origin.date) best = ladder;
    }
  }
  Json out = Json::array();
  for (const auto& [key, ladder] : newest) {
    out.push_back(ladder_json(key.first, key.second, ladder));
  }
  return out;
}

}  // namespace einkorn::report
