#pragma once

#include <string_view>

namespace einkorn {

/// Version of the library, "major.minor.patch".
std::string_view version();

/// Commit the library was built from: 12 hex digits, with "-dirty" after them when tracked files
/// differed from it; "unknown" when the sources came without history.
std::string_view git_commit();

}  // namespace einkorn
