#include "src/jit/nvcc.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/core/environment.h"
#include "src/core/file.h"
#include "src/core/subprocess.h"
#include "src/jit/digest.h"
#include "src/jit/include_options.h"
#include "src/jit/program_version.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "EINKORN_NVCC";

/// The compiler that nvcc preprocesses with, or nothing when it would find none.
std::optional<std::string> host_compiler() {
  std::string named = environment("NVCC_CCBIN");
  if (named.empty()) return subprocess::find_program("gcc");
  std::error_code ignored;
  if (fs::is_directory(named, ignored)) return named + "/gcc";
  if (subprocess::is_program(named)) return named;
  return subprocess::find_program(named);
}

/// Sizes tell apart what an exchange of single programs leaves unsaid by the toolkit's version.
std::string sizes_of_programs(const fs::path& root) {
  std::string out;
  for (const char* name : {"bin/nvcc", "bin/cudafe++", "bin/ptxas", "nvvm/bin/cicc"}) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(root / name, error);
    out += fmt::format("{}{}", out.empty() ? "" : "+", error ? 0 : size);
  }
  return out;
}

/// Of a toolkit that is installed whole, from its file of versions; otherwise nvcc is asked.
std::string build_of(const std::string& path, const fs::path& root) {
  const FileContent versions = read_file((root / "version.json").string());
  if (!versions.error) {
    return fmt::format("version.json {}",
                       digest_of(std::as_bytes(std::span(versions.text))).hex().substr(0, 32));
  }
  std::string said = program_says({path, "--version"});
  while (said.ends_with('\n')) said.pop_back();
  // The last two lines are "Cuda compilation tools, release 13.0, V13.0.88" and "Build ...".
  const std::size_t last = said.rfind("Cuda compilation tools");
  said = said.substr(last == std::string::npos ? 0 : last);
  std::replace(said.begin(), said.end(), '\n', ' ');
  return said;
}

}  // namespace

NvccRoots NvccRoots::of_process() {
  NvccRoots roots;
  if (std::string path = environment(kVariable); !path.empty()) {
    roots.override_path = std::move(path);
  }
  roots.path = environment("PATH");
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (std::string path = environment(variable); !path.empty()) {
      roots.toolkits.push_back(std::move(path));
    }
  }
  roots.toolkits.emplace_back("/usr/local/cuda");
  return roots;
}

ProgramSearch find_nvcc(const NvccRoots& roots) {
  ProgramSearch search;
  if (roots.override_path) return search_override(*roots.override_path, kVariable);
  search.path = subprocess::find_program("nvcc", roots.path);
  if (search.path) {
    search.path = fs::absolute(*search.path).string();
    return search;
  }
  search.tried.push_back(fmt::format("PATH: {}", roots.path));
  for (const std::string& toolkit : roots.toolkits) {
    std::string candidate = fs::absolute(toolkit + "/bin/nvcc").string();
    if (subprocess::is_program(candidate)) {
      search.path = std::move(candidate);
      return search;
    }
    search.tried.push_back(std::move(candidate));
  }
  return search;
}

std::optional<std::string> nvcc_refusal(const CompileInputs& inputs) {
  const ProgramSearch search = find_nvcc(NvccRoots::of_process());
  if (!search.path) {
    return fmt::format("nvcc was not found; tried:\n      {}\n    hint: {}",
                       fmt::join(search.tried, "\n      "),
                       "install the CUDA toolkit, or set EINKORN_NVCC to the full path of nvcc");
  }
  if (!host_compiler()) {
    return fmt::format(
        "nvcc ({}) preprocesses with a host compiler, and {}\n    hint: install g++", *search.path,
        environment("NVCC_CCBIN").empty() ? "there is no gcc in PATH" : "NVCC_CCBIN names none");
  }
  for (const std::string& option : inputs.options) {
    if (option.find_first_of("`$") == std::string::npos) continue;
    return fmt::format("option {}: nvcc has a shell interpret '$' and '`'", option);
  }
  return std::nullopt;
}

std::string nvcc_path() {
  ProgramSearch search = find_nvcc(NvccRoots::of_process());
  EK_CHECK(
      search.path.has_value(), ErrorKind::kRuntime,
      fmt::format("jit: nvcc: expected one, found in none of: {}", fmt::join(search.tried, ", ")));
  return *std::move(search.path);
}

std::string nvcc_version(const std::string& path) {
  const std::string said = program_says({path, "--version"});
  constexpr std::string_view kMark = "release ";
  const std::size_t at = said.find(kMark);
  if (at == std::string::npos) return "of unknown version";
  const std::size_t begin = at + kMark.size();
  return said.substr(begin, said.find_first_not_of("0123456789.", begin) - begin);
}

std::string nvcc_identity(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  const fs::path root = (error ? fs::path(path) : real).parent_path().parent_path();
  const std::optional<std::string> host = host_compiler();
  return fmt::format("nvcc {}, programs {}, host {}{}", build_of(path, root),
                     sizes_of_programs(root), host ? host_compiler_version({*host}) : "none",
                     search_variables());
}

}  // namespace einkorn::jit
