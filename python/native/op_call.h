#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <einkorn/op.h>

#include "python/native/values.h"
#include "src/jit/tvm_ffi.h"

namespace einkorn::python {

/// An op with what each call of it from outside needs. Immutable, so that threads may share it.
class OpCall {
 public:
  /// ValueError: no such op.
  explicit OpCall(std::string_view op);

  std::string_view name() const { return op_->name; }
  /// Inputs, outputs, scalars.
  const std::vector<ArgumentInfo>& arguments() const { return arguments_; }

  /// Runs a call: a value for each of arguments(), then the variant's name or None. Tensors may be
  /// None; None for a scalar leaves its default. CUDA work is queued on tvm-ffi's current stream of
  /// the tensors' device. Errors as the op's entry point has them, TypeError for a wrong value.
  void run(const Arguments& values) const;

  /// What run() would refuse, from the tensors' descriptions alone: their memory is not touched.
  /// Behind run()'s values comes the name of the device for which a variant must be found, or None:
  /// then only the contract is checked.
  void check(const Arguments& values) const;

 private:
  /// Fills `args` and gives the stream: that of the first tensor's device.
  Stream read(const Arguments& values, std::byte* args) const;

  const OpDef* op_;
  std::vector<ArgumentInfo> arguments_;
  /// Arguments made once, padding zeroed: copies are the same to the byte, which is how a repeated
  /// call is recognised.
  std::vector<std::byte> defaults_;
};

/// OpCall::run as a function for Python, whose side of tvm-ffi sets the current stream to that of
/// the arguments' framework. ValueError: no such op.
jit::FfiAny op_function(std::string_view op);

/// OpCall::check as a function for Python. ValueError: no such op.
jit::FfiAny op_check(std::string_view op);

}  // namespace einkorn::python
