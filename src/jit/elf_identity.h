#pragma once

#include <optional>
#include <string>

namespace einkorn::jit {

/// What tells two builds of a shared library apart, read without loading it: its GNU build id, or,
/// where the linker gave it none, size and time of change. Nothing when it cannot be read.
std::optional<std::string> library_identity(const std::string& path);

}  // namespace einkorn::jit
