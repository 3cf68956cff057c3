// Results beside what they were measured with: the copy and the peers.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "src/report/data.h"

namespace einkorn::report {
namespace {

/// What the rows of one problem in one document say together.
struct Comparison {
  const BenchDocument* bench = nullptr;
  std::vector<const Result*> rows;
};

bool has_company(const Result& row) { return row.copy_us > 0 || !row.peers.empty(); }

Json bar(const char* kind, const std::string& name, const std::string& detail, const Spread& time,
         double best_us) {
  return {{"name", name},
          {"kind", kind},
          {"detail", detail},
          {"median_us", time.median_us},
          {"q1_us", time.q1_us},
          {"q3_us", time.q3_us},
          {"times_ours", computed(best_us > 0 ? time.median_us / best_us : 0)}};
}

double best_of(const Comparison& comparison) {
  double best = 0;
  for (const Result* row : comparison.rows) {
    if (!row->failure.empty()) continue;
    if (best == 0 || row->time.median_us < best) best = row->time.median_us;
  }
  return best;
}

Json comparison_json(const Comparison& comparison) {
  const double best = best_of(comparison);
  Json bars = Json::array();
  Json skipped = Json::array();
  std::set<std::string> seen;  // all rows were timed with the same peers
  for (const Result* row : comparison.rows) {
    if (!row->failure.empty()) {
      skipped.push_back({{"name", row->variant}, {"reason", row->failure}});
      continue;
    }
    bars.push_back(bar("ours", row->variant, row->tiling, row->time, best));
    if (row->copy_us > 0 && seen.insert("").second) {
      const Spread time{row->copy_us, row->copy_us, row->copy_us};
      bars.push_back(bar("copy", "copy of the same bytes", row->copied_by, time, best));
    }
    for (const Peer& peer : row->peers) {
      if (!seen.insert(peer.name).second) continue;
      if (peer.skipped.empty()) {
        bars.push_back(bar("peer", peer.name, peer.version, peer.time, best));
      } else {
        skipped.push_back({{"name", peer.name}, {"reason", peer.skipped}});
      }
    }
  }
  std::stable_sort(bars.begin(), bars.end(), [](const Json& a, const Json& b) {
    return a["median_us"].get<double>() < b["median_us"].get<double>();
  });
  const Origin& origin = comparison.bench->origin;
  return {{"op", comparison.bench->op},
          {"problem", comparison.rows.front()->problem},
          {"case", comparison.rows.front()->case_name},
          {"roof", comparison.rows.front()->roof},
          {"bars", std::move(bars)},
          {"skipped", std::move(skipped)},
          {"date", origin.date},
          {"commit", origin.commit},
          {"source", origin.path}};
}

}  // namespace

Json comparisons_data(std::span<const BenchDocument> benches) {
  std::map<std::pair<std::string, std::string>, Comparison> newest;
  for (const BenchDocument& bench : benches) {
    std::map<std::string, Comparison> here;
    for (const Result& row : bench.results) {
      if (!has_company(row)) continue;
      here[row.problem].bench = &bench;
      here[row.problem].rows.push_back(&row);
    }
    for (auto& [problem, comparison] : here) {
      Comparison& best = newest[{bench.op, problem}];
      if (best.bench == nullptr || best.bench->origin.date < bench.origin.date) best = comparison;
    }
  }
  Json out = Json::array();
  for (const auto& [key, comparison] : newest) out.push_back(comparison_json(comparison));
  return out;
}

}  // namespace einkorn::report
