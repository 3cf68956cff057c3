#include "src/registry/glob.h"

#include <cstddef>
#include <vector>

namespace einkorn::detail {
namespace {

/// Which beginnings of the text fit the pattern so far: [i] for the first i characters. Patterns
/// come from users, so that time has to stay a product of the lengths, which backtracking is not.
using Fits = std::vector<char>;

/// The pattern longer by a run of any characters, or of any but the separator.
void extend_by_run(Fits& fits, std::string_view text, bool across, char separator) {
  for (std::size_t i = 1; i < fits.size(); ++i) {
    if (fits[i - 1] != 0 && (across || text[i - 1] != separator)) fits[i] = 1;
  }
}

/// The pattern longer by one character or `?`.
void extend_by_one(Fits& fits, std::string_view text, char one, char separator) {
  for (std::size_t i = fits.size() - 1; i > 0; --i) {
    const bool same = one == '?' ? text[i - 1] != separator : text[i - 1] == one;
    fits[i] = same ? fits[i - 1] : char{0};
  }
  fits[0] = 0;
}

}  // namespace

bool is_glob(std::string_view text) { return text.find_first_of("*?") != std::string_view::npos; }

bool glob_match(std::string_view pattern, std::string_view text, char separator) {
  Fits fits(text.size() + 1, 0);
  fits[0] = 1;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '*') {
      extend_by_one(fits, text, pattern[at], separator);
      continue;
    }
    const bool across = at + 1 < pattern.size() && pattern[at + 1] == '*';
    if (across) ++at;
    extend_by_run(fits, text, across, separator);
  }
  return fits.back() != 0;
}

}  // namespace einkorn::detail
