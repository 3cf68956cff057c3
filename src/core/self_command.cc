#include "src/core/self_command.h"

#include <filesystem>
#include <utility>

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn {
namespace {

std::vector<std::string>& said() {
  static std::vector<std::string> words;
  return words;
}

}  // namespace

std::vector<std::string> self_command() {
  if (!said().empty()) return said();
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  EK_CHECK(!error, ErrorKind::kRuntime,
           fmt::format("einkorn: cannot find this executable: {}", error.message()));
  return {own.string()};
}

void set_self_command(std::vector<std::string> words) { said() = std::move(words); }

}  // namespace einkorn
