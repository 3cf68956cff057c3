#pragma once

// The kernels that a CUDA source defines or declares, for messages.

#include <string>
#include <string_view>
#include <vector>

namespace einkorn::jit {

/// "k", or "k<class T, int N>" for a template, as written and without namespaces, each once. What
/// macros make is not found.
std::vector<std::string> kernel_names(std::string_view source);

}  // namespace einkorn::jit
