#include "cli/benches.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/table.h"
#include "src/measure/results.h"

namespace einkorn::cli {
namespace {

using measure::BenchResult;
using measure::PeerResult;

/// Enough digits to see a difference of 0.1 %, no more.
std::string microseconds(double us) {
  if (us <= 0) return {};
  if (us < 100) return fmt::format("{:.2f}", us);
  return us < 10000 ? fmt::format("{:.1f}", us) : fmt::format("{:.0f}", us);
}

std::string percent(double value) {
  return value > 0 ? fmt::format("{:.1f} %", value) : std::string();
}

/// "liger 61.20 (93 %)": the percentage is its time over ours, so above 100 % we are faster.
std::string peers_text(const BenchResult& result) {
  std::string out;
  for (const PeerResult& peer : result.peers) {
    if (!out.empty()) out += ", ";
    if (!peer.skipped.empty()) {
      out += peer.name + " skipped";
      continue;
    }
    out += fmt::format("{} {}", peer.name, microseconds(peer.timing.median_us));
    if (result.timing.median_us > 0) {
      out += fmt::format(" ({:.2f}x)", peer.timing.median_us / result.timing.median_us);
    }
  }
  return out;
}

std::string roof_text(const BenchResult& result) {
  if (result.percent_of_roof > 0) {
    return fmt::format("{:.1f} % {}", result.percent_of_roof, result.roof);
  }
  return result.roof;
}

}  // namespace

std::string bench_text(const std::vector<BenchResult>& results) {
  Table table({"variant", "case", "tiling", ">median µs", ">q1-q3", ">predicted", ">GB/s",
               ">of roof", ">of measured", ">copy µs", ">of copy", "peers µs (their time / ours)"});
  std::string notes;
  for (const BenchResult& r : results) {
    if (!r.failure.empty()) {
      table.add({r.variant.empty() ? "none" : r.variant, r.case_name, r.tiling,
                 paint("failed", Colour::kRed)});
      notes += fmt::format("\n{}, {}: {}\n", r.variant, r.case_name, r.failure);
      continue;
    }
    table.add({r.variant, r.case_name, r.tiling, microseconds(r.timing.median_us),
               fmt::format("{}-{}", microseconds(r.timing.q1_us), microseconds(r.timing.q3_us)),
               microseconds(r.predicted_us), fmt::format("{:.1f}", r.gbps), roof_text(r),
               percent(r.percent_of_measured_roof), microseconds(r.copy.median_us),
               percent(r.percent_of_copy), peers_text(r)});
    for (const PeerResult& peer : r.peers) {
      const std::string note = fmt::format("\npeer {} skipped: {}\n", peer.name, peer.skipped);
      if (!peer.skipped.empty() && notes.find(note) == std::string::npos) notes += note;
    }
  }
  return table.text() + notes;
}

Json bench_json(std::string_view op, const DeviceInfo& device,
                const std::vector<BenchResult>& results) {
  return Json::parse(measure::results_json(op, device, results));
}

bool any_measured(const std::vector<BenchResult>& results) {
  return std::ranges::any_of(results, [](const BenchResult& r) { return r.failure.empty(); });
}

bool any_failure(const std::vector<BenchResult>& results) {
  return std::ranges::any_of(results, [](const BenchResult& r) { return !r.failure.empty(); });
}

}  // namespace einkorn::cli
