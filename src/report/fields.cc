#include "src/report/fields.h"

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::report {
namespace {

/// Long values are cut: this goes into messages.
std::string shown(const Json& value) {
  constexpr std::size_t kLongest = 60;
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

/// Null for an absent member, too.
const Json& member(const Json& object, std::string_view key) {
  static const Json kNull;
  const auto found = object.find(std::string(key));
  return found == object.end() ? kNull : *found;
}

}  // namespace

std::string text_of(const Json& object, std::string_view key) {
  const Json& value = member(object, key);
  if (value.is_null()) return {};
  EK_CHECK(value.is_string(), ErrorKind::kValue,
           fmt::format("{}: expected a text, got {}", key, shown(value)));
  return value.get<std::string>();
}

double number_of(const Json& object, std::string_view key) {
  const Json& value = member(object, key);
  if (value.is_null()) return 0;
  EK_CHECK(value.is_number() && value.get<double>() >= 0, ErrorKind::kValue,
           fmt::format("{}: expected a number of at least 0, got {}", key, shown(value)));
  return value.get<double>();
}

const Json& objects_of(const Json& object, std::string_view key) {
  static const Json kNothing = Json::array();
  const Json& value = member(object, key);
  if (value.is_null()) return kNothing;
  EK_CHECK(value.is_array(), ErrorKind::kValue,
           fmt::format("{}: expected a list, got {}", key, shown(value)));
  for (const Json& element : value) {
    EK_CHECK(element.is_object(), ErrorKind::kValue,
             fmt::format("{}: expected objects, got {}", key, shown(element)));
  }
  return value;
}

}  // namespace einkorn::report
