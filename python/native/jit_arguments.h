#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <einkorn/argument.h>

#include "python/native/values.h"
#include "src/jit/kernel_facts.h"

namespace einkorn::python {

/// What a kernel is called with, from the values at `first` and behind: tensors, None for null,
/// ctypes.c_void_p for an address, numbers, and bytes for a struct by value. Python's numbers have
/// no size: where the parameter's type is not known they take that of the parameter when they fit.
/// TypeError: another kind of value, a dtype or device that einkorn does not have.
std::vector<jit::Argument> kernel_arguments(const Arguments& values, std::size_t first,
                                            const jit::KernelFacts& facts);

/// The parameters as JSON: [{type, kind: "pointer" | "number" | "other", const, floating, boolean,
/// bytes}]; types are "" where the kernel's name tells none.
std::string parameters_json(const jit::KernelFacts& facts);

}  // namespace einkorn::python
