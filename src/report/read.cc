#include "src/report/read.h"

#include <functional>
#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::report {
namespace {

Peer peer_of(const Json& row) {
  Peer out{.name = text_of(row, "name"),
           .version = text_of(row, "version"),
           .skipped = text_of(row, "skipped"),
           .time = spread_of(row)};
  if (out.skipped.empty() && out.time.median_us <= 0) out.skipped = "no time in the document";
  return out;
}

Result result_of(const Json& row) {
  Result out{.variant = text_of(row, "variant"),
             .case_name = text_of(row, "case"),
             .problem = text_of(row, "problem"),
             .tiling = text_of(row, "tiling"),
             .time = spread_of(row),
             .gbps = number_of(row, "gbps"),
             .tflops = number_of(row, "tflops"),
             .roof = text_of(row, "roof"),
             .percent_of_roof = number_of(row, "percent_of_roof"),
             .predicted_us = number_of(row, "predicted_us"),
             .copy_us = number_of(row, "copy_us"),
             .copied_by = text_of(row, "copied_by"),
             .peers = {},
             .failure = text_of(row, "failure")};
  EK_CHECK(!out.variant.empty(), ErrorKind::kValue, "variant: expected a name, got nothing");
  if (out.failure.empty() && out.time.median_us <= 0) out.failure = "no time in the document";
  for (const Json& peer : objects_of(row, "peers")) out.peers.push_back(peer_of(peer));
  return out;
}

void add_bench(const Json& document, const Json& rows, std::string kind, Origin origin,
               Documents& documents) {
  BenchDocument out{.origin = std::move(origin), .op = text_of(document, "op"), .results = {}};
  EK_CHECK(!out.origin.device.empty(), ErrorKind::kValue, "device: expected a name, got nothing");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    try {
      out.results.push_back(result_of(rows[i]));
    } catch (const Error& error) {
      throw_error(ErrorKind::kValue, fmt::format("result {}: {}", i + 1, error.what()));
    }
  }
  documents.sources.push_back({out.origin, std::move(kind), static_cast<int>(out.results.size())});
  documents.benches.push_back(std::move(out));
}

void add_profile(const Json& document, Origin origin, Documents& documents) {
  const std::string mode = text_of(document, "mode");
  EK_CHECK(
      mode == "event", ErrorKind::kValue,
      fmt::format("a profile of mode '{}': only those of mode 'event' have stage times", mode));
  ProfileDocument out{.origin = std::move(origin),
                      .variant = text_of(document, "variant"),
                      .problem = text_of(document, "problem"),
                      .total_us = number_of(document, "total_us"),
                      .stages = {}};
  EK_CHECK(!out.origin.device.empty(), ErrorKind::kValue, "device: expected a name, got nothing");
  constexpr double kDeepest = 64;
  for (const Json& stage : objects_of(document, "stages")) {
    const double depth = number_of(stage, "depth");
    EK_CHECK(depth <= kDeepest, ErrorKind::kValue,
             fmt::format("depth: expected at most {}, got {}", kDeepest, depth));
    out.stages.push_back({.name = text_of(stage, "name"),
                          .time = spread_of(stage),
                          .predicted_us = number_of(stage, "predicted_us"),
                          .depth = static_cast<int>(depth)});
  }
  EK_CHECK(!out.stages.empty(), ErrorKind::kValue, "stages: expected at least one, got none");
  documents.sources.push_back({out.origin, "profile", static_cast<int>(out.stages.size())});
  documents.profiles.push_back(std::move(out));
}

/// What doctor calls "cuda:0" has the driver's name here.
std::string title_of(const Json& document, const std::string& name) {
  for (const Json& device : objects_of(document, "devices")) {
    if (text_of(device, "name") == name) return text_of(device, "title");
  }
  return name;
}

void add_rates(const Json& document, const Origin& origin, Documents& documents) {
  std::vector<Rate> rates;
  for (const Json& row : objects_of(document, "measured")) {
    const double value = number_of(row, "value");
    const std::string unit = text_of(row, "unit");
    if (value <= 0) continue;  // the document has the reason, and no rate
    Rate rate{.origin = origin, .what = text_of(row, "what")};
    rate.origin.device = title_of(document, text_of(row, "device"));
    if (unit == "GB/s") {
      rate.gbps = value;
    } else if (unit == "GFLOP/s" || unit == "TFLOP/s") {
      rate.tflops = unit == "GFLOP/s" ? value / 1000 : value;
    } else {
      throw_error(ErrorKind::kValue,
                  fmt::format("unit: expected GB/s, GFLOP/s or TFLOP/s, got '{}'", unit));
    }
    rates.push_back(std::move(rate));
  }
  EK_CHECK(!rates.empty(), ErrorKind::kValue,
           "no rate was measured\n  hint: einkorn doctor --measure --json");
  documents.sources.push_back({origin, "doctor", static_cast<int>(rates.size())});
  documents.rates.insert(documents.rates.end(), rates.begin(), rates.end());
}

bool has(const Json& document, std::string_view key) { return document.contains(std::string(key)); }

}  // namespace

Origin origin_of(const std::string& path, const Json& document) {
  Origin out{.path = path,
             .device = text_of(document, "device"),
             .driver = text_of(document, "driver"),
             .commit = text_of(document, "commit"),
             .date = text_of(document, "date"),
             .versions = {}};
  if (!has(document, "versions") || document["versions"].is_null()) return out;
  EK_CHECK(document["versions"].is_object(), ErrorKind::kValue,
           "versions: expected an object of names and versions");
  for (const auto& [name, value] : document["versions"].items()) {
    out.versions.emplace_back(name, text_of(document["versions"], name));
  }
  return out;
}

Spread spread_of(const Json& object) {
  Spread out;
  out.median_us = number_of(object, "median_us");
  const double q1 = number_of(object, "q1_us");
  const double q3 = number_of(object, "q3_us");
  out.q1_us = q1 > 0 ? q1 : out.median_us;
  out.q3_us = q3 > 0 ? q3 : out.median_us;
  return out;
}

Json parse_json(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ...".
    const std::string what = error.what();
    const std::size_t end = what.find("] ");
    throw_error(ErrorKind::kValue,
                fmt::format("no JSON: {}", end == std::string::npos ? what : what.substr(end + 2)));
  }
}

void read_document(const std::string& path, std::string_view text, Documents& documents) {
  const Json document = parse_json(text);
  EK_CHECK(document.is_object(), ErrorKind::kValue, "expected one JSON object, got something else");
  if (has(document, "mode") && has(document, "stages")) {
    add_profile(document, origin_of(path, document), documents);
  } else if (has(document, "bench") && has(document, "op")) {
    add_bench(document, objects_of(document, "bench"), "run", origin_of(path, document), documents);
  } else if (has(document, "results") && has(document, "op")) {
    add_bench(document, objects_of(document, "results"), "bench", origin_of(path, document),
              documents);
  } else if (has(document, "measured") && has(document, "devices")) {
    add_rates(document, origin_of(path, document), documents);
  } else {
    const bool says = has(document, "what") && document["what"].is_string();
    throw_error(ErrorKind::kValue,
                fmt::format("no document of bench, run, doctor --measure or profile{}",
                            says ? fmt::format(" (it is about: {})", text_of(document, "what"))
                                 : std::string()));
  }
}

}  // namespace einkorn::report
