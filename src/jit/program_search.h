#pragma once

#include <optional>
#include <string>
#include <vector>

namespace einkorn::jit {

/// Where a program was looked for.
struct ProgramSearch {
  std::optional<std::string> path;  ///< nothing when no place had it
  std::vector<std::string> tried;   ///< in order
};

/// The program that a variable names: it alone is tried.
ProgramSearch search_override(const std::string& path, const char* variable);

}  // namespace einkorn::jit
