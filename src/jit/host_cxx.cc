#include "src/jit/host_cxx.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "src/core/environment.h"
#include "src/core/subprocess.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;

/// Full path of a program that is named or given by its path.
std::optional<std::string> locate(const std::string& name, const std::string& path) {
  if (name.find('/') == std::string::npos) return subprocess::find_program(name, path);
  if (!subprocess::is_program(name)) return std::nullopt;
  return fs::absolute(name).string();
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = text.find_first_of(" \t");
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end, text.size()));
  }
}

/// One program whose path has blanks, or a program with words behind it. Empty: neither.
std::vector<std::string> command_of(const std::string& text, const std::string& path) {
  if (const auto whole = locate(text, path)) return {*whole};
  std::vector<std::string> words = words_of(text);
  if (words.empty()) return {};
  const auto program = locate(words.front(), path);
  if (!program) return {};
  words.front() = *program;
  return words;
}

}  // namespace

HostCxxRoots HostCxxRoots::of_process() {
  return {environment("EINKORN_HOST_CXX"), environment("CXX"), environment("PATH")};
}

HostCxxSearch find_host_cxx(const HostCxxRoots& roots) {
  HostCxxSearch search;
  if (!roots.override_command.empty()) {
    search.command = command_of(roots.override_command, roots.path);
    if (search.command.empty()) {
      search.tried.push_back(
          fmt::format("{} (EINKORN_HOST_CXX; nothing else is tried)", roots.override_command));
    }
    return search;
  }
  if (!roots.cxx.empty()) {
    search.command = command_of(roots.cxx, roots.path);
    if (!search.command.empty()) return search;
    search.tried.push_back(fmt::format("{} (CXX)", roots.cxx));
  }
  for (const char* name : {"c++", "g++", "clang++"}) {
    if (auto found = subprocess::find_program(name, roots.path)) {
      search.command = {fs::absolute(*found).string()};
      return search;
    }
    search.tried.push_back(fmt::format("{} in PATH: {}", name, roots.path));
  }
  return search;
}

}  // namespace einkorn::jit
