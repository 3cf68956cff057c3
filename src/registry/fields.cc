#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include <einkorn/error.h>
#include <einkorn/fields.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/registry/suggest.h"

namespace einkorn {

KeyValues split_key_values(std::string_view text) {
  KeyValues out;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(" \t\n", at)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(" \t\n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end;
    const std::size_t equals = word.find('=');
    EK_CHECK(equals != std::string_view::npos && equals > 0, ErrorKind::kValue,
             fmt::format("problem: expected key=value, got '{}'", word));
    const std::string key(word.substr(0, equals));
    for (const auto& [other, value] : out) {
      EK_CHECK(other != key, ErrorKind::kValue,
               fmt::format("problem: {}: expected once, got '{}' and '{}'", key, value,
                           word.substr(equals + 1)));
    }
    out.emplace_back(key, std::string(word.substr(equals + 1)));
  }
  return out;
}

namespace detail {
namespace {

// Bounds are doubles, which hold every bound in use exactly; printed as integers where they are.
bool is_open(double bound) { return std::abs(bound) >= 9.2e18; }

[[noreturn]] void throw_out_of_range(std::string_view where, std::string_view text, double min,
                                     double max) {
  throw_error(ErrorKind::kValue,
              fmt::format("{}: expected {}, got {}", where, print_range(min, max), text));
}

}  // namespace

std::int64_t parse_integer(std::string_view where, std::string_view text, double min, double max) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  EK_CHECK(error == std::errc() && end == text.data() + text.size(), ErrorKind::kValue,
           fmt::format("{}: expected an integer, got '{}'", where, text));
  const auto wide = static_cast<double>(value);
  if (wide < min || wide > max) throw_out_of_range(where, text, min, max);
  return value;
}

double parse_number(std::string_view where, std::string_view text, double min, double max) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  EK_CHECK(error == std::errc() && end == text.data() + text.size(), ErrorKind::kValue,
           fmt::format("{}: expected a number, got '{}'", where, text));
  if (!(value >= min && value <= max)) throw_out_of_range(where, text, min, max);
  return value;
}

bool parse_bool(std::string_view where, std::string_view text) {
  if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "0" || text == "no" || text == "off") return false;
  throw_error(ErrorKind::kValue, fmt::format("{}: expected true or false, got '{}'", where, text));
}

DType parse_dtype_field(std::string_view where, std::string_view text) {
  if (const auto found = find_dtype(text)) return *found;
  std::vector<std::string_view> names;
  for (const DType dtype : all_dtypes()) names.push_back(name(dtype));
  throw_error(ErrorKind::kValue, fmt::format("{}: {}", where, expected_one_of(text, names)));
}

std::size_t parse_enum(std::string_view where, std::string_view text,
                       std::span<const std::string_view> names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return i;
  }
  throw_error(ErrorKind::kValue,
              fmt::format("{}: {}", where, expected_one_of(text, {names.begin(), names.end()})));
}

std::string print_number(double value) { return fmt::format("{}", value); }
std::string print_number(float value) { return fmt::format("{}", value); }

std::string print_range(double min, double max) {
  const auto bound = [](double value) {
    return std::floor(value) == value ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
  };
  if (is_open(min) && is_open(max)) return "any";
  if (is_open(max)) return fmt::format("at least {}", bound(min));
  if (is_open(min)) return fmt::format("at most {}", bound(max));
  return fmt::format("{}..{}", bound(min), bound(max));
}

std::string join(std::span<const std::string_view> names, std::string_view separator) {
  return fmt::format("{}", fmt::join(names, separator));
}

void throw_unknown_key(std::string_view where, std::string_view key,
                       const std::vector<std::string_view>& known) {
  throw_error(ErrorKind::kValue, fmt::format("{}: key: {}", where, expected_one_of(key, known)));
}

}  // namespace detail
}  // namespace einkorn
