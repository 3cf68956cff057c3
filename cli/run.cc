// einkorn run: the main job. Explains, checks, measures, compares with the roof, prints one table
// and writes one report. With no GPU the CUDA variants are compiled as well, and not run.

#include <filesystem>

#include <einkorn/version.h>
#include <fmt/format.h>

#include "cli/benches.h"
#include "cli/checks.h"
#include "cli/choices.h"
#include "cli/compile.h"
#include "cli/files.h"
#include "cli/status.h"
#include "cli/verbs.h"

namespace einkorn::cli {
namespace {

/// What has been found out so far; a Ctrl-C leaves it as it is.
struct Outcome {
  std::vector<Choice> choices;
  std::vector<measure::CheckResult> checks;
  std::vector<measure::BenchResult> benches;
  CompileResults compiled;
  bool stopped = false;
};

class Run {
 public:
  Run(const RunOptions& options, const Target& target, Device device,
      std::vector<NamedProblem> problems)
      : options_(options),
        target_(target),
        device_(device_info(device)),
        problems_(std::move(problems)) {}

  void all() {
    try {
      explain();
      check();
      progress_.clear();
      bench();
      if (!outcome_.stopped && device_.device.kind == DeviceKind::kCpu) compile();
    } catch (const Interrupted&) {
      outcome_.stopped = true;
    }
    progress_.clear();
  }

  int status() const {
    if (outcome_.stopped) return kInterrupted;
    const CheckTotals checked = totals(outcome_.checks);
    if (checked.fail > 0 || any_failure(outcome_.benches) || outcome_.compiled.any_bad()) {
      return kFailed;
    }
    return any_measured(outcome_.benches) ? kAllWell : kNothingRan;
  }

  std::string text() const;
  Json json(const std::string& report) const;

 private:
  void explain() {
    for (const NamedProblem& problem : problems_) {
      outcome_.choices.push_back(choose(target_, problem, device_));
    }
  }

  void check() {
    measure::CheckOptions request;
    request.device = device_.device;
    request.variant = target_.choice();
    const int by_device = device_.device.kind == DeviceKind::kCpu ? 0 : 1;
    request.level = options_.level == kLevelByDevice ? by_device : options_.level;
    request.seed = options_.seed;
    request.progress = [this](const measure::CheckResult& result) {
      outcome_.checks.push_back(result);
      progress_.show(fmt::format("check {} {}", result.variant, result.case_name));
    };
    static_cast<void>(measure::check(*target_.entry, request));
  }

  void bench() {
    measure::BenchOptions request;
    request.device = device_.device;
    request.variant = options_.all_variants ? "all" : target_.choice();
    request.peers = options_.peers;
    request.seconds = options_.seconds;
    request.seed = options_.seed;
    Progress progress;  // of its own: the checks before it went at another pace
    request.progress = [&progress](const std::string& text) { progress.show(text); };
    request.stop = interrupted;
    for (std::size_t i = 0; i < problems_.size() && !outcome_.stopped; ++i) {
      if (outcome_.choices[i].selection.chosen == nullptr && !options_.all_variants) continue;
      progress.about(fmt::format("bench {} {}", target_.op(), problems_[i].name));
      request.round = [&, i](int done, int rounds) {
        progress.of(static_cast<double>(i) + static_cast<double>(done) / rounds,
                    static_cast<double>(problems_.size()));
      };
      auto some = measure::bench(*target_.entry, problems_[i].problem, problems_[i].name, request);
      outcome_.benches.insert(outcome_.benches.end(), some.begin(), some.end());
      outcome_.stopped = interrupted();
    }
  }

  /// For the problems that a GPU would be measured on.
  void compile() {
    progress_.about({});
    const CompileWork work{target_,
                           options_has_problem() ? problems_ : cases_of_levels(target_, 1, 2)};
    outcome_.compiled = compile_for_absent_devices(
        std::span(&work, 1), [this](const std::string& text) { progress_.show(text); });
  }

  bool options_has_problem() const {
    return problems_.size() == 1 && problems_.front().name == kCommandLine;
  }

  std::string choices_text() const;

