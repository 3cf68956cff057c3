// einkorn check: every variant against its op's reference.

#include <fmt/format.h>

#include "cli/checks.h"
#include "cli/compile.h"
#include "cli/status.h"
#include "cli/target.h"
#include "cli/verbs.h"

namespace einkorn::cli {
namespace {

using measure::CheckResult;

std::vector<Target> find_targets(const Registry& view, const CheckOptions& options,
                                 const Words& words) {
  std::vector<Target> targets;
  if (options.all && !words.targets.empty()) {
    throw Exit(kBadUsage, "check: --all and an op both name what to check: give one of them");
  }
  targets.reserve(words.targets.size());
  for (const std::string& word : words.targets) targets.push_back(find_target(view, word));
  if (!words.pairs.empty() && targets.size() != 1) {
    throw Exit(kBadUsage, fmt::format("check: key=value needs exactly one op, got {}\n"
                                      "  hint: einkorn check <op> {}=...",
                                      targets.size(), words.pairs.front().first));
  }
  if (!targets.empty()) return targets;
  for (const OpEntry& entry : view.ops()) targets.push_back({&entry, nullptr});
  return targets;
}

class Checker {
 public:
  Checker(const CheckOptions& options, Device device) : options_(options), device_(device) {}

  /// The op's cases up to the level.
  void cases(const Target& target) {
    measure::CheckOptions request;
    request.device = device_;
    request.variant = target.choice();
    request.level = level();
    request.seed = options_.seed;
    request.progress = [this](const CheckResult& result) { add(result); };
    static_cast<void>(measure::check(*target.entry, request));
  }

  /// One problem, by each variant or the one that is named.
  void problem(const Target& target, const AnyProblem& problem) {
    progress_.show(fmt::format("reference of {}", target.op()));
    const auto prepared = measure::prepare(*target.entry, problem, kCommandLine, options_.seed);
    for (const Variant* variant : target.entry->variants) {
      if (target.variant != nullptr && variant != target.variant) continue;
      add(measure::check_prepared(*target.entry, *variant, prepared, device_));
    }
  }

  int level() const {
    if (options_.level != kLevelByDevice) return options_.level;
    return device_.kind == DeviceKind::kCpu ? 0 : 1;
  }

  Progress& progress() { return progress_; }
  const std::vector<CheckResult>& results() const { return results_; }

 private:
  void add(const CheckResult& result) {
    results_.push_back(result);
    progress_.show(fmt::format("check {} {}", result.variant, result.case_name));
  }

  const CheckOptions& options_;
  Device device_;
  Progress progress_;
  std::vector<CheckResult> results_;
};

/// Compiles what the problem, or the targets' cases, need; one report for all.
CompileResults compile_all(const std::vector<Target>& targets, const Words& words,
                           Checker& checker) {
  std::vector<CompileWork> work;
  work.reserve(targets.size());
  for (const Target& target : targets) {
    work.push_back({target, words.pairs.empty()
                                ? cases_of_levels(target, 0, 2)
                                : bench_problems(target, words.pairs, {}, DeviceKind::kCuda)});
  }
  return compile_for_absent_devices(
      work, [&](const std::string& text) { checker.progress().show(text); });
}

void print_results(const CheckOptions& options, const DeviceInfo& device, const Checker& checker,
                   const CompileResults& compiled, bool stopped) {
  const auto& results = checker.results();
  if (options.json) {
    Json out = {{"device", device.name}, {"results", check_json(results)}};
    if (options.compile) out["compiled"] = compile_json(compiled);
    if (stopped) out["interrupted"] = true;
    return print_json(out);
  }
  std::string out = fmt::format("device  {}\n\n{}\n{}\n", device.name,
                                check_text(results, options.verbose), summary(totals(results)));
  if (options.compile) out += '\n' + compile_text(compiled);
  if (stopped) out += "stopped by Ctrl-C: the rest was not checked\n";
  print(out);
}

}  // namespace

int check_variants(const CheckOptions& options) {
  const auto view = registry();
  const Words words = split_words(options.words);
  const auto targets = find_targets(*view, options, words);
  AnyProblem problem;
  if (!words.pairs.empty()) problem = parse_problem(targets[0], words.pairs);
  const Device device = find_device(options.device);

  catch_interrupts();
  Checker checker(options, device);
  CompileResults compiled;
  bool stopped = false;
  try {
    for (const Target& target : targets) {
      words.pairs.empty() ? checker.cases(target) : checker.problem(target, problem);
    }
    if (options.compile) compiled = compile_all(targets, words, checker);
  } catch (const Interrupted&) {
    stopped = true;
  }
  checker.progress().clear();
  print_results(options, device_info(device), checker, compiled, stopped);
  if (stopped) return kInterrupted;
  if (compiled.any_bad()) return kFailed;
  return check_status(totals(checker.results()));
}

}  // namespace einkorn::cli
