#pragma once

#include <string_view>

namespace einkorn::detail {

/// Whether the text has a character that means something in a pattern.
bool is_glob(std::string_view text);

/// Whether all of `text` fits the pattern: `*` is any run of characters and `?` any one, neither
/// the separator; `**` is any run at all. Everything else is itself.
bool glob_match(std::string_view pattern, std::string_view text, char separator);

}  // namespace einkorn::detail
