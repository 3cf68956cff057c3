// The public functions: memory first, then the store, then the compiler.

#include <einkorn/jit.h>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "src/cuda/driver.h"
#include "src/jit/compile.h"

namespace einkorn::jit {
namespace {

MemoryCache& artifacts() {
  static MemoryCache& instance = *new MemoryCache;  // used by threads that may outlive main
  return instance;
}

struct LoadedKernels {
  std::mutex mutex;
  std::map<std::string, cuda::Kernel> kernels;
};

LoadedKernels& loaded_kernels() {
  static LoadedKernels& instance = *new LoadedKernels;  // never unloads behind the driver's back
  return instance;
}

Outcome build(const CompileInputs& inputs, const Nvrtc& compiler) {
  ArtifactStore* store = artifact_store();
  if (store != nullptr) {
    if (auto artifact = store->lookup(inputs)) return {std::move(artifact), std::nullopt};
  }
  Outcome outcome = compile_now(inputs, compiler);
  if (store != nullptr && outcome.artifact != nullptr) store->publish(inputs, *outcome.artifact);
  return outcome;
}

}  // namespace

std::shared_ptr<const Artifact> compile(const Request& request) {
  const Nvrtc& compiler = nvrtc();
  const CompileInputs inputs = resolve_inputs(request, compiler);
  return artifacts().get(exact_key(inputs), [&] { return build(inputs, compiler); });
}

cuda::Kernel load(const Request& request) {
  EK_CHECK(request.entries.size() == 1, ErrorKind::kValue,
           fmt::format("jit: entries of {}: expected 1 to load, got {}", request.file,
                       request.entries.size()));
  cuda::driver();  // without one there is no use in compiling
  const Nvrtc& compiler = nvrtc();
  const CompileInputs inputs = resolve_inputs(request, compiler);
  const std::string key = exact_key(inputs);
  LoadedKernels& all = loaded_kernels();
  {
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.kernels.find(key); found != all.kernels.end()) return found->second;
  }
  const auto artifact = artifacts().get(key, [&] { return build(inputs, compiler); });
  const EntryPoint& entry = artifact->entries.front();
  const cuda::Kernel kernel =
      cuda::Module::load(artifact->cubin, request.file).kernel(entry.lowered, entry.expression);
  // Two threads may have loaded at once: both use the first, the other copy is dropped.
  const std::lock_guard lock(all.mutex);
  return all.kernels.emplace(key, kernel).first->second;
}

std::string native_arch(int cc) {
  EK_CHECK(cc >= 80, ErrorKind::kValue,
           fmt::format("jit: compute capability: expected 80 or more (Ampere), got {}", cc));
  // From 9.0 on the fastest instructions (wgmma, tcgen05) exist only in the suffixed target.
  return fmt::format("sm_{}{}", cc, cc >= 90 ? "a" : "");
}

}  // namespace einkorn::jit
