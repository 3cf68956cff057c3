#pragma once

// CUDA variants compiled for architectures of devices that are not here: what can be said about a
// kernel without running it.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/jit.h>

#include "cli/json.h"
#include "cli/target.h"

namespace einkorn::cli {

/// One kernel of one variant for one architecture.
struct CompiledKernel {
  std::string variant;  ///< id
  std::string arch;     ///< "sm_90a"
  std::string kernel;   ///< name expression; empty when the compilation failed
  std::string problem;  ///< the first that needed it
  jit::Resources resources;
  double compile_ms = 0;
  std::string error;  ///< why it does not compile; empty when it does

  bool spills() const { return resources.spill_stores > 0 || resources.spill_loads > 0; }
  bool bad() const { return !error.empty() || spills(); }
};

struct CompileResults {
  std::vector<CompiledKernel> kernels;
  std::string unavailable;  ///< why there is no compiler here; then `kernels` is empty
  bool any_bad() const;
};

/// CUDA variants of a target (or its one) and the problems that need their kernels.
struct CompileWork {
  Target target;
  std::vector<NamedProblem> problems;
};

/// Compiles the variants with their default tiling for sm_80, sm_90a and sm_100a, each distinct
/// kernel once and many at a time; rows are in the order of variants, archs and problems whatever
/// was ready first. Problems that a variant refuses need no kernel of it. `progress` hears of each
/// that is done, one call at a time, from any thread; what it throws ends the work.
CompileResults compile_for_absent_devices(std::span<const CompileWork> work,
                                          const std::function<void(const std::string&)>& progress);

/// A table for people, with what to do when there is no compiler.
std::string compile_text(const CompileResults& results);
/// An array; see docs/guide/json.md.
Json compile_json(const CompileResults& results);

}  // namespace einkorn::cli
