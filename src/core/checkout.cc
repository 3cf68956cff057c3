#include "src/core/checkout.h"

#include <system_error>

#include "src/core/environment.h"

namespace einkorn {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> find_above(fs::path folder, const fs::path& name) {
  std::error_code ignored;  // an unreadable folder has no such file for us
  for (;; folder = folder.parent_path()) {
    if (fs::exists(folder / name, ignored)) return folder / name;
    if (folder == folder.parent_path()) return std::nullopt;
  }
}

}  // namespace

std::optional<fs::path> find_in_checkout(const fs::path& name) {
  std::error_code ignored;
  const fs::path executable = fs::read_symlink("/proc/self/exe", ignored);
  if (auto found = find_above(executable.parent_path(), name)) return found;
  return find_above(fs::current_path(ignored), name);
}

std::string python_command() {
  if (const std::string named = environment("EINKORN_PYTHON"); !named.empty()) return named;
  if (const auto local = find_in_checkout(".venv/bin/python3")) return local->string();
  return "python3";
}

}  // namespace einkorn
