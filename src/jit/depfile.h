#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace einkorn::jit {

/// What the rule of a depfile names behind its colon, in the file's order: make's syntax as GCC,
/// Clang and nvcc write it with -MD.
std::vector<std::string> parse_depfile(std::string_view text);

/// The real paths of those that are not below `scratch`, sorted, each once. Relative ones count
/// from `folder`. A file that is gone by now keeps its path as it was written.
std::vector<std::string> dependencies_outside(std::string_view depfile, const std::string& folder,
                                              const std::string& scratch);

}  // namespace einkorn::jit
