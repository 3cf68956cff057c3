#include "src/profile/ncu.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/environment.h"
#include "src/core/subprocess.h"
#include "src/profile/counters.h"

namespace einkorn::profile {
namespace {

namespace fs = std::filesystem;

/// Only what process roots need of it is used: this is a program.
const cuda::LibrarySpec& spec() {
  static const cuda::LibrarySpec kSpec{.name = "ncu",
                                       .variable = "EINKORN_NCU",
                                       .sonames = {"ncu"},
                                       .wheel_folders = {},
                                       .in_toolkit = true,
                                       .last_folders = {},
                                       .hint = "install Nsight Compute"};
  return kSpec;
}

/// "2024.3.2" as numbers, so that 2024.10 is newer than 2024.9. Empty for other names.
std::vector<int> version_of(const std::string& folder) {
  std::vector<int> out;
  int number = -1;
  for (const char c : folder + '.') {
    if (c >= '0' && c <= '9') {
      number = std::max(number, 0) * 10 + (c - '0');
    } else if (c == '.' && number >= 0) {
      out.push_back(number);
      number = -1;
    } else {
      return {};
    }
  }
  return out;
}

std::optional<std::string> newest_in(const fs::path& packages) {
  std::optional<std::string> found;
  std::vector<int> best;
  std::error_code error;
  for (fs::directory_iterator it(packages, error), end; !error && it != end; it.increment(error)) {
    const std::vector<int> version = version_of(it->path().filename().string());
    const std::string program = (it->path() / "ncu").string();
    if (version <= best || !subprocess::is_program(program)) continue;
    best = version;
    found = program;
  }
  return found;
}

/// What it said last, without lines that say nothing: at most ten.
std::string last_lines(const subprocess::Result& result) {
  std::vector<std::string> lines(1);
  for (const char c : result.output + '\n' + result.errors) {
    if (c != '\n') {
      lines.back() += c;
    } else if (!lines.back().empty()) {
      lines.emplace_back();
    }
  }
  if (lines.back().empty()) lines.pop_back();
  constexpr std::size_t kMost = 10;
  std::string out;
  for (std::size_t i = lines.size() > kMost ? lines.size() - kMost : 0; i < lines.size(); ++i) {
    out += fmt::format("\n  it said: {}", lines[i]);
  }
  return out;
}

[[noreturn]] void fail(const subprocess::Result& result, const std::string& what,
                       const std::string& hint) {
  throw_error(ErrorKind::kRuntime,
              fmt::format("ncu: {}{}\n  hint: {}", what, last_lines(result), hint));
}

void check(const subprocess::Result& result, const subprocess::Options& options) {
  const auto said = [&](std::string_view text) {
    return result.output.find(text) != std::string::npos ||
           result.errors.find(text) != std::string::npos;
  };
  if (said("ERR_NVGPUCTRPERM")) {
    fail(result, "the driver does not let this user read the counters (ERR_NVGPUCTRPERM)",
         "run as root, in a container with --cap-add=SYS_ADMIN, or let all users: "
         "`options nvidia NVreg_RestrictProfilingToAdminUsers=0` in /etc/modprobe.d, then reload "
         "the driver; --mode event and --mode timeline need no counters");
  }
  if (said("No kernels were profiled")) {
    fail(result, "no kernel was profiled",
         "the command below it failed, or another profiler holds the device");
  }
  if (!result.ok()) {
    fail(result, subprocess::describe(result, options),
         "--mode event and --mode timeline do without it");
  }
}

}  // namespace

NcuRoots NcuRoots::of_process() {
  NcuRoots roots;
  roots.common = cuda::SearchRoots::of_process(spec());
  roots.path = environment("PATH");
  return roots;
}

jit::ProgramSearch find_ncu(const NcuRoots& roots) {
  if (roots.common.override_path) {
    return jit::search_override(*roots.common.override_path, spec().variable);
  }
  jit::ProgramSearch search;
  search.tried.push_back(fmt::format("PATH ({})", roots.path));
  search.path = subprocess::find_program("ncu", roots.path);
  std::vector<std::string> folders;
  folders.reserve(roots.common.toolkits.size() + 1);
  for (const std::string& toolkit : roots.common.toolkits) folders.push_back(toolkit + "/bin");
  folders.push_back(roots.default_toolkit + "/bin");
  for (const std::string& folder : folders) {
    if (search.path) return search;
    search.tried.push_back(folder);
    search.path = subprocess::find_program("ncu", folder);
  }
  if (search.path) return search;
  search.tried.push_back(roots.packages + "/<version>");
  search.path = newest_in(roots.packages);
  return search;
}

std::string ncu_version(const std::string& ncu) {
  const subprocess::Result result =
      subprocess::run({ncu, "--version"}, {.time_limit = std::chrono::seconds(20)});
  constexpr std::string_view kBefore = "Version ";
  const std::size_t at = result.output.find(kBefore);
  if (!result.ok() || at == std::string::npos) return {};
  const std::size_t begin = at + kBefore.size();
  return result.output.substr(begin, result.output.find_first_of(" \n", begin) - begin);
}

std::string run_ncu(const NcuRequest& request) {
  std::vector<std::string> argv{request.ncu, "--csv", "--page", "raw"};
  const auto add = [&](const char* option, std::string value) {
    argv.emplace_back(option);
    argv.push_back(std::move(value));
  };
  // Base units of ncu, so that what is kept as raw CSV can be compared between runs.
  add("--print-units", "base");
  add("--clock-control", "none");
  add("--cache-control", "all");
  add("--target-processes", "application-only");
  add("--launch-skip", std::to_string(request.skip));
  add("--launch-count", std::to_string(request.count));
  for (std::string& one : counter_arguments()) argv.push_back(std::move(one));
  argv.insert(argv.end(), request.command.begin(), request.command.end());
  const subprocess::Options options{.time_limit = request.time_limit};
  subprocess::Result result = subprocess::run(argv, options);
  check(result, options);
  return std::move(result.output);
}

}  // namespace einkorn::profile
