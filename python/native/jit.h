#pragma once

#include <string>
#include <string_view>

#include "python/native/values.h"

namespace einkorn::python {

/// Compiles what the JSON asks for: {target: "cuda" | "cpu" | "ffi", file, source, entries, arch,
/// options, include_dirs, compiler, time_limit}. For the CPU an entry is an expression that names a
/// C++ function, see cpu_entry.h. Errors as jit::compile().
///
/// Gives a function of (verb, entry or name):
///   "facts"       JSON of the artifact, without its bytes
///   "image"       its bytes: a cubin or a shared object
///   "parameters"  JSON of an entry's parameters, see jit_arguments.h
///   "kernel"      a function that calls the entry. For the GPU it takes twelve numbers first: the
///                 flags of jit_kernel.h, three each of grid and block, dynamic shared memory,
///                 three of the cluster, and the device, -1 for that of the tensors
///   "function"    what a module of tvm-ffi functions exports by that name
jit::FfiAny jit_program(std::string_view request);

/// "k<4, true, float>" from a name and arguments: bool, int, None, "dtype:f32", "c++:unsigned int".
/// ValueError: text that is no template argument, a dtype without a type in device code.
std::string expression_text(const Arguments& arguments);

}  // namespace einkorn::python
