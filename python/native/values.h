#pragma once

// Values that cross the border to Python, in tvm-ffi's C interface.

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <einkorn/error.h>
#include <einkorn/tensor.h>

#include "src/jit/ffi_values.h"

namespace einkorn::python {

/// "None", "int", "str", as Python calls what came.
std::string_view type_name(const jit::FfiAny& value);

/// A tensor that came from outside; errors begin with `who` and the argument's name. TypeError: of
/// a dtype or device that einkorn does not have.
TensorView named_view(const DLTensor& tensor, std::string_view who, std::string_view name);

/// The arguments of one call, read by index. Each reader's TypeError names `who` and the argument.
class Arguments {
 public:
  Arguments(std::string_view who, const jit::FfiAny* values, std::int32_t count)
      : who_(who), values_(values, static_cast<std::size_t>(count)) {}

  std::string_view who() const { return who_; }

  std::size_t size() const { return values_.size(); }
  /// TypeError: not that many arguments.
  void expect(std::size_t count) const;
  bool is_none(std::size_t index) const { return values_[index].type == jit::kFfiNone; }

  std::string_view text(std::size_t index, std::string_view name) const;
  /// "" for None.
  std::string_view optional_text(std::size_t index, std::string_view name) const;
  std::int64_t integer(std::size_t index, std::string_view name) const;
  double number(std::size_t index, std::string_view name) const;
  bool boolean(std::size_t index, std::string_view name) const;
  /// No tensor for None. TypeError also for a dtype or device that einkorn does not have.
  TensorView tensor(std::size_t index, std::string_view name) const;
  /// As it came, or null for what is no tensor.
  const DLTensor* raw_tensor(std::size_t index) const;
  /// A Python callable; borrowed.
  void* function(std::size_t index, std::string_view name) const;
  const jit::FfiAny& any(std::size_t index) const { return values_[index]; }

  [[noreturn]] void wrong(std::size_t index, std::string_view name,
                          std::string_view expected) const;

 private:
  std::string_view who_;
  std::span<const jit::FfiAny> values_;
};

/// A result that owns its text.
jit::FfiAny text_result(std::string_view text);

/// A call into Python. The result is the caller's to release; what it raises comes as from
/// jit::throw_raised().
jit::FfiAny call_python(std::string_view who, void* function,
                        std::span<const jit::FfiAny> arguments);

/// Runs a function's body; an exception becomes raise(kind, text) with Python's name of its kind.
/// Whether there was none.
template <class Raise, class Body>
bool raising(Raise&& raise, Body&& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    raise(name(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    raise("MemoryError", "einkorn: out of memory");
  } catch (const std::exception& error) {
    raise("RuntimeError", error.what());
  }
  return false;
}

/// The same for tvm-ffi, whose functions return 0 for success.
template <class Body>
int guarded(Body&& body) noexcept {
  const auto raise = [](std::string_view kind, const char* text) {
    jit::tvm_ffi().raise(std::string(kind).c_str(), text);
  };
  return raising(raise, std::forward<Body>(body)) ? 0 : -1;
}

/// A function object for Python; `self` lives as long as the process, or until `deleter` is called.
jit::FfiAny function_result(void* self, jit::FfiFunction call, void (*deleter)(void*) = nullptr);

/// A function object that owns what it is called with.
template <class T>
jit::FfiAny function_result(std::unique_ptr<T> self, jit::FfiFunction call) {
  const jit::FfiAny out =
      function_result(self.get(), call, [](void* one) { delete static_cast<T*>(one); });
  static_cast<void>(self.release());  // NOLINT(bugprone-unused-return-value): the function's now
  return out;
}

}  // namespace einkorn::python
