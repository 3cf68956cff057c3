#pragma once

#include "src/jit/artifact_store.h"
#include "src/jit/memory_cache.h"
#include "src/jit/nvrtc.h"

namespace einkorn::jit {

/// The request with everything filled in that decides the result. ValueError: an unknown embedded
/// file, an arch that the compiler does not know.
CompileInputs resolve_inputs(const Request& request, const Nvrtc& compiler);

/// Compiles, whatever is cached. The outcome holds the failure when the source does not compile.
Outcome compile_now(const CompileInputs& inputs, const Nvrtc& compiler);

}  // namespace einkorn::jit
