#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace einkorn {

/// The candidate closest to `text` by edit distance, or empty when none is close enough to be what
/// was meant (more than a third of the letters differ).
std::string_view nearest(std::string_view text, const std::vector<std::string_view>& candidates);

/// "expected one of a, b, c, got 'd'" and, when a candidate is near, "\n  hint: did you mean 'c'?".
std::string expected_one_of(std::string_view text, const std::vector<std::string_view>& candidates);

}  // namespace einkorn
