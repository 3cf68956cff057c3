#include "cli/files.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::cli {

void write_file(const std::string& path, const std::string& text) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code made;
  if (!folder.empty()) std::filesystem::create_directories(folder, made);
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return;
  const std::string reason = made ? made.message() : std::string(std::strerror(errno));
  throw_error(
      ErrorKind::kRuntime,
      fmt::format("{}: could not write: {}\n  hint: --output names another place", path, reason));
}

std::string time_stamp() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[32];
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%d-%H%M%S", &local)};
}

}  // namespace einkorn::cli
