#pragma once

#include <string_view>

#include "src/jit/inputs.h"

namespace einkorn::jit {

/// Seconds that a compiler in a process of its own may take: that of the request, else
/// EINKORN_JIT_TIMEOUT, else `fallback`. ValueError: the variable is no number above 0.
double time_limit_of(const CompileInputs& inputs, double fallback);

/// RuntimeError "<file>: still compiling after <seconds> s, ended".
[[noreturn]] void throw_time_limit(const CompileInputs& inputs, std::string_view compiler,
                                   double seconds);

/// RuntimeError "<file>: the compiler crashed: <how>"; not a failure of the source, which may
/// compile when there is more memory, say.
[[noreturn]] void throw_crash(const CompileInputs& inputs, std::string_view compiler,
                              std::string_view how);

}  // namespace einkorn::jit
