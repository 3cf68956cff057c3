#include "src/measure/results.h"

#include <cmath>
#include <system_error>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <einkorn/version.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/core/file.h"
#include "src/core/slug.h"
#include "src/core/utc_time.h"

namespace einkorn::measure {
namespace {

// Keys in the order they are written in.
using Json = nlohmann::ordered_json;

/// Three digits after the point: below any measurement's spread.
double rounded(double value) { return std::round(value * 1000) / 1000; }

Json peer_json(const PeerResult& peer) {
  Json out{{"name", peer.name}, {"version", peer.version}};
  if (!peer.skipped.empty()) {
    out["skipped"] = peer.skipped;
    return out;
  }
  out["median_us"] = rounded(peer.timing.median_us);
  out["q1_us"] = rounded(peer.timing.q1_us);
  out["q3_us"] = rounded(peer.timing.q3_us);
  return out;
}

Json result_json(const BenchResult& result) {
  Json out{{"variant", result.variant},
           {"case", result.case_name},
           {"problem", result.problem},
           {"tiling", result.tiling},
           {"median_us", rounded(result.timing.median_us)},
           {"q1_us", rounded(result.timing.q1_us)},
           {"q3_us", rounded(result.timing.q3_us)},
           {"samples", result.timing.samples},
           {"gbps", rounded(result.gbps)},
           {"tflops", rounded(result.tflops)},
           {"roof", result.roof},
           {"percent_of_roof", rounded(result.percent_of_roof)},
           {"percent_of_measured_roof", rounded(result.percent_of_measured_roof)},
           {"predicted_us", rounded(result.predicted_us)},
           {"copy_us", rounded(result.copy.median_us)},
           {"copied_by", result.copied_by},
           {"percent_of_copy", rounded(result.percent_of_copy)},
           {"input_sets", result.input_sets},
           {"clocks",
            {{"sm_mhz_start", result.clocks.sm_mhz_start},
             {"sm_mhz_end", result.clocks.sm_mhz_end},
             {"memory_mhz", result.clocks.memory_mhz},
             {"throttle", result.clocks.throttle}}},
           {"peers", Json::array()}};
  for (const PeerResult& peer : result.peers) out["peers"].push_back(peer_json(peer));
  if (!result.failure.empty()) out["failure"] = result.failure;
  return out;
}

/// What took part, by name. A missing library is left out.
Json versions_json(const DeviceInfo& device, std::span<const BenchResult> results) {
  Json out{{"einkorn", std::string(version())}};
  if (device.device.kind == DeviceKind::kCuda) {
    for (const cuda::LibraryReport& report : cuda::library_reports()) {
      if (report.library == "libnvrtc" && !report.path.empty()) out["nvrtc"] = report.version;
    }
  }
  for (const BenchResult& result : results) {
    for (const PeerResult& peer : result.peers) {
      if (!peer.version.empty()) out[peer.name] = peer.version;
    }
  }
  return out;
}

}  // namespace

std::string results_json(std::string_view op, const DeviceInfo& device,
                         std::span<const BenchResult> results) {
  const bool gpu = device.device.kind == DeviceKind::kCuda;
  Json out{{"op", std::string(op)},
           {"device", device.name},
           {"driver", gpu ? cuda::driver_version() : ""},
           {"versions", versions_json(device, results)},
           {"commit", std::string(git_commit())},
           {"date", utc_now()},
           {"results", Json::array()}};
  for (const BenchResult& result : results) out["results"].push_back(result_json(result));
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string results_file_name(std::string_view op, const DeviceInfo& device) {
  return fmt::format("{}-{}-{}.json", utc_date(), op, slug(device.name));
}

void write_results(const std::string& path, std::string_view op, const DeviceInfo& device,
                   std::span<const BenchResult> results) {
  const std::error_code error = replace_file(path, results_json(op, device, results));
  EK_CHECK(!error, ErrorKind::kRuntime,
           fmt::format("results: cannot write {}: {}", path, error.message()));
}

}  // namespace einkorn::measure
