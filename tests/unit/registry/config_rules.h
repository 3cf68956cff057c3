#pragma once

#include <string>

#include <einkorn/slots.h>
#include <fmt/format.h>

namespace einkorn::test {

/// All of a configuration, a rule a line, as "pattern: op=choice @where".
inline std::string rules_of(const OpConfig& config) {
  std::string out;
  for (const ConfigRule& rule : config.rules) {
    out += fmt::format("{}={} @{}\n", rule.op, rule.choice, rule.where);
  }
  for (const ModuleRules& table : config.modules) {
    out += fmt::format("{} @{}\n", table.pattern, table.where);
    for (const ConfigRule& rule : table.rules) {
      out += fmt::format("  {}={} @{}\n", rule.op, rule.choice, rule.where);
    }
  }
  return out;
}

}  // namespace einkorn::test
