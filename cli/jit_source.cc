#include <einkorn/cuda.h>
#include <fmt/format.h>

#include "cli/jit_verbs.h"

namespace einkorn::cli {

std::vector<jit::Request> requests_of(const SourceOptions& source) {
  std::vector<std::string> archs = source.archs;
  if (archs.empty()) {
    const bool here = cuda::available();
    archs.push_back(here ? jit::native_arch(cuda::device_info(0).cc) : "sm_90a");
  }
  std::vector<jit::Request> out;
  out.reserve(archs.size());
  for (const std::string& arch : archs) {
    out.push_back({.file = source.file,
                   .instantiate = source.entries,
                   .arch = arch,
                   .options = source.options,
                   .include_dirs = source.include_dirs,
                   .compiler = source.compiler,
                   .time_limit = source.time_limit});
  }
  return out;
}

}  // namespace einkorn::cli
