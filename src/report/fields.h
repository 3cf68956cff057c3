#pragma once

// Members of JSON objects, read with care: an absent one or null is "not known", one of another
// type is an error.

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace einkorn::report {

/// Keys in the order in which they were written.
using Json = nlohmann::ordered_json;

/// The text of a member; empty when absent or null. ValueError when it is something else.
std::string text_of(const Json& object, std::string_view key);

/// The number of a member; 0 when absent or null. ValueError when it is no number, or below 0: all
/// numbers of our documents are times, rates and counts.
double number_of(const Json& object, std::string_view key);

/// The array of a member; empty when absent or null. ValueError when it is something else, or when
/// one of its elements is no object.
const Json& objects_of(const Json& object, std::string_view key);

}  // namespace einkorn::report
