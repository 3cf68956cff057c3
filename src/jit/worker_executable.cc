#include "src/jit/worker_executable.h"

#include <algorithm>
#include <utility>

#include "src/core/environment.h"
#include "src/core/subprocess.h"
#include "src/cuda/dynamic_library.h"

namespace einkorn::jit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "einkorn_jit_worker";
constexpr const char* kVariable = "EINKORN_JIT_WORKER";

}  // namespace

WorkerRoots WorkerRoots::of_process() {
  WorkerRoots roots;
  if (std::string path = environment(kVariable); !path.empty()) {
    roots.override_path = std::move(path);
  }
  roots.anchors = cuda::SearchRoots::of_process(cuda::nvrtc_spec()).anchors;
  return roots;
}

ProgramSearch find_worker(const WorkerRoots& roots) {
  ProgramSearch search;
  if (roots.override_path) return search_override(*roots.override_path, kVariable);
  for (const fs::path& anchor : roots.anchors) {
    for (const char* folder : {".", "lib", "../lib", "../libexec/einkorn"}) {
      const std::string candidate = (anchor / folder / kName).lexically_normal().string();
      if (std::find(search.tried.begin(), search.tried.end(), candidate) != search.tried.end()) {
        continue;  // both anchors are the same for a program that has einkorn inside
      }
      if (subprocess::is_program(candidate)) {
        search.path = candidate;
        return search;
      }
      search.tried.push_back(candidate);
    }
  }
  return search;
}

}  // namespace einkorn::jit
