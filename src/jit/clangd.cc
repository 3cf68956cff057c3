#include "src/jit/clangd.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <system_error>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/file.h"
#include "src/core/subprocess.h"
#include "src/jit/arch_name.h"
#include "src/jit/toolkit.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrelude = "tools/clangd_prelude.cuh";
constexpr std::string_view kDeviceHeaders = "src/cuda/device";

struct ClangArch {
  int number;
  std::string_view name;
  int since;  // major version of clang
};

// The architectures that einkorn has code for, and what older clang has below them; ascending. By
// trying clangd 14, 16, 19 and 22; LLVM's pull request 74895 brought sm_90a to 18, 123898 sm_100a
// to 20.
constexpr std::array kClangArchs = {
    ClangArch{80, "sm_80", 11},    ClangArch{86, "sm_86", 12},    ClangArch{89, "sm_89", 16},
    ClangArch{90, "sm_90", 16},    ClangArch{90, "sm_90a", 18},   ClangArch{100, "sm_100", 20},
    ClangArch{100, "sm_100a", 20}, ClangArch{103, "sm_103", 22},  ClangArch{103, "sm_103a", 22},
    ClangArch{120, "sm_120", 20},  ClangArch{120, "sm_120a", 20},
};

/// What that clang is told. It knows no "f", whose instructions "a" has as well.
std::string clang_arch(const std::string& arch, int clangd_major) {
  const int number = sm_number(arch);
  EK_CHECK(number >= 80, ErrorKind::kValue,
           fmt::format("clangd: arch: expected sm_80 or newer, such as sm_90a, got \"{}\"", arch));
  const bool plain = arch.back() >= '0' && arch.back() <= '9';
  std::string_view best = kClangArchs.front().name;
  for (const ClangArch& known : kClangArchs) {
    const bool suffixed = known.name.ends_with('a');
    if (clangd_major != 0 && known.since > clangd_major) continue;
    if (known.number > number || (known.number == number && plain && suffixed)) continue;
    best = known.name;
  }
  return std::string(best);
}

std::string checked_folder(const std::string& folder, std::string_view argument) {
  std::error_code error;
  const fs::path path = fs::absolute(folder, error).lexically_normal();
  EK_CHECK(!error && !folder.empty() && fs::is_directory(path, error), ErrorKind::kValue,
           fmt::format("clangd: {}: expected a folder, got \"{}\"", argument, folder));
  return path.string();
}

std::string checked_root(const std::string& folder) {
  std::string root = checked_folder(folder, "root");
  std::error_code ignored;  // not there for us
  EK_CHECK(fs::is_directory(fs::path(root) / kDeviceHeaders, ignored) &&
               fs::is_regular_file(fs::path(root) / kPrelude, ignored),
           ErrorKind::kValue,
           fmt::format("clangd: root: expected a checkout of einkorn, with {} and {}, got \"{}\"\n"
                       "  hint: run from a checkout, whose headers editors are to show",
                       kDeviceHeaders, kPrelude, folder));
  return root;
}

bool has_compiler_headers(const fs::path& include) {
  std::error_code ignored;
  return fs::is_regular_file(include / "cuda_runtime.h", ignored) &&
         fs::is_regular_file(include / "crt" / "host_config.h", ignored);
}

std::vector<std::string> flags_to_add(const ClangdOptions& options) {
  const std::string root = checked_root(options.root);
  std::vector<std::string> flags = {
      "-xcuda",
      "--cuda-gpu-arch=" + clangd_arch(options),
      // Of the two compilations of a CUDA source the one that has the kernels: __CUDA_ARCH__ is
      // defined, and inline assembly may name the registers of a GPU.
      "--cuda-device-only",
      "-std=c++20",
      "-nocudalib",
      "-nocudainc",
      "--no-cuda-version-check",
      "-Wno-unknown-cuda-version",
      "-Wno-pragma-once-outside-header",
  };
  for (const std::string& folder : options.include_dirs) {
    flags.push_back("-I" + checked_folder(folder, "include folder"));
  }
  flags.push_back("-I" + root);
  if (options.toolkit_include.empty()) {
    flags.push_back(fmt::format("-include{}/{}", root, kPrelude));
    return flags;
  }
  const fs::path toolkit = checked_folder(options.toolkit_include, "toolkit headers");
  EK_CHECK(
      has_compiler_headers(toolkit), ErrorKind::kValue,
      fmt::format("clangd: toolkit headers: expected cuda_runtime.h and crt/host_config.h, got "
                  "a folder without them, \"{}\"\n"
                  "  hint: pip install nvidia-cuda-crt, or leave the toolkit out",
                  options.toolkit_include));
  flags.push_back("-isystem" + toolkit.string());
  // What --cuda-path would make clang do, which asks for more than headers.
  flags.emplace_back("-include__clang_cuda_runtime_wrapper.h");
  flags.emplace_back("-includecassert");  // NVRTC has assert without any header
  std::error_code ignored;
  if (fs::is_directory(toolkit / "cccl", ignored)) {
    flags.push_back("-isystem" + (toolkit / "cccl").string());
  }
  return flags;
}

