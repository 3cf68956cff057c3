#pragma once

#include <cstdint>
#include <string>

#include <einkorn/jit.h>

#include "src/jit/tvm_ffi.h"

namespace einkorn::python {

/// Bits of the first number that a kernel of the GPU takes.
enum LaunchFlag : std::int64_t {
  kPdl = 1,
  kCooperative = 2,
  kWait = 4,     ///< return when the stream's work is done
  kPrepare = 8,  ///< load and opt in, launch nothing
};

/// A function that launches, loaded at its first call on tvm-ffi's current stream of the device.
/// Errors as jit::Kernel::launch; ValueError: no tensor and no device says where.
jit::FfiAny cuda_kernel_function(const jit::Program& program, const std::string& expression);

/// A function that calls the expression at `index` of entry_functions().
jit::FfiAny cpu_kernel_function(const jit::Program& program, std::size_t index,
                                const std::string& expression);

}  // namespace einkorn::python
