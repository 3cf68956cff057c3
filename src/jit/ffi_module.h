#pragma once

// Modules with tvm-ffi functions: compiled here (Target::kFfi), or any other shared object that
// exports some.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <einkorn/device.h>
#include <einkorn/dtype.h>
#include <einkorn/jit.h>
#include <einkorn/tensor.h>

#include "src/jit/loaded_object.h"

namespace einkorn::jit {

/// An argument: nothing, a scalar, a text, a dtype or a tensor; an undefined tensor is nothing.
using FfiArgument =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, DType, TensorView>;

/// What a function returned.
using FfiResult = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// The functions among the symbols that an object exports, in their order.
std::vector<std::string> ffi_functions(std::span<const std::string> symbols);

class FfiModule {
 public:
  /// Loads libtvm_ffi, then the object; kept for the process. RuntimeError: either cannot be
  /// loaded.
  static FfiModule load(const Artifact& artifact, std::string_view name);

  /// Calls the function exported by that name. `stream` is what it gets as the current one of its
  /// device, for this call; nothing leaves the stream as it is, which is the legacy default one
  /// unless somebody set another.
  ///
  /// Errors that the function raises come as Errors of the same kind (what is no kind of ours, as
  /// RuntimeError with its kind before the text). ValueError: no such function, with those there
  /// are. NotImplementedError: a result that FfiResult cannot hold.
  FfiResult call(const std::string& function, std::span<const FfiArgument> arguments,
                 std::optional<Stream> stream = {}) const;
  FfiResult call(const std::string& function, std::initializer_list<FfiArgument> arguments,
                 std::optional<Stream> stream = {}) const {
    return call(function, std::span(arguments.begin(), arguments.size()), stream);
  }

  /// Names of its functions, sorted.
  std::vector<std::string> functions() const;

 private:
  FfiModule(LoadedObject object, std::string name) : object_(object), name_(std::move(name)) {}

  LoadedObject object_;
  std::string name_;
};

}  // namespace einkorn::jit
