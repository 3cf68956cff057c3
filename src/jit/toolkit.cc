#include "src/jit/toolkit.h"

#include <system_error>

#include "src/cuda/dynamic_library.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;

void add(std::vector<fs::path>& out, const fs::path& include) {
  std::error_code ignored;
  if (!fs::is_regular_file(include / "cuda_fp16.h", ignored)) return;
  out.push_back(include);
  if (fs::is_directory(include / "cccl", ignored)) out.push_back(include / "cccl");
}

std::vector<fs::path> find() {
  const cuda::LibrarySpec& spec = cuda::nvrtc_spec();
  const cuda::SearchRoots roots = cuda::SearchRoots::of_process(spec);
  std::vector<fs::path> out;
  for (const std::string& toolkit : roots.toolkits) add(out, fs::path(toolkit) / "include");
  if (const auto nvrtc = cuda::locate(spec, roots)) {
    std::error_code error;
    const fs::path real = fs::canonical(*nvrtc, error);
    // <toolkit>/lib64/libnvrtc.so, or <toolkit>/targets/x86_64-linux/lib/libnvrtc.so
    if (!error) add(out, real.parent_path().parent_path() / "include");
  }
  add(out, "/usr/local/cuda/include");
  return out;
}

}  // namespace

const std::vector<fs::path>& toolkit_include_folders() {
  static const std::vector<fs::path> kFolders = find();
  return kFolders;
}

}  // namespace einkorn::jit
