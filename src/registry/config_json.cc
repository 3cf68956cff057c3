// Configurations as JSON.

#include <set>
#include <utility>
#include <vector>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "src/registry/config_text.h"

namespace einkorn {
namespace {

using Json = nlohmann::ordered_json;

std::string in_words(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_null()) return "null";
  if (value.is_string()) return "a text";
  return fmt::format("{} {}", value.is_array() ? "an" : "a", value.type_name());
}

/// Parses; keys given twice, of which the parser would keep one, are refused.
Json parse(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) {
      EK_CHECK(keys.back().insert(value.get<std::string>()).second, ErrorKind::kValue,
               fmt::format("OpConfig: key: expected each once, got '{}' again",
                           value.get<std::string>()));
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::parse_error& error) {
    throw_error(
        ErrorKind::kValue,
        fmt::format("OpConfig: text: expected JSON, got a mistake\n  reason: {}", error.what()));
  }
}

void read_rule(std::vector<ConfigRule>& rules, const std::string& key, const Json& value) {
  if (!value.is_string()) detail::throw_not_a_choice({}, key, in_words(value), false);
  detail::add_rule(rules, {key, value.get<std::string>()});
}

void read_modules(OpConfig& config, const Json& modules) {
  EK_CHECK(
      modules.is_object(), ErrorKind::kValue,
      fmt::format("OpConfig: modules: expected an object of patterns, got {}", in_words(modules)));
  for (const auto& [pattern, rules] : modules.items()) {
    EK_CHECK(rules.is_object(), ErrorKind::kValue,
             fmt::format("OpConfig: modules.\"{}\": expected an object of rules, got {}", pattern,
                         in_words(rules)));
    ModuleRules out{pattern, {}};
    for (const auto& [op, choice] : rules.items()) read_rule(out.rules, op, choice);
    config.modules.push_back(std::move(out));
  }
}

}  // namespace

OpConfig OpConfig::from_json(std::string_view text) {
  OpConfig out;
  const Json document = parse(text);
  EK_CHECK(document.is_object(), ErrorKind::kValue,
           fmt::format("OpConfig: text: expected a JSON object, got {}", in_words(document)));
  for (const auto& [key, value] : document.items()) {
    if (key == detail::kModules) {
      read_modules(out, value);
    } else {
      read_rule(out.rules, key, value);
    }
  }
  return out;
}

}  // namespace einkorn
