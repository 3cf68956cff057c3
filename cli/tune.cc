// einkorn tune: the fastest tiling of a variant for a problem, found and remembered.

#include "cli/tune.h"

#include <algorithm>

#include <einkorn/error.h>
#include <einkorn/roofline.h>
#include <fmt/format.h>

#include "cli/choices.h"
#include "cli/files.h"
#include "cli/status.h"
#include "src/registry/suggest.h"
#include "src/trials/store.h"
#include "src/tune/child_lab.h"
#include "src/tune/history.h"

namespace einkorn::cli {
namespace {

/// Few candidates are all tried; of many the model picks.
tune::Strategy strategy_of(const TuneOptions& options, std::size_t candidates) {
  if (options.search.empty()) {
    return candidates > tune::kSmall ? tune::Strategy::kModel : tune::Strategy::kExhaustive;
  }
  const auto found = tune::find_strategy(options.search);
  if (!found) {
    throw Exit(kBadUsage,
               "--search: " + expected_one_of(options.search, {"exhaustive", "random", "model"}));
  }
  return *found;
}

void check_options(const TuneOptions& options) {
  static_cast<void>(strategy_of(options, 0));
  if (!options.history.empty() && !options.history.ends_with(".csv") &&
      !options.history.ends_with(".json")) {
    throw Exit(kBadUsage,
               fmt::format("--history: expected a file ending in .csv or .json, got '{}'",
                           options.history));
  }
  if (!options.exported.empty() && !options.imported.empty()) {
    throw Exit(kBadUsage, "tune: --export and --import exclude each other");
  }
}

std::string progress_text(const tune::Standing& standing) {
  std::string out = fmt::format("{} of {}", standing.tried, standing.planned);
  if (standing.best_us > 0) {
    out += fmt::format(", best {:.2f} µs {}", standing.best_us, standing.best_tiling);
  }
  return out + ": " + standing.doing;
}

/// What all problems share.
struct Work {
  const TuneOptions& options;
  const Target& target;
  const DeviceInfo& device;
  Progress progress = {};
  std::vector<Tuned> done = {};
  std::string refused = {};  ///< why problems have no variant
  bool stopped = false;
  double seconds = 0;    ///< spent so far
  std::size_t left = 0;  ///< problems that the budget did not reach
};

tune::Options request_of(Work& work, const tune::Job& job) {
  const TuneOptions& options = work.options;
  tune::Options out;
  out.strategy = strategy_of(options, job.candidates.size());
  out.seed = options.seed;
  out.trials = options.budget_trials;
  out.fresh = options.fresh;
  if (options.budget_seconds > 0) {
    out.seconds = std::max(0.0, options.budget_seconds - work.seconds);
  }
  out.progress = [&work](const tune::Standing& standing) {
    try {
      // Of this problem and those before: what is to come after is not estimated yet.
      work.progress.of(work.seconds + standing.seconds,
                       work.seconds + std::max(standing.estimate, standing.seconds));
      work.progress.show(progress_text(standing));
    } catch (const Interrupted&) {
      return false;
    }
    return true;
  };
  return out;
}

/// What would be done.
tune::Outcome preview(const tune::Job& job, const tune::Options& request) {
  tune::Outcome out;
  out.candidates = job.candidates;
  out.planned = std::min(job.candidates.size(), request.trials.value_or(tune::default_trials(
                                                    request.strategy, job.candidates.size())));
  out.estimate = tune::estimate_of(job, request.strategy, out.planned);
  return out;
}

/// By the roofline, for each of the variant's candidates; 0 where nothing is known of the device.
std::vector<double> predicted_times(const Work& work, const Variant& variant, const void* problem) {
  const DevicePeaks peaks = peaks_of(work.device);
  const einkorn::Work costs = work.target.entry->op->work(problem);
  std::vector<double> out;
  for (const std::string& tiling : variant.tilings(problem, work.device)) {
    out.push_back(
        predict(variant.plan(problem, work.device, tiling), work.device, costs, peaks).us);
  }
  return out;
}

void tune_problem(Work& work, const NamedProblem& named) {
  const void* problem = named.problem.get();
  const Selection choice = choose(work.target, named, work.device).selection;
  if (choice.chosen == nullptr) {
    work.refused += describe_failure(*work.target.entry, problem, work.device, choice) + '\n';
    return;
  }
  const tune::Job job{*work.target.entry, *choice.chosen, named.problem, work.device,
                      tune::candidates_of(*choice.chosen, problem, work.device,
                                          predicted_times(work, *choice.chosen, problem))};
  const tune::Options request = request_of(work, job);
  Tuned& one = work.done.emplace_back();
  one.case_name = named.name;
  one.variant = choice.chosen;
  one.problem = work.target.entry->op->print(problem);
  one.strategy = request.strategy;
  if (work.options.dry_run) {
    one.outcome = preview(job, request);
    return;
  }
  work.progress.about(fmt::format("tune {} {}", choice.chosen->id(), named.name));
  tune::ChildLab lab(tune::ChildLab::own_command());
  one.outcome = tune::tune(job, request, lab, trials::user_store(true));
  work.seconds += one.outcome.seconds;
  work.stopped = one.outcome.stopped == "interrupted";
}

void write_history(const std::string& file, const std::vector<Tuned>& all) {
  std::vector<tune::Outcome> outcomes;
  outcomes.reserve(all.size());
  for (const Tuned& one : all) outcomes.push_back(one.outcome);
  write_file(file,
             file.ends_with(".csv") ? tune::history_csv(outcomes) : tune::history_json(outcomes));
}

void report(const TuneOptions& options, const Work& work) {
  if (!options.history.empty() && !options.dry_run) write_history(options.history, work.done);
  if (options.json) {
    Json out = tuned_json(work.target.op(), work.device, work.done, options.dry_run);
    if (work.stopped) out["interrupted"] = true;
    print_json(out);
    return;
  }
  if (work.done.empty()) return;  // what is refused follows as an error
  std::string text = fmt::format("device  {}\n\n", work.device.name) + tuned_text(work.done);
  if (work.left > 0) {
    text += fmt::format("\nthe budget was spent before {} more problems\n", work.left);
  }
  if (work.stopped) text += "\nstopped by Ctrl-C: what was measured is kept\n";
  print(text);
}

int status_of(const Work& work) {
  if (work.stopped) return kInterrupted;
  const auto is_found = [&](const Tuned& one) {
    return work.options.dry_run || one.outcome.best_trial.has_value();
  };
  if (!work.refused.empty()) {
    throw Exit(std::ranges::any_of(work.done, is_found) ? kFailed : kNothingRan,
               work.refused.substr(0, work.refused.size() - 1));
  }
  const bool all_well = std::ranges::all_of(work.done, [&](const Tuned& one) {
    return is_found(one) && !one.outcome.stopped.starts_with("device lost");
  });
  return all_well ? kAllWell : kFailed;
}

}  // namespace

int tune_op(const TuneOptions& options) {
  check_options(options);
  if (!options.imported.empty()) return import_trials(options);
  if (!options.exported.empty()) return export_tunings(options);
  const auto view = registry();
  const Words words = split_words(options.words);
  const Target target = only_target(*view, words, "tune");
  static_cast<void>(bench_problems(target, words.pairs, options.cases, DeviceKind::kCpu));
  const DeviceInfo device =
      options.dry_run ? describe_device(options.device) : device_info(find_device(options.device));
  const auto problems = bench_problems(target, words.pairs, options.cases, device.device.kind);
  catch_interrupts();
  Work work{options, target, device};
  for (const NamedProblem& problem : problems) {
    if (options.budget_seconds > 0 && work.seconds >= options.budget_seconds) {
      ++work.left;
    } else if (!work.stopped) {
      tune_problem(work, problem);
    }
  }
  work.progress.clear();
  report(options, work);
  return status_of(work);
}

}  // namespace einkorn::cli
