#include "cli/ladder.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include <fmt/format.h>

#include "cli/table.h"

namespace einkorn::cli {
namespace {

/// 2 of "rms_norm/cpu/rows_v2".
int version_of(const std::string& variant) {
  const auto at = variant.rfind("_v");
  int version = 0;
  if (at != std::string::npos) {
    std::from_chars(variant.data() + at + 2, variant.data() + variant.size(), version);
  }
  return version;
}

std::string microseconds(double us) { return fmt::format("{:.{}f}", us, us < 100 ? 2 : 1); }

}  // namespace

std::string design_of(const std::string& variant) { return variant.substr(0, variant.rfind("_v")); }

std::vector<Rung> ladder(const std::vector<measure::BenchResult>& results,
                         const std::string& variant) {
  std::vector<std::string> cases;  // in the order measured
  std::vector<Rung> out;
  for (const measure::BenchResult& result : results) {
    if (!result.failure.empty()) continue;
    if (!variant.empty() && design_of(result.variant) != design_of(variant)) continue;
    if (std::ranges::find(cases, result.case_name) == cases.end())
      cases.push_back(result.case_name);
    const auto same = std::ranges::find_if(out, [&](const Rung& rung) {
      return rung.result.variant == result.variant && rung.result.case_name == result.case_name;
    });
    if (same == out.end()) {
      out.push_back({result, {}, 0});
    } else if (result.timing.median_us < same->result.timing.median_us) {
      same->result = result;
    }
  }
  std::ranges::stable_sort(out, {}, [&](const Rung& rung) {
    return std::tuple(std::ranges::find(cases, rung.result.case_name) - cases.begin(),
                      design_of(rung.result.variant), version_of(rung.result.variant));
  });
  for (std::size_t i = 1; i < out.size(); ++i) {
    const measure::BenchResult& before = out[i - 1].result;
    if (before.case_name != out[i].result.case_name ||
        design_of(before.variant) != design_of(out[i].result.variant)) {
      continue;
    }
    out[i].previous = before.variant;
    out[i].previous_us = before.timing.median_us;
  }
  return out;
}

std::string ladder_text(const std::vector<Rung>& rungs) {
  Table table({"variant", "case", "tiling", ">median µs", ">q1-q3", ">against the version before",
               ">of copy"});
  for (const Rung& rung : rungs) {
    const measure::BenchResult& r = rung.result;
    table.add({r.variant, r.case_name, r.tiling, microseconds(r.timing.median_us),
               fmt::format("{}-{}", microseconds(r.timing.q1_us), microseconds(r.timing.q3_us)),
               rung.previous.empty() ? "first" : fmt::format("{:+.1f} %", rung.change() * 100),
               r.percent_of_copy > 0 ? fmt::format("{:.1f} %", r.percent_of_copy) : ""});
  }
  return table.text();
}

Json ladder_json(const std::vector<Rung>& rungs) {
  Json out = Json::array();
  for (const Rung& rung : rungs) {
    const bool first = rung.previous.empty();
    out.push_back({{"variant", rung.result.variant},
                   {"case", rung.result.case_name},
                   {"median_us", rung.result.timing.median_us},
                   {"previous", text_or_null(rung.previous)},
                   {"previous_us", first ? Json() : Json(rung.previous_us)},
                   {"change_percent", first ? Json() : Json(rung.change() * 100)}});
  }
  return out;
}

}  // namespace einkorn::cli
