#pragma once

// `jit run --cpu`: a C++ function, compiled, called, checked and timed.

#include <string>
#include <utility>
#include <vector>

#include <einkorn/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/jit_verbs.h"
#include "cli/run_arguments.h"
#include "cli/status.h"

namespace einkorn::cli {

/// Runs `body`, which takes the arguments; their mistakes are bad usage and list what was typed.
template <class Body>
void of_arguments(const JitRunOptions& options, Body&& body) {
  try {
    std::forward<Body>(body)();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kRuntime) throw;
    throw Exit(kBadUsage, fmt::format("{}\n  --arg, in order: {}", error.what(),
                                      fmt::join(options.arguments, "  ")));
  }
}

/// The exit status. Bad usage: what only kernels take (--grid, --pdl, ...), arguments that do not
/// fit. RuntimeError: the function threw, or does not compile.
int run_on_cpu(const JitRunOptions& options, const std::vector<RunArgument>& arguments);

}  // namespace einkorn::cli
