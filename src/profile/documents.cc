#include "src/profile/documents.h"

#include <cmath>
#include <utility>

#include <einkorn/cuda.h>
#include <einkorn/version.h>
#include <fmt/format.h>

#include "src/core/utc_time.h"

namespace einkorn::profile {
namespace {

/// Three digits after the point: below any measurement's spread.
double rounded(double value) { return std::round(value * 1000) / 1000; }

Json rounded_or_null(const std::optional<double>& value) {
  return value ? Json(rounded(*value)) : Json();
}

/// 0 stands for what is not told.
Json told(double value) { return value > 0 ? Json(rounded(value)) : Json(); }

std::string nvrtc_version() {
  for (const cuda::LibraryReport& report : cuda::library_reports()) {
    if (report.library == "libnvrtc" && !report.path.empty()) return report.version;
  }
  return {};
}

Json dim_json(const cuda::Dim3& dim) { return Json::array({dim.x, dim.y, dim.z}); }

Json stage_json(const StageTime& stage) {
  return {{"name", stage.name},
          {"median_us", rounded(stage.timing.median_us)},
          {"q1_us", rounded(stage.timing.q1_us)},
          {"q3_us", rounded(stage.timing.q3_us)},
          {"share", rounded(stage.share)},
          {"predicted_us", rounded_or_null(stage.predicted_us)},
          {"gbps", told(stage.gbps)},
          {"tflops", told(stage.tflops)},
          {"branches", stage.branches}};
}

Json concurrent_json(const ConcurrentTime& one) {
  return {{"name", one.name},
          {"sum_us", rounded(one.sum_us)},
          {"longest_us", rounded(one.longest_us)},
          {"joint_us", rounded(one.joint.median_us)},
          {"gain", rounded(one.gain)}};
}

}  // namespace

Json params_json(const std::string& mode, const Subject& subject,
                 const std::map<std::string, std::string>& tools) {
  const bool gpu = subject.device.device.kind == DeviceKind::kCuda;
  Json versions{{"einkorn", std::string(version())}};
  if (gpu) {
    if (std::string nvrtc = nvrtc_version(); !nvrtc.empty()) versions["nvrtc"] = std::move(nvrtc);
  }
  for (const auto& [name, tool] : tools) versions[name] = tool;
  return {{"mode", mode},
          {"op", std::string(subject.entry.op->name)},
          {"variant", subject.variant.id()},
          {"problem", subject.entry.op->print(subject.problem.get())},
          {"tiling", subject.tiling},
          {"device", subject.device.name},
          {"driver", gpu ? cuda::driver_version() : ""},
          {"versions", std::move(versions)},
          {"commit", std::string(git_commit())},
          {"date", utc_now()},
          {"seed", subject.seed}};
}

Json event_json(const EventProfile& profile) {
  Json out{{"total_us", rounded(profile.total.median_us)},
           {"q1_us", rounded(profile.total.q1_us)},
           {"q3_us", rounded(profile.total.q3_us)},
           {"samples", profile.total.samples},
           {"input_sets", profile.input_sets},
           {"predicted_us", rounded_or_null(profile.predicted_us)},
           {"stages", Json::array()},
           {"concurrent", Json::array()}};
  for (const StageTime& stage : profile.stages) out["stages"].push_back(stage_json(stage));
  for (const ConcurrentTime& one : profile.concurrent) {
    out["concurrent"].push_back(concurrent_json(one));
  }
  return out;
}

Json timeline_json(const Timeline& timeline) {
  Json out{{"span_us", rounded(timeline.span_us)},
           {"busy_us", rounded(timeline.busy_us)},
           {"overlap_us", rounded(timeline.overlap_us)},
           {"runs", timeline.runs},
           {"kernels", Json::array()},
           {"gaps", Json::array()},
           {"concurrent", Json::array()}};
  for (const Span& span : timeline.kernels) {
    out["kernels"].push_back({{"name", span.name},
                              {"kernel", span.kernel},
                              {"stream", span.stream},
                              {"start_us", rounded(span.start_us)},
                              {"duration_us", rounded(span.duration_us)},
                              {"grid", dim_json(span.grid)},
                              {"block", dim_json(span.block)},
                              {"registers", span.registers}});
  }
  for (const Gap& gap : timeline.gaps) {
    out["gaps"].push_back({{"before", gap.before}, {"after", gap.after}, {"us", rounded(gap.us)}});
  }
  for (const BranchOverlap& one : timeline.concurrent) {
    out["concurrent"].push_back({{"name", one.name},
                                 {"sum_us", rounded(one.sum_us)},
                                 {"span_us", rounded(one.span_us)},
                                 {"overlap_us", rounded(one.overlap_us)}});
  }
  return out;
}

Json counters_json(const std::vector<KernelCounters>& kernels) {
  Json out = Json::array();
  for (const KernelCounters& one : kernels) {
    const Counters& c = one.counters;
    out.push_back({{"stage", one.stage.empty() ? Json() : Json(one.stage)},
                   {"kernel", one.kernel},
                   {"duration_us", rounded_or_null(c.duration_us)},
                   {"dram_percent", rounded_or_null(c.dram_percent)},
                   {"dram_bytes", rounded_or_null(c.dram_bytes)},
                   {"tensor_percent", rounded_or_null(c.tensor_percent)},
                   {"compute_percent", rounded_or_null(c.compute_percent)},
                   {"occupancy_percent", rounded_or_null(c.occupancy_percent)},
                   {"l2_hit_percent", rounded_or_null(c.l2_hit_percent)},
                   {"local_load_bytes", rounded_or_null(c.local_load_bytes)},
                   {"local_store_bytes", rounded_or_null(c.local_store_bytes)},
                   {"waves", rounded_or_null(c.waves)},
                   {"registers", rounded_or_null(c.registers)},
                   {"missing", c.missing},
                   {"bound", one.verdict.bound},
                   {"rule", one.verdict.rule},
                   {"notes", one.verdict.notes}});
  }
  return out;
}

}  // namespace einkorn::profile
