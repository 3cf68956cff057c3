#pragma once

// Calls with PyTorch's tensors by CPython's own convention: what they cost beyond the op's entry
// point is a third of what they cost by tvm-ffi, which serves all frameworks.

#include "python/native/cpython.h"

namespace einkorn::python {

/// For ctypes.PYFUNCTYPE, which holds the global lock: two functions of an op, as a tuple. `plain`
/// is the op's function by tvm-ffi, `parts` what TorchApi takes.
///
/// (input, ..., output, ..., scalar, ..., variant): as `plain`, which is called where a value is
/// none of PyTorch's plain tensors, None or of a plain type.
///
/// Of the same values, a call with the first output given: counts up the versions of what it wrote,
/// and gives its only output, or a tuple of those that are not None. Where it is not for plain
/// tensors alone, without gradients and modes, it does nothing and gives None.
///
/// Errors are those of the op's function by tvm-ffi. The lock is given up for work on the CPU, and
/// while a kernel is selected, compiled and loaded; a launch holds it.
PyObject* torch_functions(const char* op, PyObject* plain, PyObject* parts);

}  // namespace einkorn::python
