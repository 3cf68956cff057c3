#pragma once

#include <string_view>

#include <einkorn/error.h>

#include "src/jit/inputs.h"

namespace einkorn::jit {

/// The error for a source that does not compile: the first error of the log with file and line,
/// entries, arch, `compiler` ("nvrtc 13.0"), a hint where one is known, and the path of a file that
/// holds the whole log. Files that lie on disk are named by their full path.
Error compile_failure(const CompileInputs& inputs, std::string_view compiler, std::string_view log);

/// "k.cu" as a person finds it: the path of the main source on disk, or its name.
std::string_view shown_name(const CompileInputs& inputs);

/// "\n  entry: a, b  arch: sm_90a  compiler: nvcc 13.0  key: 0123456789ab", the second line of
/// every such message. The key begins that of the inputs' content, the compiler aside: it tells
/// whether two messages are of the same source.
std::string shown_context(const CompileInputs& inputs, std::string_view compiler);

}  // namespace einkorn::jit
