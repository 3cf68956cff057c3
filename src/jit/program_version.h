#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace einkorn::jit {

/// What the program `argv[0]` writes, kept for as long as its file stays the same (real path, size,
/// time of change). RuntimeError: it cannot be run or fails.
std::string program_says(const std::vector<std::string>& argv);

/// Exact, for the command of a C or C++ compiler: the first line of --version and its target, such
/// as "g++ (Debian 12.2.0-14) 12.2.0 for x86_64-linux-gnu".
std::string host_compiler_version(const std::vector<std::string>& command);

std::string_view first_line_of(std::string_view text);

}  // namespace einkorn::jit
