// NVRTC in processes of their own: several compile at once, each can be ended, and a crash leaves
// the caller alone.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/cuda/dynamic_library.h"
#include "src/jit/compiler.h"
#include "src/jit/time_limit.h"
#include "src/jit/worker_executable.h"
#include "src/jit/worker_pool.h"

namespace einkorn::jit {
namespace {

constexpr double kTimeLimit = 300;  // seconds

class NvrtcWorkerCompiler : public Compiler {
 public:
  std::string_view name() const override { return "nvrtc-worker"; }

  std::optional<std::string> refusal(const CompileInputs& inputs) override {
    const ProgramSearch search = find_worker(WorkerRoots::of_process());
    if (!search.path) {
      return fmt::format(
          "the compile worker was not found; tried:\n      {}\n    hint: build the target "
          "einkorn_jit_worker, or set EINKORN_JIT_WORKER to its full path",
          fmt::join(search.tried, "\n      "));
    }
    return nvrtc_refusal(inputs);
  }

  /// The artifacts are the same as in process.
  std::string identity() override { return nvrtc_compiler().identity(); }

  Outcome compile(const CompileInputs& inputs) override {
    const ProgramSearch search = find_worker(WorkerRoots::of_process());
    EK_CHECK(search.path.has_value(), ErrorKind::kRuntime,
             fmt::format("jit: compile worker: expected einkorn_jit_worker, found none in: {}",
                         fmt::join(search.tried, ", ")));
    WorkerSpec spec{*search.path, {}};
    // The one that identity() speaks of, whatever the worker's own search would find.
    const cuda::LibrarySpec& nvrtc = cuda::nvrtc_spec();
    if (const auto file = cuda::locate(nvrtc, cuda::SearchRoots::of_process(nvrtc))) {
      spec.environment.push_back(fmt::format("{}={}", nvrtc.variable, *file));
    }
    const double limit = time_limit_of(inputs, kTimeLimit);
    count_compilation();
    return worker_pool().compile(spec, inputs, limit);
  }
};

}  // namespace

Compiler& nvrtc_worker_compiler() {
  static NvrtcWorkerCompiler& instance = *new NvrtcWorkerCompiler;  // threads may outlive main
  return instance;
}

}  // namespace einkorn::jit
