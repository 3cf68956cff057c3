// From the rules of a configuration to bindings.

#include <algorithm>

#include <einkorn/error.h>
#include <einkorn/registry.h>
#include <einkorn/slots.h>
#include <fmt/format.h>

#include "src/registry/choice.h"
#include "src/registry/config_check.h"
#include "src/registry/decide.h"
#include "src/registry/faults.h"
#include "src/registry/glob.h"

namespace einkorn {
namespace {

std::string why_chosen(std::string_view rule_choice, const detail::Asked& asked,
                       std::string_view problem) {
  if (!detail::is_auto(rule_choice)) {
    if (!detail::is_glob(rule_choice)) return "named by the rule";
    return fmt::format("first of {} that serves {}", rule_choice, problem);
  }
  if (!asked.choice.empty()) return fmt::format("{}={}", asked.source, asked.choice);
  return fmt::format("first in list order that serves {}", problem);
}

/// One slot whose op and rule are known to exist.
class Resolver {
 public:
  Resolver(const OpEntry& entry, const SlotRequest& slot, const detail::Applied& applied,
           const DeviceInfo& device)
      : entry_(entry),
        slot_(slot),
        choice_(applied.rule->choice),
        device_(device),
        asked_(detail::asked_for(entry.op->name, choice_)),
        allowed_(detail::allowed_by(entry, asked_)),
        out_{slot.path, slot.op, applied.text(), {}, {}, {}} {}

  SlotBinding resolve() {
    check_hardware();
    if (slot_.problem) {
      with_problem(*slot_.problem);
    } else {
      without_problem();
    }
    return std::move(out_);
  }

 private:
  bool is_allowed(const Variant* variant) const {
    return std::ranges::find(allowed_, variant) != allowed_.end();
  }

  /// A rule that names what this device cannot run, whatever the problem.
  void check_hardware() const {
    std::string text;
    for (const Variant* variant : allowed_) {
      const auto refusal = detail::hardware_refusal(*variant, device_);
      if (!refusal) return;
      text += fmt::format("\n  {}: {}", variant->id(), refusal->reason);
    }
    throw_error(asked_.choice.empty() ? ErrorKind::kNotImplemented : ErrorKind::kRuntime,
                fmt::format("{}: expected what {} can run, got{}", out_.rule,
                            to_string(device_.device), text));
  }

  void with_problem(const KeyValues& pairs) {
    const AnyProblem problem = entry_.op->parse(pairs);
    Selection selection = detail::decide(entry_, problem.get(), device_, choice_);
    if (selection.chosen == nullptr) {
      if (!detail::is_auto(choice_)) selection.source = "the rule";
      throw_error(ErrorKind::kNotImplemented,
                  fmt::format("{}: {}", out_.rule,
                              describe_failure(entry_, problem.get(), device_, selection)));
    }
    out_.variant = selection.chosen->id();
    out_.reason = why_chosen(choice_, asked_, entry_.op->print(problem.get()));
    for (const Attempt& attempt : selection.tried) {
      if (attempt.variant == selection.chosen) continue;
      lose(*attempt.variant, attempt.refusal, "serves, but stands behind in the list");
    }
  }

  void without_problem() {
    const bool one = !detail::is_auto(choice_) && !detail::is_glob(choice_);
    bool some = false;
    for (const Variant* variant : entry_.variants) {
      auto refusal = detail::hardware_refusal(*variant, device_);
      if (!refusal) refusal = detail::mode_refusal(*variant);
      const bool fits = !refusal && is_allowed(variant);
      if (!fits) lose(*variant, refusal, {});
      some |= fits;
    }
    if (!some) throw_none();
    out_.variant = one ? allowed_.front()->id() : choice_;
    out_.reason = one ? "named by the rule" : undecided();
  }

  std::string undecided() const {
    if (!detail::is_auto(choice_)) {
      return "decided for each problem: the first of these in list order that serves";
    }
    if (!asked_.choice.empty()) {
      return fmt::format("decided for each problem: {}={}", asked_.source, asked_.choice);
    }
    return "decided for each problem: the first in list order that serves";
  }

  [[noreturn]] void throw_none() const {
    std::string text;
    for (const SlotBinding::Loser& loser : out_.losers) {
      text += fmt::format("\n  {}: {}", loser.variant, loser.refusal);
    }
    throw_error(ErrorKind::kNotImplemented,
                fmt::format("{}: expected a variant that can run, got none{}", out_.rule, text));
  }

  void lose(const Variant& variant, const std::optional<Refusal>& refusal,
            std::string_view otherwise) {
    std::string reason(otherwise);
    if (refusal) {
      reason = refusal->reason;
    } else if (!is_allowed(&variant)) {
      reason = fmt::format("not asked for by {}",
                           detail::is_auto(choice_) ? std::string_view(asked_.source) : "the rule");
    }
    out_.losers.push_back({variant.id(), std::move(reason)});
  }

  const OpEntry& entry_;
  const SlotRequest& slot_;
  const std::string& choice_;
  const DeviceInfo& device_;
  detail::Asked asked_;
  std::vector<const Variant*> allowed_;
  SlotBinding out_;
};

std::string subject_of(const SlotRequest& slot) {
  return fmt::format("slot '{}' ({})", slot.path, slot.op);
}

}  // namespace

std::vector<SlotBinding> resolve(const OpConfig& config, std::span<const SlotRequest> requests,
                                 const DeviceInfo& device) {
  const auto view = registry();
  detail::Faults faults;
  const detail::BadRules bad(config, *view, faults);
  detail::check_patterns(config, requests, faults);
  std::vector<SlotBinding> out;
  for (const SlotRequest& slot : requests) {
    const std::string subject = subject_of(slot);
    const OpEntry* entry = detail::find_slot_op(*view, slot.op, subject, faults);
    if (entry == nullptr) continue;
    const detail::Applied applied = detail::rule_for(config, slot);
    if (applied.rule == nullptr) {
      faults.add(ErrorKind::kValue, subject,
                 "left unbound: expected a rule of the configuration, got none\n"
                 "hint: default = \"auto\" is one for all ops that have no other");
      continue;
    }
    if (bad.has(*applied.rule)) continue;
    try {
      out.push_back(Resolver(*entry, slot, applied, device).resolve());
    } catch (const Error& error) {
      faults.add(error.kind(), subject, error.what());
    }
  }
  faults.throw_if_any("slots");
  return out;
}

}  // namespace einkorn
