#pragma once

// What a pack says of itself, for messages about what it does not have.

#include <string>

#include "src/jit/inputs.h"

namespace einkorn::jit {

/// Why nothing may be loaded from the folder: it is no pack, or others may write to it and `trust`
/// is not set. Empty when it may.
std::string cannot_use_pack(const std::string& folder, bool trust);

/// What the pack has of this source, where the very kernel is not in it.
std::string nearest_in_pack(const std::string& folder, const CompileInputs& inputs);

}  // namespace einkorn::jit
