#include "cli/target.h"

#include <algorithm>

#include <einkorn/cuda.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/status.h"
#include "src/registry/remembered_device.h"
#include "src/registry/suggest.h"

namespace einkorn::cli {
namespace {

NamedProblem problem_of(const Target& target, const Case& one) {
  return {std::string(one.name), target.entry->op->parse(split_key_values(one.keys))};
}

NamedProblem find_case(const Target& target, std::string_view name) {
  std::vector<std::string_view> known;
  for (const Case& one : target.entry->op->cases()) {
    if (one.name == name) return problem_of(target, one);
    known.push_back(one.name);
  }
  throw Exit(kBadUsage, fmt::format("{}: --case: {}", target.op(), expected_one_of(name, known)));
}

}  // namespace

Words split_words(const std::vector<std::string>& words) {
  Words out;
  for (const std::string& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) {
      out.targets.push_back(word);
      continue;
    }
    const std::string key = word.substr(0, equals);
    if (key.empty()) throw Exit(kBadUsage, fmt::format("'{}': expected key=value", word));
    const auto same = [&](const auto& pair) { return pair.first == key; };
    if (std::ranges::any_of(out.pairs, same)) {
      throw Exit(kBadUsage, fmt::format("{}: expected once, got it twice", key));
    }
    out.pairs.emplace_back(key, word.substr(equals + 1));
  }
  return out;
}

Target find_target(const Registry& registry, std::string_view word) {
  return as_usage([&] {
    const auto slash = word.find('/');
    Target target{&registry.find(word.substr(0, slash)), nullptr};
    if (slash != std::string_view::npos) {
      target.variant = &registry.find_variant(*target.entry, word.substr(slash + 1));
    }
    return target;
  });
}

Target only_target(const Registry& registry, const Words& words, std::string_view verb) {
  if (words.targets.size() == 1) return find_target(registry, words.targets[0]);
  std::vector<std::string_view> ops;
  for (const OpEntry& entry : registry.ops()) ops.push_back(entry.op->name);
  if (words.targets.empty()) {
    throw Exit(kBadUsage,
               fmt::format("{0}: expected an op, got none\n  hint: einkorn {0} <op>, with "
                           "one of {1}",
                           verb, fmt::join(ops, ", ")));
  }
  throw Exit(kBadUsage, fmt::format("{}: expected one op, got {}\n  hint: a problem is given as "
                                    "key=value",
                                    verb, fmt::join(words.targets, " ")));
}

AnyProblem parse_problem(const Target& target, const KeyValues& pairs) {
  return as_usage([&] { return target.entry->op->parse(pairs); });
}

Device find_device(std::string_view name) {
  if (name.empty()) return best_device();
  if (std::ranges::find(cuda::known_device_names(), name) != cuda::known_device_names().end()) {
    throw Exit(kBadUsage, fmt::format("--device: expected cpu, cuda or cuda:N, got '{0}'\n  hint: "
                                      "a device's model is no place to run; only `einkorn explain "
                                      "--device {0}` takes it",
                                      name));
  }
  const Device device = as_usage([&] { return parse_device(name); });
  if (device.kind == DeviceKind::kCpu) return device;
  std::string reason;
  if (!cuda::available(&reason)) {
    throw Exit(kNothingRan, fmt::format("--device {}: not here: {}", name, reason));
  }
  return as_usage([&] { return device_info(device).device; });
}

DeviceInfo describe_device(std::string_view name) {
  if (name.empty()) return describe_here(0, best_device);
  const auto models = cuda::known_device_names();
  const bool here = name == "cpu" || name.starts_with("cuda");
  if (!here && std::ranges::find(models, name) == models.end()) {
    std::vector<std::string_view> known{"cpu", "cuda", "cuda:N"};
    known.insert(known.end(), models.begin(), models.end());
    throw Exit(kBadUsage, "--device: " + expected_one_of(name, known));
  }
  if (name.starts_with("cuda")) {
    const Device device = as_usage([&] { return parse_device(name); });
    return describe_here(device.index, [&] { return find_device(name); });
  }
  return as_usage([&] { return find_device_info(name); });
}

std::vector<NamedProblem> cases_of_levels(const Target& target, int lowest, int highest) {
  std::vector<NamedProblem> out;
  for (const Case& one : target.entry->op->cases()) {
    if (one.level >= lowest && one.level <= highest) out.push_back(problem_of(target, one));
  }
  return out;
}

std::vector<NamedProblem> bench_problems(const Target& target, const KeyValues& pairs,
                                         std::span<const std::string> cases, DeviceKind kind) {
  if (!pairs.empty() && !cases.empty()) {
    throw Exit(kBadUsage, "--case and key=value both name the problem: give one of them");
  }
  if (!pairs.empty()) return {{std::string(kCommandLine), parse_problem(target, pairs)}};
  std::vector<NamedProblem> out;
  for (const std::string& name : cases) out.push_back(find_case(target, name));
  if (!out.empty()) return out;
  for (const Case& one : target.entry->op->cases()) {
    if (one.name.starts_with("bench")) out.push_back(problem_of(target, one));
  }
  if (!out.empty()) return out;
  return cases_of_levels(target, 1, kind == DeviceKind::kCpu ? 1 : 2);
}

}  // namespace einkorn::cli
