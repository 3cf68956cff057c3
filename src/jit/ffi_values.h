#pragma once

// Values of tvm-ffi's C interface, and what goes with a call by it.

#include <cstdint>
#include <optional>
#include <string_view>

#include <einkorn/device.h>

#include "src/jit/tvm_ffi.h"

namespace einkorn::jit {

FfiAny bool_value(bool value);
FfiAny integer_value(std::int64_t value);
FfiAny number_value(double value);
/// A text for an argument; it has to end with a zero, and to outlive the value.
FfiAny text_value(const char* text);

/// The text of a value; it lives as long as the value. Nothing for another type.
std::optional<std::string_view> text_of(const FfiAny& value);

/// Lets go of a value that was given to us: an object, or nothing.
void release(const FfiAny& value);

/// Throws what the function that returned `status` raised, as an Error of the same kind; what is no
/// kind of ours as RuntimeError with its kind before the text.
[[noreturn]] void throw_raised(std::string_view who, int status);

/// tvm-ffi's current stream of a device, which its side of Python sets to that of the arguments'
/// framework; none for the CPU.
Stream current_stream(Device device);

/// The current stream of its device for a scope. One of the CPU, or nothing, changes nothing.
class StreamScope {
 public:
  /// RuntimeError: tvm-ffi takes no stream of the device.
  explicit StreamScope(const std::optional<Stream>& stream);
  ~StreamScope();
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  DLDevice device_{};
  void* before_ = nullptr;
  bool active_ = false;
};

}  // namespace einkorn::jit
