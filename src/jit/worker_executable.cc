#include "src/jit/worker_executable.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>

#include "src/cuda/dynamic_library.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "einkorn_jit_worker";
constexpr const char* kVariable = "EINKORN_JIT_WORKER";

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

WorkerRoots WorkerRoots::of_process() {
  WorkerRoots roots;
  const char* value = std::getenv(kVariable);  // NOLINT(concurrency-mt-unsafe): read only
  if (value != nullptr && value[0] != '\0') roots.override_path = value;
  roots.anchors = cuda::SearchRoots::of_process(cuda::nvrtc_spec()).anchors;
  return roots;
}

WorkerSearch find_worker(const WorkerRoots& roots) {
  WorkerSearch search;
  if (roots.override_path) {
    if (is_program(*roots.override_path)) {
      search.path = fs::absolute(*roots.override_path).string();
    } else {
      search.tried.push_back(
          fmt::format("{} ({}; nothing else is tried)", *roots.override_path, kVariable));
    }
    return search;
  }
  for (const fs::path& anchor : roots.anchors) {
    for (const char* folder : {".", "lib", "../lib", "../libexec/einkorn"}) {
      const std::string candidate = (anchor / folder / kName).lexically_normal().string();
      if (std::find(search.tried.begin(), search.tried.end(), candidate) != search.tried.end()) {
        continue;  // both anchors are the same for a program that has einkorn inside
      }
      if (is_program(candidate)) {
        search.path = candidate;
        return search;
      }
      search.tried.push_back(candidate);
    }
  }
  return search;
}

}  // namespace einkorn::jit
