#include "src/jit/program_version.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/core/subprocess.h"

namespace einkorn::jit {
namespace {

// A program that only tells its version; a hanging one must not hang the caller.
constexpr std::chrono::seconds kLimit{30};

/// Of the file itself: another compiler may take its place while we run.
std::string file_state(const std::string& program) {
  std::error_code error;
  const std::string real = std::filesystem::canonical(program, error).string();
  struct stat info{};
  if (error || stat(real.c_str(), &info) != 0) return {};
  return fmt::format("{} {} {}.{}", real, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

}  // namespace

std::string_view first_line_of(std::string_view text) { return text.substr(0, text.find('\n')); }

std::string program_says(const std::vector<std::string>& argv) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::string, std::string>;  // threads may outlive main
  const std::string key = fmt::format("{} {}", file_state(argv.front()), fmt::join(argv, " "));
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  // In the language of no country: the text goes into keys.
  const subprocess::Options options{.time_limit = kLimit, .environment = {"LC_ALL=C"}};
  subprocess::Result result = subprocess::run(argv, options);
  EK_CHECK(result.ok(), ErrorKind::kRuntime,
           fmt::format("jit: {}: {}: {}", fmt::join(argv, " "),
                       subprocess::describe(result, options), first_line_of(result.errors)));
  const std::lock_guard lock(mutex);
  return known.insert_or_assign(key, std::move(result.output)).first->second;
}

std::string host_compiler_version(const std::vector<std::string>& command) {
  const auto ask = [&](const char* question) {
    std::vector<std::string> argv = command;
    argv.emplace_back(question);
    return std::string(first_line_of(program_says(argv)));
  };
  const std::string version = ask("--version");
  return fmt::format("{} for {}", version, ask("-dumpmachine"));
}

}  // namespace einkorn::jit
