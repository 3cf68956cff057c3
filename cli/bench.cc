// einkorn bench: how fast, beside a plain copy of the same bytes and other libraries.

#include <fmt/format.h>

#include "cli/benches.h"
#include "cli/choices.h"
#include "cli/files.h"
#include "cli/ladder.h"
#include "cli/status.h"
#include "cli/target.h"
#include "cli/verbs.h"

namespace einkorn::cli {
namespace {

/// Whether every variant that serves takes part in each round.
bool measures_all(const BenchOptions& options) { return options.all_variants || options.versions; }

measure::BenchOptions request_of(const BenchOptions& options, const Target& target, Device device,
                                 Progress& progress) {
  measure::BenchOptions request;
  request.device = device;
  request.variant = measures_all(options) ? "all" : target.choice();
  request.all_tilings = options.tilings;
  request.peers = options.peers;
  request.seconds = options.seconds;
  request.seed = options.seed;
  request.progress = [&progress](const std::string& text) { progress.show(text); };
  request.stop = interrupted;
  return request;
}

/// Prints what a call costs on the CPU.
int report_call_cost(const BenchOptions& options, const Target& target,
                     const std::vector<NamedProblem>& problems, Device device) {
  Json rows = Json::array();
  std::string text;
  for (const NamedProblem& problem : problems) {
    const auto cost = measure::call_cost(*target.entry, problem.problem, device);
    rows.push_back(
        {{"op", target.op()},
         {"case", problem.name},
         {"op_ns", cost.op_ns},
         {"bare_launch_ns", cost.bare_launch_ns > 0 ? Json(cost.bare_launch_ns) : Json()}});
    text += fmt::format("{}: {:.0f} ns a call", problem.name, cost.op_ns);
    if (cost.bare_launch_ns > 0) {
      text += fmt::format(", a bare launch {:.0f} ns, difference {:.0f} ns", cost.bare_launch_ns,
                          cost.op_ns - cost.bare_launch_ns);
    }
    text += '\n';
  }
  if (options.json) {
    print_json({{"device", device_info(device).name}, {"call_cost", std::move(rows)}});
  } else {
    print(text);
  }
  return problems.empty() ? kNothingRan : kAllWell;
}

/// What was measured, and what nothing could be measured of.
struct Outcome {
  std::vector<measure::BenchResult> results;
  std::string refused;  ///< for each problem that no variant serves, all variants and why
  bool stopped = false;
};

Outcome measure_all(const BenchOptions& options, const Target& target, const DeviceInfo& device,
                    const std::vector<NamedProblem>& problems) {
  Outcome out;
  Progress progress;
  try {
    auto request = request_of(options, target, device.device, progress);
    for (std::size_t i = 0; i < problems.size() && !out.stopped; ++i) {
      const NamedProblem& problem = problems[i];
      request.round = [&, i](int done, int rounds) {
        progress.of(static_cast<double>(i) + static_cast<double>(done) / rounds,
                    static_cast<double>(problems.size()));
      };
      // A variant that is named is told why it cannot serve, also with its versions beside it.
      if (!measures_all(options) || target.variant != nullptr) {
        const Selection choice = choose(target, problem, device).selection;
        if (choice.chosen == nullptr) {
          out.refused +=
              describe_failure(*target.entry, problem.problem.get(), device, choice) + '\n';
          continue;
        }
      }
      progress.about(fmt::format("bench {} {}", target.op(), problem.name));
      auto some = measure::bench(*target.entry, problem.problem, problem.name, request);
      out.results.insert(out.results.end(), some.begin(), some.end());
      out.stopped = interrupted();
    }
  } catch (const Interrupted&) {
    out.stopped = true;
  }
  return out;
}

/// What could not be measured, as `bench` tells it; the ladder has no place for it.
std::string failures_text(std::vector<measure::BenchResult> results) {
  std::erase_if(results, [](const measure::BenchResult& r) { return r.failure.empty(); });
  return results.empty() ? std::string() : '\n' + bench_text(results);
}

void report(const BenchOptions& options, const Target& target, const DeviceInfo& device,
            const Outcome& outcome) {
  Json out = bench_json(target.op(), device, outcome.results);
  const std::string only = target.variant != nullptr ? target.variant->id() : std::string();
  std::vector<Rung> rungs;
  if (options.versions) {
    rungs = ladder(outcome.results, only);
    out["ladder"] = ladder_json(rungs);
  }
  if (outcome.stopped) out["interrupted"] = true;
  if (options.json) {
    print_json(out);
  } else {
    std::string text = fmt::format("device  {}\n\n", device.name);
    if (options.versions) {
      if (!rungs.empty()) text += ladder_text(rungs);
      text += failures_text(outcome.results);
    } else if (!outcome.results.empty()) {
      text += bench_text(outcome.results);
    }
    if (outcome.stopped) text += "\nstopped by Ctrl-C: the rest was not measured\n";
    print(text);
  }
  // After the result is on the screen: a path that cannot be written loses no measurement.
  if (options.output.empty()) return;
  write_file(options.output, json_text(out));
  if (!options.json) print(fmt::format("\nwritten to {}\n", options.output));
}

}  // namespace

int bench_variants(const BenchOptions& options) {
  const auto view = registry();
  const Words words = split_words(options.words);
  const Target target = only_target(*view, words, "bench");
  if (options.all_variants && target.variant != nullptr) {
    throw Exit(kBadUsage, "bench: --all-variants and a named variant exclude each other");
  }
  // What the user typed is judged before a device is looked for.
  static_cast<void>(bench_problems(target, words.pairs, options.cases, DeviceKind::kCpu));
  const Device device = find_device(options.device);
  const auto problems = bench_problems(target, words.pairs, options.cases, device.kind);
  if (options.call_cost) return report_call_cost(options, target, problems, device);

  catch_interrupts();
  const DeviceInfo info = device_info(device);
  const Outcome outcome = measure_all(options, target, info, problems);
  report(options, target, info, outcome);
  if (outcome.stopped) return kInterrupted;
  if (any_failure(outcome.results)) return kFailed;
  if (!outcome.refused.empty()) {
    const int status = any_measured(outcome.results) ? kFailed : kNothingRan;
    throw Exit(status, outcome.refused.substr(0, outcome.refused.size() - 1));
  }
  return kAllWell;
}

}  // namespace einkorn::cli
