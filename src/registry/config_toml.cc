// Configurations as TOML.

#include <algorithm>
#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <toml++/toml.h>

#include "src/registry/config_text.h"

namespace einkorn {
namespace {

std::string line_of(const toml::source_region& region) {
  return fmt::format("line {}", region.begin.line);
}

std::string_view in_words(toml::node_type type) {
  switch (type) {
    case toml::node_type::string:
      return "a text";
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::integer:
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

/// Keys with their values in the order of the text, which the table itself does not keep.
std::vector<std::pair<const toml::key*, const toml::node*>> in_order(const toml::table& table) {
  std::vector<std::pair<const toml::key*, const toml::node*>> out;
  for (const auto& [key, node] : table) out.emplace_back(&key, &node);
  std::ranges::stable_sort(out, {}, [](const auto& one) {
    const toml::source_position& begin = one.first->source().begin;
    return std::pair(begin.line, begin.column);
  });
  return out;
}

void read_rule(std::vector<ConfigRule>& rules, const toml::key& key, const toml::node& node,
               bool in_modules) {
  const std::string where = line_of(key.source());
  const toml::value<std::string>* text = node.as_string();
  if (text == nullptr) {
    detail::throw_not_a_choice(where, key.str(), in_words(node.type()),
                               in_modules && node.is_table());
  }
  detail::add_rule(rules, {std::string(key.str()), text->get(), where});
}

void read_modules(OpConfig& config, const toml::key& key, const toml::node& node) {
  const toml::table* table = node.as_table();
  EK_CHECK(table != nullptr, ErrorKind::kValue,
           fmt::format("OpConfig: modules: expected tables [modules.\"pattern\"], got {} ({})",
                       in_words(node.type()), line_of(key.source())));
  for (const auto& [pattern, value] : in_order(*table)) {
    const toml::table* rules = value->as_table();
    EK_CHECK(rules != nullptr, ErrorKind::kValue,
             fmt::format("OpConfig: modules.\"{}\": expected a table of rules, got {} ({})",
                         pattern->str(), in_words(value->type()), line_of(pattern->source())));
    ModuleRules out{std::string(pattern->str()), {}, line_of(pattern->source())};
    for (const auto& [op, choice] : in_order(*rules)) read_rule(out.rules, *op, *choice, true);
    config.modules.push_back(std::move(out));
  }
}

toml::table parse(std::string_view text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    const toml::source_position& begin = error.source().begin;
    throw_error(ErrorKind::kValue,
                fmt::format("OpConfig: text: expected TOML, got a mistake at line {}, column {}\n"
                            "  reason: {}",
                            begin.line, begin.column, error.description()));
  }
}

}  // namespace

OpConfig OpConfig::from_toml(std::string_view text) {
  OpConfig out;
  const toml::table table = parse(text);
  for (const auto& [key, node] : in_order(table)) {
    if (key->str() == detail::kModules) {
      read_modules(out, *key, *node);
    } else {
      read_rule(out.rules, *key, *node, false);
    }
  }
  return out;
}

}  // namespace einkorn
