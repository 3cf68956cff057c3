#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "cli/terminal.h"

namespace einkorn::cli {

/// Keys in the order in which docs/guide/json.md lists them.
using Json = nlohmann::ordered_json;

/// As text. Bytes that are no UTF-8 (a device's name, a compiler's message) are replaced.
inline std::string json_text(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

inline void print_json(const Json& value) { print(json_text(value)); }

/// null for an empty text.
inline Json text_or_null(std::string text) { return text.empty() ? Json() : Json(std::move(text)); }

}  // namespace einkorn::cli