// Options of nvcc that clang refuses, for those who take flags from a compilation database.
constexpr std::array<std::string_view, 22> kNvccFlags = {
    "-arch*",
    "--gpu-architecture*",
    "-code*",
    "--gpu-code*",
    "-gencode*",
    "--generate-code*",
    "arch=compute_*",
    "-rdc*",
    "--relocatable-device-code*",
    "-dc",
    "-ccbin*",
    "--compiler-bindir*",
    "-forward-unknown-to-host-compiler",
    "--expt-*",
    "--extended-lambda",
    "-Xcompiler*",
    "--compiler-options*",
    "-Xptxas*",
    "-Xcudafe*",
    "-Xfatbin*",
    "--threads*",
    "--use_fast_math",
};

/// As a double-quoted scalar of YAML.
std::string yaml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

[[noreturn]] void fail_write(const std::string& path, int error) {
  throw_error(ErrorKind::kRuntime, fmt::format("clangd: {}: cannot be written: {}", path,
                                               std::system_category().message(error)));
}

}  // namespace

std::string clangd_arch(const ClangdOptions& options) {
  return clang_arch(options.arch, options.clangd_major);
}

std::string clangd_config(const ClangdOptions& options) {
  std::string text =
      "# Written by `einkorn clangd`: how clangd reads CUDA sources. It holds paths of this "
      "machine\n"
      "# and is best kept out of version control.\n"
      "If:\n"
      "  PathMatch: '.*\\.cuh?'\n"
      "CompileFlags:\n"
      "  Compiler: clang++\n";
  if (!options.use_database) text += "  CompilationDatabase: None\n";
  text += "  Add:\n";
  for (const std::string& flag : flags_to_add(options)) {
    text += fmt::format("    - {}\n", yaml_text(flag));
  }
  text += "  Remove:\n";
  for (std::string_view flag : kNvccFlags) text += fmt::format("    - {}\n", yaml_text(flag));
  return text;
}

void write_clangd(const std::string& path, std::string_view text, bool overwrite) {
  // A file beside it that then takes its name: nobody sees half a file, and link() refuses a name
  // that is taken, where rename() would replace it.
  const std::string draft = fmt::format("{}.{}.draft", path, getpid());
  const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) fail_write(path, errno);
  int error = write_all(file, std::as_bytes(std::span(text))).value();
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0) {
    const int result =
        overwrite ? rename(draft.c_str(), path.c_str()) : link(draft.c_str(), path.c_str());
    error = result == 0 ? 0 : errno;
  }
  if (!overwrite || error != 0) unlink(draft.c_str());
  EK_CHECK(error != EEXIST, ErrorKind::kValue,
           fmt::format("clangd: {}: expected a new file, got one that exists\n"
                       "  hint: --overwrite replaces it",
                       path));
  if (error != 0) fail_write(path, error);
}

std::string find_toolkit_headers() {
  for (const fs::path& folder : toolkit_include_folders()) {
    if (has_compiler_headers(folder)) return folder.string();
  }
  return {};
}

int clangd_major_version() {
  const auto program = subprocess::find_program("clangd");
  if (!program) return 0;
  const subprocess::Result result =
      subprocess::run({*program, "--version"}, {.time_limit = std::chrono::seconds(10)});
  constexpr std::string_view kBefore = "clangd version ";
  const std::size_t at = result.output.find(kBefore);
  if (!result.ok() || at == std::string::npos) return 0;
  int major = 0;
  const char* begin = result.output.data() + at + kBefore.size();
  std::from_chars(begin, result.output.data() + result.output.size(), major);
  return major;
}

}  // namespace einkorn::jit
