#pragma once

// One interface for every way to turn a source into an artifact.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/error.h>

#include "src/jit/inputs.h"

namespace einkorn::jit {

/// What a compilation came to. A failure is one that the same inputs would meet again; trouble of
/// the moment (memory, a killed worker) is thrown.
struct Outcome {
  std::shared_ptr<const Artifact> artifact = {};
  std::optional<Error> failure = {};
  bool other_compiler_may = false;  ///< of a failure: another compiler could accept the source
  /// Files on disk that the compiler read beyond the inputs, absolute paths.
  std::vector<std::string> dependencies = {};
};

class Compiler {
 public:
  virtual ~Compiler() = default;

  /// "nvrtc", "nvrtc-worker", "nvcc", "nvcc-ffi", "c++": what Request::compiler takes.
  virtual std::string_view name() const = 0;

  /// What it is made for, first of all.
  virtual Target target() const { return Target::kCuda; }

  /// Why it cannot serve these inputs here, or nothing. Cheap when asked again.
  virtual std::optional<std::string> refusal(const CompileInputs& inputs) = 0;

  /// Exact: compilers of equal identity give equal artifacts. Asked only after a refusal() of
  /// nothing. Must not load the compiler: it is on the way to a warm store.
  virtual std::string identity() = 0;

  /// Thread-safe. Errors thrown are of the moment, see Outcome.
  virtual Outcome compile(const CompileInputs& inputs) = 0;

  /// It does one compilation at a time in a process.
  virtual bool serialises() const { return false; }

  /// It reads files beyond the inputs, so a second key is made of Outcome::dependencies.
  virtual bool reads_disk() const { return false; }
};

/// In the order in which they are tried.
std::vector<Compiler*> compilers();

/// Counts one compilation, for compile_count().
void count_compilation();

/// What nvrtc_compiler() and a worker do. Errors as Compiler::compile().
Outcome nvrtc_compile(const CompileInputs& inputs);

/// Why NVRTC serves these inputs nowhere, neither in this process nor in a worker, or nothing.
std::optional<std::string> nvrtc_refusal(const CompileInputs& inputs);

// Each lives in a file of its own and is kept for the process.
Compiler& nvrtc_compiler();
Compiler& nvrtc_worker_compiler();
Compiler& nvcc_compiler();
Compiler& host_compiler();
Compiler& ffi_module_compiler();

}  // namespace einkorn::jit
