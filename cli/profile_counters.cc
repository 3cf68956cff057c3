// einkorn profile --mode counters: ncu, run on this command as its child, and what it says.

#include <cstdlib>
#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/profile.h"
#include "cli/profile_static.h"
#include "cli/profile_text.h"
#include "cli/status.h"
#include "cli/target.h"
#include "src/core/self_command.h"
#include "src/measure/check.h"
#include "src/measure/run_once.h"
#include "src/profile/ncu.h"

namespace einkorn::cli {
namespace {

using profile::KernelCounters;

/// A stage that launches a kernel.
struct Launched {
  std::string path;
  double needed_bytes;  ///< to and from memory; 0: not told
};

/// Stages of the kernels that a run of the plan launches, in that order.
std::vector<Launched> launched_stages(const profile::Subject& subject) {
  const Plan plan = subject.plan();
  const std::vector<Leaf> all = leaves(plan);
  std::vector<Launched> out;
  for (const Leaf& leaf : all) {
    const auto* launch = std::get_if<LaunchStage>(&leaf.stage->node);
    if (launch == nullptr || launch->launch.grid.count() == 0) continue;
    const double only = subject.entry.op->work(subject.problem.get()).min_bytes;
    out.push_back({leaf.path, all.size() == 1 ? only : leaf.cost.bytes});
  }
  return out;
}

std::string missing_text(const jit::ProgramSearch& search) {
  std::string out = "ncu: missing: Nsight Compute is in none of the places";
  for (const std::string& place : search.tried) out += "\n  tried: " + place;
  return out +
         "\n  hint: install Nsight Compute (it is part of the CUDA toolkit), or set EINKORN_NCU to "
         "ncu's full path; --mode event and --mode timeline do without it";
}

std::string csv_of(const profile::Subject& subject, const std::string& ncu, int kernels) {
  profile::NcuRequest request;
  request.ncu = ncu;
  request.command = self_command();
  request.command.insert(
      request.command.end(),
      {"profile-run", subject.variant.id(), to_string(subject.device.device), subject.tiling,
       std::to_string(subject.seed), subject.entry.op->print(subject.problem.get())});
  request.skip = kernels;  // of the first run, which warms up
  request.count = kernels;
  return profile::run_ncu(request);
}

std::vector<KernelCounters> kernels_of(const std::string& csv,
                                       const std::vector<Launched>& stages) {
  const std::vector<profile::NcuKernel> found = profile::parse_ncu_csv(csv);
  // ncu runs one kernel after the other, in the order of the launches.
  const bool told = found.size() == stages.size();
  std::vector<KernelCounters> out;
  for (std::size_t i = 0; i < found.size(); ++i) {
    KernelCounters kernel;
    if (told) kernel.stage = stages[i].path;
    kernel.kernel = found[i].name;
    kernel.counters = profile::counters_of(found[i]);
    kernel.verdict = profile::classify(kernel.counters, told ? stages[i].needed_bytes : 0);
    out.push_back(std::move(kernel));
  }
  return out;
}

/// What counters said, or why there are none.
struct Read {
  std::string version, csv, reason;
  std::vector<KernelCounters> kernels;
  int status = kAllWell;
};

Read read_counters(const profile::Subject& subject) {
  Read out;
  out.status = kNothingRan;
  const std::vector<Launched> stages = launched_stages(subject);
  if (!subject.device.present) {
    out.reason = fmt::format(
        "{} is not in this machine: no counters, only what is known before a "
        "kernel runs",
        subject.device.name);
    return out;
  }
  if (stages.empty()) {
    out.reason = "an empty problem launches nothing";
    return out;
  }
  const jit::ProgramSearch search = profile::find_ncu(profile::NcuRoots::of_process());
  if (!search.path) {
    out.reason = missing_text(search);
    return out;
  }
  out.status = kFailed;
  try {
    out.version = profile::ncu_version(*search.path);
    out.csv = csv_of(subject, *search.path, static_cast<int>(stages.size()));
    out.kernels = kernels_of(out.csv, stages);
    out.status = kAllWell;
  } catch (const Error& error) {
    out.reason = error.what();
  }
  return out;
}

}  // namespace

Profiled profile_counters(const profile::Subject& subject) {
  Progress progress;
  progress.show("compiling");
  const std::vector<StaticFacts> facts = static_facts(subject);
  progress.show("running ncu on this command");
  Read read = read_counters(subject);
  progress.clear();
  Profiled out;
  out.status = read.status;
  out.document = profile::params_json(
      "counters", subject,
      read.version.empty() ? std::map<std::string, std::string>{}
                           : std::map<std::string, std::string>{{"ncu", read.version}});
  out.document["kernels"] = profile::counters_json(read.kernels);
  out.document["static"] = static_json(facts);
  out.document["reason"] = text_or_null(read.reason);
  if (!read.kernels.empty()) {
    out.text += counters_text(read.kernels) +
                "\nby ncu, with the cache flushed before each kernel and one kernel at a time\n";
  }
  if (!read.reason.empty()) out.text += fmt::format("no counters: {}\n", read.reason);
  out.text += "\nfrom the compiled kernels\n\n" + static_text(facts);
  if (!read.csv.empty()) out.files.push_back({"ncu.csv", std::move(read.csv)});
  return out;
}

int profile_run(std::span<char*> arguments) {
  if (arguments.size() != 5) {
    throw Exit(kBadUsage, "profile-run: expected variant, device, tiling, seed and problem");
  }
  const auto view = registry();
  const Target target = find_target(*view, arguments[0]);
  const DeviceInfo device = device_info(find_device(arguments[1]));
  if (target.variant == nullptr)
    throw Exit(kBadUsage, "profile-run: expected a variant, got an op");
  const AnyProblem problem = parse_problem(target, split_key_values(arguments[4]));
  const Executable executable(target.variant->plan(problem.get(), device, arguments[2]), device);
  Rng rng(std::strtoull(arguments[3], nullptr, 10));
  const OpDef& op = *target.entry->op;
  // One set of inputs: ncu flushes the cache.
  const CaseData data = measure::clone_to(op, op.make_inputs(problem.get(), rng), device.device);
  for (int run = 0; run < 2; ++run) measure::run_once(executable, data.args.get(), device.device);
  return kAllWell;
}

}  // namespace einkorn::cli
