#pragma once

#include <string_view>

#include "python/native/xla_ffi.h"

namespace einkorn::python {

/// The handler through which XLA calls any op on a platform, "cpu" or "cuda". Attributes of a call:
///   op               its name
///   tensors          names of the arguments that the buffers are, inputs then outputs, by commas
///   variant          the variant's name, or empty
///   batch_invariant  whether the call is in batch-invariant mode
///   and each scalar by its name: pred, s64, f64 or a string
/// XLA holds no lock of Python's around a call. An op's error becomes XLA's: ValueError and
/// TypeError INVALID_ARGUMENT, NotImplementedError UNIMPLEMENTED, others INTERNAL. ValueError:
/// another platform.
XlaHandler jax_handler(std::string_view platform);

}  // namespace einkorn::python
