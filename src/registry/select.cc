#include <algorithm>
#include <cctype>

#include <einkorn/batch_invariant.h>
#include <einkorn/error.h>
#include <einkorn/registry.h>
#include <fmt/format.h>

#include "src/registry/choice.h"
#include "src/registry/decide.h"
#include "src/registry/glob.h"
#include "src/registry/planned.h"

namespace einkorn {
namespace {

std::string describe_target(const DeviceInfo& device) {
  return device.device.kind == DeviceKind::kCpu ? std::string("cpu")
                                                : fmt::format("sm_{}", device.cc);
}

std::optional<Refusal> arch_refusal(const Arch& arch, const DeviceInfo& device) {
  if (!arch.kind) return std::nullopt;
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

}  // namespace

std::optional<Refusal> detail::hardware_refusal(const Variant& variant, const DeviceInfo& device) {
  return arch_refusal(find_arch(variant.arch), device);
}

std::optional<Refusal> detail::mode_refusal(const Variant& variant) {
  if (!batch_invariant_mode() || variant.batch_invariant) return std::nullopt;
  return Refusal{"not declared batch-invariant"};
}

Selection detail::decide(const OpEntry& entry, const void* problem, const DeviceInfo& device,
                         std::string_view choice) {
  Selection out;
  Asked asked = asked_for(entry.op->name, choice);
  const std::vector<const Variant*> allowed = allowed_by(entry, asked);
  for (const Variant* variant : entry.variants) {
    auto refusal = refusal_of(*variant, problem, device);
    const bool eligible = std::ranges::find(allowed, variant) != allowed.end();
    if (!refusal && eligible && out.chosen == nullptr) out.chosen = variant;
    out.tried.push_back({variant, std::move(refusal)});
  }
  out.source = std::move(asked.source);
  out.wanted = std::move(asked.choice);
  return out;
}

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
  if (auto refusal = detail::hardware_refusal(variant, device)) return refusal;
  if (auto refusal = detail::mode_refusal(variant)) return refusal;
  return variant.supports(problem, device);
}

Selection explain(const OpEntry& entry, const void* problem, const DeviceInfo& device,
                  std::string_view choice) {
  Selection out = detail::decide(entry, problem, device, choice);
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
  if (!selection.wanted.empty()) {
    out += fmt::format("\n  hint: {} asked for {} only; leave it out to take the best",
                       detail::in_words(selection.source),
                       detail::is_glob(selection.wanted) ? selection.wanted : "one variant");
  }
  return out;
}

const Variant& select(const OpEntry& entry, const void* problem, const DeviceInfo& device,
                      std::string_view choice) {
  const Selection selection = detail::decide(entry, problem, device, choice);
  if (selection.chosen == nullptr) {
    throw_error(ErrorKind::kNotImplemented, describe_failure(entry, problem, device, selection));
  }
  return *selection.chosen;
}

}  // namespace einkorn
