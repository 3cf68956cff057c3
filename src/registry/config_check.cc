#include "src/registry/config_check.h"

#include <algorithm>
#include <ranges>
#include <utility>
#include <vector>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/registry/choice.h"
#include "src/registry/config_text.h"
#include "src/registry/glob.h"
#include "src/registry/suggest.h"

namespace einkorn {
namespace detail {
namespace {

/// The last rule for the op, else the last default.
const ConfigRule* rule_among(const std::vector<ConfigRule>& rules, std::string_view op) {
  const ConfigRule* out = nullptr;
  for (const ConfigRule& rule : rules) {
    if (rule.op == op) out = &rule;
    if (rule.op == kDefaultRule && (out == nullptr || out->op != op)) out = &rule;
  }
  return out;
}

const OpEntry* find_op(const Registry& view, std::string_view op) {
  const auto found =
      std::ranges::find_if(view.ops(), [&](const OpEntry& entry) { return entry.op->name == op; });
  return found == view.ops().end() ? nullptr : &*found;
}

std::vector<std::string_view> names_of_ops(const Registry& view) {
  std::vector<std::string_view> out;
  for (const OpEntry& entry : view.ops()) out.push_back(entry.op->name);
  return out;
}

}  // namespace

std::string Applied::text() const { return rule_text(table, *rule); }

Applied rule_for(const OpConfig& config, const SlotRequest& slot) {
  for (const ModuleRules& table : std::views::reverse(config.modules)) {
    if (!glob_match(table.pattern, slot.path, '.')) continue;
    if (const ConfigRule* rule = rule_among(table.rules, slot.op)) return {rule, &table};
  }
  return {rule_among(config.rules, slot.op), nullptr};
}

const OpEntry* find_slot_op(const Registry& view, std::string_view op, std::string_view subject,
                            Faults& faults) {
  const OpEntry* out = find_op(view, op);
  if (out == nullptr) {
    faults.add(ErrorKind::kValue, std::string(subject),
               fmt::format("op: {}", expected_one_of(op, names_of_ops(view))));
  }
  return out;
}

BadRules::BadRules(const OpConfig& config, const Registry& view, Faults& faults)
    : view_(view), faults_(faults) {
  for (const ConfigRule& rule : config.rules) check({&rule, nullptr});
  for (const ModuleRules& table : config.modules) {
    for (const ConfigRule& rule : table.rules) check({&rule, &table});
  }
}

void BadRules::add(ErrorKind kind, const Applied& applied, std::string text) {
  bad_.insert(applied.rule);
  faults_.add(kind, applied.text(), std::move(text));
}

void BadRules::check(const Applied& applied) {
  const ConfigRule& rule = *applied.rule;
  if (rule.op == kDefaultRule) return check_default(applied);
  const OpEntry* entry = find_op(view_, rule.op);
  if (entry == nullptr) {
    std::vector<std::string_view> names = names_of_ops(view_);
    names.insert(names.end(), {kDefaultRule, kModules});
    add(ErrorKind::kValue, applied, fmt::format("key: {}", expected_one_of(rule.op, names)));
    return;
  }
  try {
    static_cast<void>(allowed_by(*entry, rule.choice));
  } catch (const Error& error) {
    add(error.kind(), applied, error.what());
  }
}

/// Ops have variants of other names, so that a default is wrong here only when it fits none; the
/// slots of ops that do not have it tell.
void BadRules::check_default(const Applied& applied) {
  std::vector<std::string> names;
  for (const OpEntry& entry : view_.ops()) {
    try {
      static_cast<void>(allowed_by(entry, applied.rule->choice));
      return;
    } catch (const Error&) {
      for (const Variant* variant : entry.variants) names.push_back(variant->name());
    }
  }
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  add(ErrorKind::kValue, applied,
      fmt::format("variant: {}",
                  expected_one_of(applied.rule->choice, {names.begin(), names.end()})));
}

void check_patterns(const OpConfig& config, std::span<const SlotRequest> requests, Faults& faults) {
  std::vector<std::string_view> paths;
  for (const SlotRequest& slot : requests) paths.push_back(slot.path);
  for (const ModuleRules& table : config.modules) {
    const auto fits = [&](std::string_view path) { return glob_match(table.pattern, path, '.'); };
    if (std::ranges::any_of(paths, fits)) continue;
    std::string text =
        fmt::format("expected a pattern that fits some slot's path, got one that fits none of {}",
                    paths.size());
    if (const auto near = nearest(table.pattern, paths); !near.empty()) {
      text += fmt::format("\nhint: did you mean '{}'?", near);
    }
    faults.add(ErrorKind::kValue, table_text(table), std::move(text));
  }
}

}  // namespace detail

void OpConfig::check() const {
  const auto view = registry();
  detail::Faults faults;
  const detail::BadRules bad(*this, *view, faults);
  faults.throw_if_any("OpConfig");
}

}  // namespace einkorn
