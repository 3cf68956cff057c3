#pragma once

// jit::compile() taken apart, for callers that compile many at once.

#include <optional>

#include <einkorn/jit.h>

#include "src/jit/service.h"

namespace einkorn::jit {

/// What this process has answered the very same request with; asks nothing else.
std::optional<Program> compiled_before(const Request& request);

/// As compile(), and kept like its answers, without a look at what was compiled before.
Program compile_now(const Request& request, Beside beside, Trace* trace = nullptr);

}  // namespace einkorn::jit
