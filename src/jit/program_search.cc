#include "src/jit/program_search.h"

#include <filesystem>

#include <fmt/format.h>

#include "src/core/subprocess.h"

namespace einkorn::jit {

ProgramSearch search_override(const std::string& path, const char* variable) {
  if (subprocess::is_program(path)) return {std::filesystem::absolute(path).string(), {}};
  return {std::nullopt, {fmt::format("{} ({}; nothing else is tried)", path, variable)}};
}

}  // namespace einkorn::jit
