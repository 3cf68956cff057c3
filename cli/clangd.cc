// einkorn clangd: a .clangd, so that editors understand device sources.

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "cli/jit_verbs.h"
#include "cli/status.h"
#include "cli/terminal.h"
#include "src/jit/clangd.h"

namespace einkorn::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "src/cuda/device/common/types.cuh";

/// The nearest folder from here upwards, then from the command upwards, that has the device
/// headers.
std::string find_root() {
  std::error_code error;
  std::vector<fs::path> starts = {fs::current_path(error)};
  starts.push_back(fs::read_symlink("/proc/self/exe", error).parent_path());
  for (const fs::path& start : starts) {
    for (fs::path at = start; !at.empty(); at = at.parent_path()) {
      if (fs::exists(at / kMark, error)) return at.string();
      if (at == at.root_path()) break;
    }
  }
  throw Exit(kFailed, fmt::format("clangd: expected {} here or above, or above the command\n"
                                  "  hint: run it within a checkout of einkorn",
                                  kMark));
}

/// What was written, and why when it is not what was asked for.
std::string arch_text(const jit::ClangdOptions& wanted) {
  std::string written = jit::clangd_arch(wanted);
  if (written == wanted.arch) return written;
  return fmt::format(
      "{} instead of {}, which {} does not know", written, wanted.arch,
      wanted.clangd_major == 0 ? "clang" : fmt::format("clangd {}", wanted.clangd_major));
}

}  // namespace

int clangd(const ClangdOptions& options) {
  const jit::ClangdOptions wanted{.root = find_root(),
                                  .include_dirs = options.include_dirs,
                                  .arch = options.arch,
                                  .toolkit_include = jit::find_toolkit_headers(),
                                  .clangd_major = jit::clangd_major_version()};
  as_usage([&] {
    jit::write_clangd(options.output, jit::clangd_config(wanted), options.overwrite);
    return 0;
  });
  print(fmt::format("{}: device sources for {}, {}\n", options.output, arch_text(wanted),
                    wanted.toolkit_include.empty()
                        ? "without a toolkit's headers: none was found"
                        : fmt::format("with the headers of {}", wanted.toolkit_include)));
  return kAllWell;
}

}  // namespace einkorn::cli