  const RunOptions& options_;
  const Target& target_;
  const DeviceInfo device_;
  const std::vector<NamedProblem> problems_;
  Outcome outcome_;
  Progress progress_;
};

/// One line when all problems get the same variant, otherwise one for each problem.
std::string Run::choices_text() const {
  const auto id = [](const Choice& choice) {
    return choice.selection.chosen ? choice.selection.chosen->id() : std::string("none");
  };
  const auto& choices = outcome_.choices;
  if (choices.empty()) return {};
  bool same = true;
  for (const Choice& choice : choices) same &= id(choice) == id(choices.front());
  if (same) {
    const Selection& first = choices.front().selection;
    std::string out =
        fmt::format("chosen  {} for {}, by {}\n", id(choices.front()),
                    choices.size() == 1 ? std::string("this problem")
                                        : fmt::format("all {} problems", choices.size()),
                    first.source);
    return out + '\n' + choice_table(first);
  }
  std::string out = "chosen\n";
  for (const Choice& choice : choices) {
    out += fmt::format("  {}: {}\n", choice.name, id(choice));
    if (choice.selection.chosen == nullptr) out += choice_table(choice.selection);
  }
  return out;
}

std::string Run::text() const {
  std::string out = fmt::format("op      {}: {}\ndevice  {}\n{}", target_.op(),
                                target_.entry->op->summary, device_.name, choices_text());
  if (!outcome_.checks.empty()) {
    out += fmt::format("\nchecked against the reference: {}\n\n{}",
                       summary(totals(outcome_.checks)), check_text(outcome_.checks, false));
  }
  if (!outcome_.benches.empty()) {
    out += fmt::format("\nmeasured on {}, {} s each\n\n{}", to_string(device_.device),
                       options_.seconds, bench_text(outcome_.benches));
  }
  if (const std::string compiled = compile_text(outcome_.compiled); !compiled.empty()) {
    out += "\ncompiled for devices that are not here\n\n" + compiled;
  }
  if (outcome_.stopped) out += "\nstopped by Ctrl-C: the rest was not done\n";
  return out;
}

Json Run::json(const std::string& report) const {
  Json explained = Json::array();
  for (const Choice& choice : outcome_.choices) {
    Json one = choice_json(target_, choice, device_);
    one["case"] = choice.name;
    explained.push_back(std::move(one));
  }
  Json bench = bench_json(target_.op(), device_, outcome_.benches);
  Json out = {{"op", target_.op()},
              {"device", device_.name},
              {"driver", bench["driver"]},
              {"versions", bench["versions"]},
              {"commit", bench["commit"]},
              {"date", bench["date"]},
              {"explain", std::move(explained)},
              {"check", check_json(outcome_.checks)},
              {"bench", bench["results"]},
              {"compiled", compile_json(outcome_.compiled)},
              {"not_compiled", text_or_null(outcome_.compiled.unavailable)},
              {"report", report}};
  if (outcome_.stopped) out["interrupted"] = true;
  return out;
}

}  // namespace

int run_op(const RunOptions& options) {
  const auto view = registry();
  const Words words = split_words(options.words);
  const Target target = only_target(*view, words, "run");
  if (options.all_variants && target.variant != nullptr) {
    throw Exit(kBadUsage, "run: --all-variants and a named variant exclude each other");
  }
  static_cast<void>(bench_problems(target, words.pairs, {}, DeviceKind::kCpu));
  const Device device = find_device(options.device);

  catch_interrupts();
  Run run(options, target, device, bench_problems(target, words.pairs, {}, device.kind));
  run.all();

  const std::string folder = options.output.empty()
                                 ? fmt::format("out/run/{}-{}", target.op(), time_stamp())
                                 : options.output;
  const std::string path = folder + "/report.json";
  const Json json = run.json(path);
  const std::string text = run.text();
  if (options.json) {
    print_json(json);
  } else {
    print(text);
  }
  write_file(path, json_text(json));
  write_file(folder + "/report.txt", plain(text));
  if (!options.json) print(fmt::format("\nreport  {0}/report.txt, {0}/report.json\n", folder));
  return run.status();
}

}  // namespace einkorn::cli
