#include "src/jit/disassemble.h"

#include <chrono>
#include <filesystem>
#include <string_view>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/core/environment.h"
#include "src/core/subprocess.h"
#include "src/jit/scratch_folder.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;

// Ends a tool that hangs: kernels of this repository take well below a second.
constexpr std::chrono::seconds kTimeLimit{120};

/// Only its search of Python environments is used: these are programs.
const cuda::LibrarySpec& spec() {
  static const cuda::LibrarySpec kSpec{
      .name = "nvdisasm",
      .variable = "EINKORN_NVDISASM",
      .sonames = {"nvdisasm", "cuobjdump"},
      .wheel_folders = {"nvidia/cu13/bin", "triton/backends/nvidia/bin"},
      .in_toolkit = false,
      .last_folders = {},
      .hint = "pip install nvidia-cuda-nvdisasm, or install the CUDA toolkit"};
  return kSpec;
}

std::optional<std::string> find_in_folders(std::string_view folders) {
  for (std::string_view name : spec().sonames) {
    if (auto found = subprocess::find_program(name, folders)) return found;
  }
  return std::nullopt;
}

std::optional<std::string> find_in_python(const cuda::SearchRoots& roots) {
  for (const cuda::Candidate& candidate : cuda::search_order(spec(), roots)) {
    const bool is_file = candidate.path.find('/') != std::string::npos;
    if (is_file && !candidate.only_loaded && subprocess::is_program(candidate.path))
      return candidate.path;
  }
  return std::nullopt;
}

[[noreturn]] void fail_missing(const DisassemblerRoots& roots, const ProgramSearch& search) {
  const auto& named = roots.common.override_path;
  std::string message =
      named ? fmt::format("{}: missing: {}={} is no program", spec().name, spec().variable, *named)
            : fmt::format("{}: missing: neither it nor cuobjdump is in any of {} places",
                          spec().name, search.tried.size());
  for (const std::string& place : search.tried) message += fmt::format("\n  tried: {}", place);
  message +=
      named ? fmt::format("\n  hint: correct {} or unset it to search the usual places",
                          spec().variable)
            : fmt::format("\n  hint: {}, or set {} to its full path", spec().hint, spec().variable);
  throw_error(ErrorKind::kRuntime, message);
}

std::string_view first_lines(std::string_view text, std::size_t most_bytes) {
  text = text.substr(0, most_bytes);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

DisassemblerRoots DisassemblerRoots::of_process() {
  DisassemblerRoots roots;
  roots.common = cuda::SearchRoots::of_process(spec());
  roots.path = environment("PATH");
  return roots;
}

ProgramSearch find_disassembler(const DisassemblerRoots& roots) {
  ProgramSearch search;
  if (roots.common.override_path) {
    search.tried.push_back(*roots.common.override_path);
    if (subprocess::is_program(*roots.common.override_path))
      search.path = roots.common.override_path;
    return search;
  }
  std::vector<std::string> folders;
  folders.reserve(roots.common.toolkits.size() + 1);
  for (const std::string& toolkit : roots.common.toolkits) folders.push_back(toolkit + "/bin");
  folders.push_back(roots.default_toolkit + "/bin");
  search.tried.push_back(fmt::format("PATH ({})", roots.path));
  search.path = find_in_folders(roots.path);
  for (const std::string& folder : folders) {
    if (search.path) return search;
    search.tried.push_back(folder);
    search.path = find_in_folders(folder);
  }
  if (search.path) return search;
  search.tried.push_back(fmt::format("CUDA wheels and Triton in Python environments ({})",
                                     roots.common.virtual_env.empty()
                                         ? "VIRTUAL_ENV is not set, .venv above einkorn"
                                         : roots.common.virtual_env));
  search.path = find_in_python(roots.common);
  return search;
}

std::string disassemble(std::span<const std::byte> cubin, const DisassemblerRoots& roots) {
  const ProgramSearch search = find_disassembler(roots);
  if (!search.path) fail_missing(roots, search);
  const std::string& tool = *search.path;
  const bool is_cuobjdump = fs::path(tool).filename().string().starts_with("cuobjdump");
  // Neither tool takes its input from a pipe.
  const ScratchFolder folder;
  folder.write("kernel.cubin", {reinterpret_cast<const char*>(cubin.data()), cubin.size()});
  const subprocess::Options options{.time_limit = kTimeLimit};
  subprocess::Result result = subprocess::run(
      {tool, is_cuobjdump ? "-sass" : "-c", folder.path() + "/kernel.cubin"}, options);
  EK_CHECK(result.ok(), ErrorKind::kRuntime,
           fmt::format("disassemble: {}: {}\n  it said: {}\n"
                       "  hint: a disassembler that is older than the kernel's architecture does "
                       "not know its instructions",
                       tool, subprocess::describe(result, options),
                       first_lines(result.errors.empty() ? result.output : result.errors, 600)));
  return std::move(result.output);
}

}  // namespace einkorn::jit
