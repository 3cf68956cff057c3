#pragma once

// What a source defines or declares that could be an entry, for messages.

#include <string>
#include <string_view>
#include <vector>

namespace einkorn::jit {

/// "k", or "k<class T, int N>" for a template, as written and without namespaces, each once. What
/// macros make is not found.
std::vector<std::string> kernel_names(std::string_view source);

/// The functions that return void and are defined there: "add", each once, likewise.
std::vector<std::string> function_names(std::string_view source);

}  // namespace einkorn::jit
