#pragma once

// What a choice of variants means: "auto" or nothing (the best that serves), one variant by name,
// or a pattern over names, of which the first in list order that serves is taken.

#include <string>
#include <string_view>
#include <vector>

#include <einkorn/registry.h>

namespace einkorn::detail {

inline constexpr std::string_view kAuto = "auto";

inline bool is_auto(std::string_view choice) { return choice.empty() || choice == kAuto; }

/// A choice with who made it.
struct Asked {
  std::string choice;  ///< empty: none, list order decides
  std::string source;  ///< as Selection::source
};

/// The choice itself or, where that is "auto" or empty, EINKORN_<OP>'s.
Asked asked_for(std::string_view op, std::string_view choice);

/// The variants of the entry that a choice allows, in list order; all for "auto". ValueError: an
/// unknown name, a pattern that fits none.
std::vector<const Variant*> allowed_by(const OpEntry& entry, std::string_view choice);

/// The same; the error tells the source, too.
std::vector<const Variant*> allowed_by(const OpEntry& entry, const Asked& asked);

/// "the argument" or the variable's name.
std::string in_words(std::string_view source);

}  // namespace einkorn::detail
