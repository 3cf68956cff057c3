// Configurations as pairs, and what all forms share.

#include <algorithm>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/environment.h"
#include "src/registry/config_text.h"
#include "src/registry/suggest.h"

namespace einkorn {
namespace {

constexpr const char* kVariable = "EINKORN_OPS";

std::string in_brackets(std::string_view where) {
  return where.empty() ? std::string() : fmt::format(" ({})", where);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

ModuleRules& table_for(OpConfig& config, std::string_view pattern, std::string_view where) {
  const auto found = std::ranges::find(config.modules, pattern, &ModuleRules::pattern);
  if (found != config.modules.end()) return *found;
  return config.modules.emplace_back(ModuleRules{std::string(pattern), {}, std::string(where)});
}

void add_pair(OpConfig& config, std::string_view key, std::string_view choice,
              std::string_view where) {
  const std::size_t colon = key.rfind(':');
  const bool everywhere = colon == std::string_view::npos;
  const std::string_view op = everywhere ? key : trimmed(key.substr(colon + 1));
  std::vector<ConfigRule>& rules =
      everywhere ? config.rules : table_for(config, trimmed(key.substr(0, colon)), where).rules;
  EK_CHECK(
      std::ranges::find(rules, op, &ConfigRule::op) == rules.end(), ErrorKind::kValue,
      fmt::format("OpConfig: key: expected each once, got '{}' again{}", key, in_brackets(where)));
  detail::add_rule(rules, {std::string(op), std::string(choice), std::string(where)});
}

}  // namespace

void detail::add_rule(std::vector<ConfigRule>& rules, ConfigRule rule) {
  EK_CHECK(!rule.op.empty(), ErrorKind::kValue,
           fmt::format("OpConfig: key: expected an op's name, got an empty one{}",
                       in_brackets(rule.where)));
  EK_CHECK(!rule.choice.empty(), ErrorKind::kValue,
           fmt::format("OpConfig: {}: expected auto, reference, a variant's name or a pattern over "
                       "names, got an empty text{}",
                       rule.op, in_brackets(rule.where)));
  rules.push_back(std::move(rule));
}

void detail::throw_not_a_choice(std::string_view where, std::string_view key,
                                std::string_view found, bool unquoted) {
  std::string message =
      fmt::format("OpConfig: {}: expected the name of a variant as text, got {}{}", key, found,
                  in_brackets(where));
  if (unquoted) {
    message += "\n  hint: a path is one key, in quotes: [modules.\"model.layers.*\"]";
  } else if (key != kModules && !nearest(key, {kModules}).empty()) {
    message += fmt::format("\n  hint: did you mean '{}'?", kModules);
  }
  throw_error(ErrorKind::kValue, std::move(message));
}

std::string detail::rule_text(const ModuleRules* table, const ConfigRule& rule) {
  const std::string prefix =
      table == nullptr ? std::string() : fmt::format("[modules.\"{}\"] ", table->pattern);
  return fmt::format("{}{} = \"{}\"{}", prefix, rule.op, rule.choice, in_brackets(rule.where));
}

std::string detail::table_text(const ModuleRules& table) {
  return fmt::format("[modules.\"{}\"]{}", table.pattern, in_brackets(table.where));
}

OpConfig OpConfig::from_pairs(const KeyValues& pairs) {
  OpConfig out;
  for (const auto& [key, choice] : pairs) add_pair(out, trimmed(key), trimmed(choice), {});
  return out;
}

OpConfig OpConfig::from_environment() {
  OpConfig out;
  const std::string value = environment(kVariable);
  std::string_view rest = value;
  while (!trimmed(rest).empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view pair = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    EK_CHECK(equals != std::string_view::npos, ErrorKind::kValue,
             fmt::format("{}: expected op=choice, separated by commas, got '{}'\n"
                         "  hint: for example {}=rms_norm=auto,silu_mul=cpu/rows_v1",
                         kVariable, pair, kVariable));
    add_pair(out, trimmed(pair.substr(0, equals)), trimmed(pair.substr(equals + 1)), kVariable);
  }
  return out;
}

}  // namespace einkorn
