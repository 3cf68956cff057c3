#pragma once

#include <string_view>

#include "src/jit/tvm_ffi.h"

namespace einkorn::python {

/// Registers a Python callable as a variant.
///   description  JSON {op, design, version, summary, source, batch_invariant, tilings: [text],
///                replace, first}; the last two as in Placement
///   supports     f(problem text, device text, cc) -> None, or why not; None: serves everything
///   call         f(stream, tiling text, argument, ...) with the op's arguments in order: tensors
///                that must not be kept, None for one left out, and scalars
/// Both are kept for the process. ValueError: a name that is taken (unless it replaces), no such
/// op.
void add_variant(std::string_view description, const jit::FfiAny& supports,
                 const jit::FfiAny& call);

}  // namespace einkorn::python
