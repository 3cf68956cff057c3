#pragma once

// What the forms of a configuration share.

#include <string>
#include <string_view>

#include <einkorn/slots.h>

namespace einkorn::detail {

inline constexpr std::string_view kDefaultRule = "default";
inline constexpr std::string_view kModules = "modules";

/// Adds a rule at the end. ValueError: an empty op or choice.
void add_rule(std::vector<ConfigRule>& rules, ConfigRule rule);

/// ValueError for a value that is no text, where only `op = "choice"` may be. `found` in words: "a
/// table". `unquoted`: it may come of a pattern left without its quotes.
[[noreturn]] void throw_not_a_choice(std::string_view where, std::string_view key,
                                     std::string_view found, bool unquoted);

/// `rms_norm = "auto" (line 1)`, `[modules."model.*"] rms_norm = "auto" (line 4)`.
std::string rule_text(const ModuleRules* table, const ConfigRule& rule);

/// `[modules."model.*"] (line 3)`.
std::string table_text(const ModuleRules& table);

}  // namespace einkorn::detail
