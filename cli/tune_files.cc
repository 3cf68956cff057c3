// einkorn tune --import and --export: trials from elsewhere, and tunings that ship.

#include <algorithm>
#include <filesystem>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "cli/files.h"
#include "cli/status.h"
#include "cli/tune.h"
#include "src/core/slug.h"
#include "src/registry/planned.h"
#include "src/trials/bundled.h"
#include "src/trials/store.h"

namespace einkorn::cli {
namespace {

using trials::Trial;

/// Of wrong lines, how many are told.
constexpr std::size_t kTold = 10;

/// Why a trial does not belong to this einkorn and device; empty when it does.
std::string why_not(const Registry& view, const DeviceInfo& device, const Trial& trial) {
  if (trial.place.device != device.name || trial.place.cc != device.cc ||
      trial.place.sm_count != device.sm_count) {
    return fmt::format("device: expected {} with {} multiprocessors, got {} with {}", device.name,
                       device.sm_count, trial.place.device, trial.place.sm_count);
  }
  try {
    const OpEntry& entry = view.find(trial.op);
    const Variant& variant = view.find_variant(entry, trial.variant);
    const AnyProblem problem = entry.op->parse(split_key_values(trial.problem));
    const std::string printed = entry.op->print(problem.get());
    if (printed != trial.problem) {
      return fmt::format("problem: expected '{}', got '{}'", printed, trial.problem);
    }
    if (const auto refusal = refusal_of(variant, problem.get(), device)) {
      return fmt::format("problem: {} refuses it: {}", trial.variant, refusal->reason);
    }
    if (const auto refusal = variant.validate(problem.get(), device, trial.tiling)) {
      return fmt::format("tiling: impossible: {}", refusal->reason);
    }
  } catch (const Error& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));  // hints would break the list
  }
  return {};
}

std::vector<trials::BadLine> bad_lines(const Registry& view, const DeviceInfo& device,
                                       const trials::Reading& reading, const std::string& file) {
  std::vector<trials::BadLine> out = reading.bad;
  for (std::size_t i = 0; i < reading.trials.size(); ++i) {
    const std::string why = why_not(view, device, reading.trials[i]);
    if (!why.empty()) out.push_back({file, reading.lines[i], why});
  }
  std::ranges::sort(out, {}, &trials::BadLine::line);
  return out;
}

std::string told(const std::vector<trials::BadLine>& bad) {
  std::string out =
      fmt::format("tune: --import: {} lines do not belong here; nothing was imported", bad.size());
  for (std::size_t i = 0; i < std::min(bad.size(), kTold); ++i) out += "\n  " + bad[i].text();
  if (bad.size() > kTold) out += fmt::format("\n  and {} more", bad.size() - kTold);
  return out;
}

/// Trials of the sources as they are now: those of older ones would never be used.
std::vector<Trial> current_trials(const Target& target, const DeviceInfo& device) {
  const std::string op(target.op());
  std::vector<Trial> out;
  for (const Trial& trial : trials::user_store(false).read(op, device.name).trials) {
    if (target.variant != nullptr && trial.variant != target.variant->id()) continue;
    try {
      const Variant& variant = registry()->find_variant(*target.entry, trial.variant);
      const AnyProblem problem = target.entry->op->parse(split_key_values(trial.problem));
      if (refusal_of(variant, problem.get(), device)) continue;
      const auto query = detail::tuning_query(*target.entry, variant, problem.get(), device);
      if (query.source == trial.source && device.sm_count == trial.place.sm_count) {
        out.push_back(trial);
      }
    } catch (const Error&) {
      continue;  // of a variant or of fields that are no more
    }
  }
  return out;
}

}  // namespace

int import_trials(const TuneOptions& options) {
  if (!options.words.empty())
    throw Exit(kBadUsage, "tune: --import takes no op: each line has its own");
  const auto view = registry();
  const DeviceInfo device = describe_device(options.device);
  const trials::Reading reading = trials::read_trials(options.imported);
  const auto bad = bad_lines(*view, device, reading, options.imported);
  if (!bad.empty()) throw Exit(kFailed, told(bad));
  trials::TrialStore& store = trials::user_store(true);
  for (const Trial& trial : reading.trials) store.add(trial);
  if (options.json) {
    print_json({{"imported", reading.trials.size()}, {"store", text_or_null(store.root())}});
  } else {
    print(fmt::format("imported {} trials\n", reading.trials.size()));
  }
  return kAllWell;
}

int export_tunings(const TuneOptions& options) {
  const auto view = registry();
  const Words words = split_words(options.words);
  const Target target = only_target(*view, words, "tune");
  if (!words.pairs.empty() || !options.cases.empty()) {
    throw Exit(kBadUsage, "tune: --export writes all problems that the store has; name none");
  }
  const DeviceInfo device = describe_device(options.device);
  const auto list = current_trials(target, device);
  if (list.empty()) {
    throw Exit(kNothingRan, fmt::format("tune: --export: no trial of {} on {} with the sources as "
                                        "they are\n  hint: einkorn tune {}",
                                        target.op(), device.name, target.op()));
  }
  std::string path = options.exported;
  if (path.ends_with('/') || std::filesystem::is_directory(path)) {
    path = (std::filesystem::path(path) / (slug(device.name) + ".json")).string();
  }
  const std::string text = trials::print_bundled(list);
  write_file(path, text);
  const std::size_t entries = Json::parse(text).at("entries").size();
  if (options.json) {
    print_json({{"exported", entries}, {"path", path}});
  } else {
    print(fmt::format("wrote {} tunings to {}\n", entries, path));
  }
  return kAllWell;
}

}  // namespace einkorn::cli
