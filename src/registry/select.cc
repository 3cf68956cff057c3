#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <einkorn/error.h>
#include <einkorn/registry.h>
#include <fmt/format.h>

#include "src/registry/planned.h"

namespace einkorn {
namespace {

std::string describe_target(const DeviceInfo& device) {
  return device.device.kind == DeviceKind::kCpu ? std::string("cpu")
                                                : fmt::format("sm_{}", device.cc);
}

std::optional<Refusal> arch_refusal(const Arch& arch, const DeviceInfo& device) {
  if (arch.kind != device.device.kind) {
    return Refusal{fmt::format("tensors are on {}", to_string(device.device))};
  }
  if (device.cc < arch.min_cc || device.cc > arch.max_cc) {
    if (arch.max_cc >= 999) {
      return Refusal{
          fmt::format("device is {}, needs sm_{} or newer", describe_target(device), arch.min_cc)};
    }
    return Refusal{fmt::format(
        "device is {}, needs sm_{}{}", describe_target(device), arch.min_cc,
        arch.max_cc > arch.min_cc ? fmt::format(" to sm_{}", arch.max_cc) : std::string())};
  }
  return std::nullopt;
}

std::string source_in_words(const Selection& selection) {
  return selection.source == "argument" ? "the argument" : selection.source;
}

/// Which variant, and why not the others; nothing about its tiling.
Selection decide(const OpEntry& entry, const void* problem, const DeviceInfo& device,
                 std::string_view choice) {
  Selection out;
  out.source = "list order";
  std::string named(choice);
  if (!named.empty()) {
    out.source = "argument";
  } else if (const char* variable = std::getenv(environment_name(entry.op->name).c_str());
             variable != nullptr && *variable != '\0') {
    named = variable;
    out.source = environment_name(entry.op->name);
  }
  const Variant* wanted = nullptr;
  if (!named.empty()) {
    try {
      wanted = &registry()->find_variant(entry, named);
    } catch (const Error& error) {
      throw_error(error.kind(), fmt::format("{}\n  from: {}", error.what(), source_in_words(out)));
    }
  }
  for (const Variant* variant : entry.variants) {
    auto refusal = refusal_of(*variant, problem, device);
    const bool eligible = wanted == nullptr || variant == wanted;
    if (!refusal && eligible && out.chosen == nullptr) out.chosen = variant;
    out.tried.push_back({variant, std::move(refusal)});
  }
  return out;
}

}  // namespace

void detail::throw_refused_tiling(std::string_view variant, std::string_view tiling,
                                  std::string_view reason) {
  throw_error(
      ErrorKind::kValue,
      fmt::format("{}: tiling: expected one that fits the problem and the device, got '{}'\n"
                  "  reason: {}\n"
                  "  hint: `einkorn tune --dry-run` lists the candidates",
                  variant, tiling, reason));
}

std::string environment_name(std::string_view op) {
  std::string out = "EINKORN_";
  for (const char c : op) {
    out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return out;
}

std::optional<Refusal> refusal_of(const Variant& variant, const void* problem,
                                  const DeviceInfo& device) {
  if (auto refusal = arch_refusal(find_arch(variant.arch), device)) return refusal;
  return variant.supports(problem, device);
}

Selection explain(const OpEntry& entry, const void* problem, const DeviceInfo& device,
                  std::string_view choice) {
  Selection out = decide(entry, problem, device, choice);
  if (out.chosen == nullptr) return out;
  const trials::Found found = detail::tuned_tiling(entry, *out.chosen, problem, device);
  const bool tuned = found.quality != trials::Quality::kMissing;
  out.quality = tuned ? trials::name(found.quality) : "default";
  out.tiling = tuned ? found.tiling : out.chosen->tilings(problem, device).front();
  out.tuned_on = found.problem;
  return out;
}

std::string describe_failure(const OpEntry& entry, const void* problem, const DeviceInfo& device,
                             const Selection& selection) {
  const bool named = selection.source != "list order";
  std::size_t width = 0;
  for (const Attempt& attempt : selection.tried) {
    width = std::max(width, attempt.variant->name().size());
  }
  std::string out =
      fmt::format("{}: no variant for {}, {} ({} tried)", entry.op->name, describe_target(device),
                  entry.op->print(problem), selection.tried.size());
  for (const Attempt& attempt : selection.tried) {
    out += fmt::format("\n  {:<{}}  {}", attempt.variant->name(), width,
                       attempt.refusal ? "refused: " + attempt.refusal->reason
                                       : std::string("would serve, but another was asked for"));
  }
  if (named) {
    out += fmt::format("\n  hint: {} asked for one variant only; leave it out to take the best",
                       source_in_words(selection));
  }
  return out;
}

const Variant& select(const OpEntry& entry, const void* problem, const DeviceInfo& device,
                      std::string_view choice) {
  const Selection selection = decide(entry, problem, device, choice);
  if (selection.chosen == nullptr) {
    throw_error(ErrorKind::kNotImplemented, describe_failure(entry, problem, device, selection));
  }
  return *selection.chosen;
}

}  // namespace einkorn
