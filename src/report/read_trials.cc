#include <algorithm>
#include <map>
#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/report/read.h"
#include "src/trials/store.h"

namespace einkorn::report {
namespace {

Trial trial_of(const std::string& path, const trials::Trial& line) {
  Trial out{.origin = {.path = path,
                       .device = line.place.device,
                       .driver = line.place.driver,
                       .commit = line.commit,
                       .date = line.date,
                       .versions = {{"einkorn", line.version}}},
            .op = line.op,
            .variant = line.variant,
            .problem = line.problem,
            .tiling = line.tiling,
            .conditions = fmt::format("{}, {} L2, {}, sources {:.8}", line.mode, line.l2,
                                      line.place.compiler, line.source),
            .status = std::string(name(line.status)),
            .reason = line.reason,
            .time = {line.median_us, line.q1_us, line.q3_us},
            .predicted_us = line.predicted_us};
  // "nvrtc 13.0".
  if (const std::size_t blank = line.place.compiler.find(' '); blank != std::string::npos) {
    out.origin.versions.emplace_back(line.place.compiler.substr(0, blank),
                                     line.place.compiler.substr(blank + 1));
  }
  return out;
}

/// One file may hold the trials of several devices.
Origin origin_of_all(const std::string& path, const std::vector<Trial>& trials) {
  Origin out;
  out.path = path;
  out.date = trials.back().origin.date;
  out.commit = trials.back().origin.commit;
  out.device = trials.front().origin.device;
  const bool one = std::all_of(trials.begin(), trials.end(), [&](const Trial& trial) {
    return trial.origin.device == out.device;
  });
  if (!one) out.device = "several";
  return out;
}

}  // namespace

void read_trials(const std::string& path, std::string_view text, Documents& documents) {
  const trials::Reading reading = trials::read_text(text, path);
  EK_CHECK(!reading.trials.empty(), ErrorKind::kValue,
           reading.bad.empty() ? std::string("no line in it")
                               : fmt::format("no line of it is a trial; line {}: {}",
                                             reading.bad.front().line, reading.bad.front().why));
  std::vector<Trial> trials;
  trials.reserve(reading.trials.size());
  for (const trials::Trial& line : reading.trials) trials.push_back(trial_of(path, line));
  documents.sources.push_back(
      {origin_of_all(path, trials), "trials", static_cast<int>(trials.size())});
  documents.trials.insert(documents.trials.end(), trials.begin(), trials.end());

  std::map<std::string, Skipped> bad;  // by reason
  for (const trials::BadLine& line : reading.bad) {
    const auto [at, first] = bad.try_emplace(line.why, Skipped{path, line.line, 1, line.why});
    if (!first) ++at->second.count;
  }
  for (const auto& [reason, skipped] : bad) documents.skipped.push_back(skipped);
}

}  // namespace einkorn::report
