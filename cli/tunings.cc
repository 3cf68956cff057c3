// What `einkorn tune` found, as text and JSON.

#include <algorithm>

#include <einkorn/cuda.h>
#include <einkorn/version.h>
#include <fmt/format.h>

#include "cli/table.h"
#include "cli/tune.h"
#include "src/core/utc_time.h"
#include "src/trials/trial.h"

namespace einkorn::cli {
namespace {

using trials::Status;
using trials::Trial;

/// Enough digits to see a difference of 0.1 %, no more.
std::string microseconds(double us) {
  if (us <= 0) return {};
  if (us < 100) return fmt::format("{:.2f}", us);
  return us < 10000 ? fmt::format("{:.1f}", us) : fmt::format("{:.0f}", us);
}

/// By how much the best is faster, percent of the default's time.
std::optional<double> gain_of(const tune::Outcome& outcome) {
  if (!outcome.best_trial || !outcome.default_trial) return std::nullopt;
  return 100 * (1 - outcome.best_trial->median_us / outcome.default_trial->median_us);
}

std::size_t count(const tune::Outcome& outcome, bool (*is)(const tune::Known&)) {
  return static_cast<std::size_t>(std::ranges::count_if(outcome.known, is));
}

bool is_reused(const tune::Known& one) { return one.is_reused; }
bool has_failed(const tune::Known& one) { return one.trial.status != Status::kOk; }

std::string remark_of(const tune::Outcome& outcome, const tune::Known& known) {
  std::string out;
  const auto add = [&](std::string_view text) {
    out += (out.empty() ? "" : ", ") + std::string(text);
  };
  const Trial& trial = known.trial;
  if (trial.status != Status::kOk) {
    add(paint(trials::name(trial.status), Colour::kRed));
  } else if (outcome.best_trial && trial.tiling == outcome.best_trial->tiling) {
    add(paint("best", Colour::kGreen));
  }
  if (trial.tiling == outcome.candidates.at(0).tiling) add("default");
  if (known.is_reused) add("from before");
  return out;
}

/// Candidates from the fastest to the failed ones.
std::string candidates_table(const tune::Outcome& outcome) {
  std::vector<tune::Known> rows = outcome.known;
  std::ranges::stable_sort(rows, {}, [](const tune::Known& one) {
    return std::pair(has_failed(one), one.trial.median_us);
  });
  Table table({"tiling", ">median µs", ">q1-q3", ">samples", ">registers", ">smem", "remark"});
  for (const tune::Known& one : rows) {
    const Trial& trial = one.trial;
    const bool ok = trial.status == Status::kOk;
    const auto number = [&](std::int64_t value) {
      return value > 0 ? std::to_string(value) : std::string();
    };
    table.add({trial.tiling, microseconds(trial.median_us),
               ok ? fmt::format("{}-{}", microseconds(trial.q1_us), microseconds(trial.q3_us)) : "",
               number(trial.samples), number(trial.resources.registers),
               number(trial.resources.smem), remark_of(outcome, one)});
  }
  return table.text();
}

std::string summary_table(const std::vector<Tuned>& all) {
  Table table({"variant", "case", "best tiling", ">µs", "default tiling", ">µs", ">gain", ">tried",
               ">seconds", ">estimated"});
  for (const Tuned& one : all) {
    const tune::Outcome& outcome = one.outcome;
    const auto gain = gain_of(outcome);
    table.add({one.variant->id(), one.case_name,
               outcome.best_trial ? outcome.best_trial->tiling : paint("none", Colour::kRed),
               outcome.best_trial ? microseconds(outcome.best_trial->median_us) : "",
               outcome.candidates.at(0).tiling,
               outcome.default_trial ? microseconds(outcome.default_trial->median_us) : "",
               gain ? fmt::format("{:.1f} %", *gain) : "",
               fmt::format("{} of {}", outcome.tried, outcome.candidates.size()),
               fmt::format("{:.1f}", outcome.seconds),
               fmt::format("{:.1f}", outcome.estimate.total())});
  }
  return table.text();
}

std::string notes(const Tuned& one) {
  std::string out;
  for (const tune::Known& known : one.outcome.known) {
    if (!has_failed(known)) continue;
    out += fmt::format("\n{} {}: {}: {}\n", one.variant->id(), known.trial.tiling,
                       trials::name(known.trial.status), known.trial.reason);
  }
  if (!one.outcome.stopped.empty()) {
    out += fmt::format("\n{}: ended early: {}\n", one.case_name, one.outcome.stopped);
  }
  return out;
}

std::string preview_text(const Tuned& one) {
  const tune::Outcome& outcome = one.outcome;
  std::string out = fmt::format(
      "{}  {} ({})\n{} search: {} of {} candidates, about {:.1f} s ({:.1f} s to start, {:.1f} s to "
      "build and check, {:.1f} s of samples)\n",
      one.variant->id(), one.problem, one.case_name, tune::name(one.strategy), outcome.planned,
      outcome.candidates.size(), outcome.estimate.total(), outcome.estimate.setup_seconds,
      outcome.estimate.prepare_seconds, outcome.estimate.sample_seconds);
  Table table({"tiling", ">predicted µs", "remark"});
  for (std::size_t i = 0; i < outcome.candidates.size(); ++i) {
    const tune::Candidate& candidate = outcome.candidates[i];
    table.add({candidate.tiling, microseconds(candidate.predicted_us), i == 0 ? "default" : ""});
  }
  return out + table.text();
}

bool is_preview(const Tuned& one) {
  return one.outcome.known.empty() && one.outcome.seconds == 0 && one.outcome.stopped.empty();
}

Json time_json(const std::optional<Trial>& trial) {
  if (!trial) return {};
  return {{"tiling", trial->tiling},
          {"median_us", trial->median_us},
          {"q1_us", trial->q1_us},
          {"q3_us", trial->q3_us},
          {"samples", trial->samples}};
}

Json trials_json(const tune::Outcome& outcome) {
  Json out = Json::array();
  for (const tune::Known& one : outcome.known) {
    Json row = Json::parse(trials::to_line(one.trial));
    row["reused"] = one.is_reused;
    out.push_back(std::move(row));
  }
  return out;
}

Json candidates_json(const tune::Outcome& outcome) {
  Json out = Json::array();
  for (const tune::Candidate& one : outcome.candidates) {
    out.push_back({{"tiling", one.tiling},
                   {"predicted_us", one.predicted_us > 0 ? Json(one.predicted_us) : Json()}});
  }
  return out;
}

Json result_json(const Tuned& one) {
  const tune::Outcome& outcome = one.outcome;
  const auto gain = gain_of(outcome);
  return {{"variant", one.variant->id()},
          {"case", one.case_name},
          {"problem", one.problem},
          {"search", tune::name(one.strategy)},
          {"planned", outcome.planned},
          {"tried", outcome.tried},
          {"reused", count(outcome, is_reused)},
          {"failed", count(outcome, has_failed)},
          {"estimated_seconds", outcome.estimate.total()},
          {"seconds", outcome.seconds},
          {"stopped", text_or_null(outcome.stopped)},
          {"best", time_json(outcome.best_trial)},
          {"default", time_json(outcome.default_trial)},
          {"gain_percent", gain ? Json(*gain) : Json()},
          {"candidates", candidates_json(outcome)},
          {"trials", trials_json(outcome)}};
}

}  // namespace

std::string tuned_text(const std::vector<Tuned>& all) {
  std::string out;
  for (const Tuned& one : all) {
    if (is_preview(one)) out += (out.empty() ? "" : "\n") + preview_text(one);
  }
  if (!out.empty() || all.empty()) return out;
  if (all.size() == 1 && !all[0].outcome.known.empty())
    out += candidates_table(all[0].outcome) + '\n';
  out += summary_table(all);
  for (const Tuned& one : all) out += notes(one);
  return out;
}

Json tuned_json(std::string_view op, const DeviceInfo& device, const std::vector<Tuned>& all,
                bool dry_run) {
  const bool gpu = device.device.kind == DeviceKind::kCuda;
  Json out{{"op", op},
           {"device", device.name},
           {"driver", gpu && device.present ? cuda::driver_version() : ""},
           {"commit", git_commit()},
           {"date", utc_now()},
           {"dry_run", dry_run},
           {"results", Json::array()}};
  for (const Tuned& one : all) out["results"].push_back(result_json(one));
  return out;
}

}  // namespace einkorn::cli
