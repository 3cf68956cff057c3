#pragma once

// Tunings that ship with the library: ops/<family>/<op>/tunings/<device>.json, embedded as text.

#include <string>
#include <string_view>
#include <vector>

#include "src/trials/store.h"

namespace einkorn::trials {

/// A file's entries as trials: `source`, `date` and `driver` of each; quartiles are the median.
/// ValueError that names file and entry, and says what was expected.
std::vector<Trial> parse_bundled(std::string_view text, const std::string& file);

/// The winners among `trials`, one for each variant, source and problem, as such a file: entries
/// sorted by variant and problem. `trials` are of one op and device; ValueError otherwise, or when
/// none was measured well.
std::string print_bundled(const std::vector<Trial>& trials);

/// The embedded tunings of an op, read once; a file that cannot be understood is a warning.
const Reading& bundled(std::string_view op);

}  // namespace einkorn::trials
