// What a user says of a source, checked as far as that goes without compiling it.

#include <algorithm>
#include <filesystem>

#include <einkorn/cuda.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/jit_verbs.h"
#include "cli/source_file.h"
#include "cli/status.h"
#include "src/core/file.h"
#include "src/jit/arch_name.h"
#include "src/jit/kernel_names.h"
#include "src/jit/source_set.h"
#include "src/registry/suggest.h"

namespace einkorn::cli {
namespace {

namespace fs = std::filesystem;

/// What the kernel could be called; a source that is not there is told of elsewhere.
std::string kernels_of(const std::string& file) {
  const jit::EmbeddedSource* embedded = jit::find_embedded(file);
  const std::string text = embedded ? std::string(embedded->text) : read_file(file).text;
  const std::vector<std::string> names = jit::kernel_names(text);
  if (names.empty()) return "no __global__ function is in it; --cpu compiles host code";
  return fmt::format(
      "it has {}; --entry takes the name with its namespace and with template "
      "arguments",
      fmt::join(names, ", "));
}

void check_entries(const SourceOptions& source) {
  const bool blank = std::ranges::any_of(source.entries, [](const std::string& entry) {
    return entry.find_first_not_of(" \t") == std::string::npos;
  });
  if (source.cpu && blank) {
    throw Exit(kBadUsage, "--entry: expected the name of a C function, got an empty text");
  }
  if (source.cpu || (!blank && !source.entries.empty())) return;
  throw Exit(kBadUsage,
             fmt::format("--entry: expected a kernel of {}, got {}\n  hint: {}", source.file,
                         blank ? "an empty text" : "none", kernels_of(source.file)));
}

void check_compiler(const SourceOptions& source) {
  const std::string& name = source.compiler;
  const std::vector<std::string_view> cuda{"nvrtc", "nvrtc-worker", "nvcc"};
  const std::vector<std::string_view> host{"c++"};
  const std::vector<std::string_view>& fitting = source.cpu ? host : cuda;
  if (name.empty() || std::ranges::find(fitting, name) != fitting.end()) return;
  if (!source.cpu && name == host.front()) {
    throw Exit(kBadUsage,
               fmt::format("--compiler: expected one of {} for kernels, got 'c++'\n  hint: jit "
                           "compile --cpu compiles host code",
                           fmt::join(cuda, ", ")));
  }
  if (source.cpu && std::ranges::find(cuda, name) != cuda.end()) {
    throw Exit(
        kBadUsage,
        fmt::format("--compiler: expected c++ with --cpu, got '{}', which compiles kernels", name));
  }
  throw Exit(kBadUsage, "--compiler: " + expected_one_of(name, fitting));
}

std::string hint_for_arch(std::string_view arch) {
  const std::vector<std::string_view> usual{"sm_80",   "sm_86",  "sm_89",   "sm_90",
                                            "sm_90a",  "sm_100", "sm_100a", "sm_103a",
                                            "sm_120a", "sm_75",  "sm_87",   "sm_120"};
  const std::string_view near = nearest(arch, usual);
  return near.empty() ? std::string() : fmt::format("\n  hint: did you mean {}?", near);
}

std::string native_arch_of(int device) {
  const bool here = cuda::available() && device < cuda::device_count();
  return here ? jit::native_arch(cuda::device_info(device).cc) : "sm_90a";
}

std::vector<std::string> archs_of(const SourceOptions& source, int device) {
  if (source.archs.empty()) return {source.cpu ? std::string() : native_arch_of(device)};
  if (source.cpu) {
    for (const std::string& arch : source.archs) {
      if (jit::sm_number(arch) == 0) continue;
      throw Exit(kBadUsage, fmt::format("--arch: expected a CPU with --cpu, such as x86-64-v3, got "
                                        "\"{}\", which is a GPU",
                                        arch));
    }
    return source.archs;
  }
  check_cuda_archs("--arch", source.archs);
  return source.archs;
}

}  // namespace

void check_cuda_archs(std::string_view what, std::span<const std::string> archs) {
  for (const std::string& arch : archs) {
    if (jit::sm_number(arch) != 0) continue;
    throw Exit(kBadUsage, fmt::format("{}: expected one such as sm_90a, got \"{}\"{}", what, arch,
                                      hint_for_arch(arch)));
  }
}

void check_source_file(std::string_view what, const std::string& file) {
  if (jit::find_embedded(file) != nullptr) return;
  std::error_code none;
  const fs::file_status status = fs::status(file, none);
  if (fs::is_regular_file(status)) return;
  if (fs::exists(status)) {
    throw Exit(kBadUsage, fmt::format("{}: expected a file, got \"{}\", which is {}", what, file,
                                      fs::is_directory(status) ? "a folder" : "no regular file"));
  }
  std::vector<std::string> known;
  const fs::path folder = fs::path(file).parent_path();
  for (fs::directory_iterator at(folder.empty() ? "." : folder, none), end; !none && at != end;
       at.increment(none)) {
    if (at->is_regular_file(none)) known.push_back((folder / at->path().filename()).string());
  }
  std::vector<std::string_view> views(known.begin(), known.end());
  for (const jit::EmbeddedSource& one : jit::embedded_sources()) views.push_back(one.path);
  const std::string_view near = nearest(file, views);
  throw Exit(
      kBadUsage,
      fmt::format("{}: expected a file or a shipped source, got \"{}\"{}", what, file,
                  near.empty() ? std::string() : fmt::format("\n  hint: did you mean {}?", near)));
}

void check_include_folders(std::string_view what, std::span<const std::string> folders) {
  for (const std::string& folder : folders) {
    std::error_code none;
    if (!folder.empty() && fs::is_directory(folder, none)) continue;
    throw Exit(kBadUsage, fmt::format("{}: expected a folder, got \"{}\"", what, folder));
  }
}

std::vector<jit::Request> requests_of(const SourceOptions& source, int device) {
  check_source_file("file", source.file);
  check_compiler(source);
  check_entries(source);
  check_include_folders("--include", source.include_dirs);
  std::vector<jit::Request> out;
  for (const std::string& arch : archs_of(source, device)) {
    out.push_back({.file = source.file,
                   .instantiate = source.entries,
                   .arch = arch,
                   .options = source.options,
                   .include_dirs = source.include_dirs,
                   .target = source.cpu ? jit::Target::kCpu : jit::Target::kCuda,
                   .compiler = source.compiler,
                   .time_limit = source.time_limit});
  }
  return out;
}

}  // namespace einkorn::cli
