#pragma once

#include <string_view>

#include <einkorn/jit.h>

namespace einkorn::jit {

/// Compiles functions of the CPU for CpuEntry. A request as compile() takes it, save that it
/// instantiates C++ expressions: "add<float>". The folder of a file is searched for all of its
/// includes, before the system's.
///
/// Errors as compile(); one of an expression begins with `who`, names the source and the functions
/// that are found in it.
Program compile_entries(const Request& request, std::string_view who);

}  // namespace einkorn::jit
