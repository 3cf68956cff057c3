#pragma once

// The parameters of a kernel, from its mangled name.
//
// What a mangled name does not hold: const, volatile and __restrict__ of a parameter itself,
// __grid_constant__, default arguments, the names of parameters, and for types that depend on a
// template argument through a member (`typename Traits<T>::type`) what they turned out to be.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/dtype.h>

namespace einkorn::jit {

struct Parameter {
  enum class Kind : std::uint8_t {
    kPointer,  ///< to an object, or a reference, which is passed as its address
    kScalar,   ///< a built-in number, or one of the small float types
    kOther,    ///< struct, enum, function or member pointer, or a type that the name does not tell
  };

  std::string text;  ///< "float const*", "int", "einkorn::rms_norm::Params"
  Kind kind = Kind::kOther;
  bool is_const = false;  ///< of what a pointer points to
  /// Of the pointee or the scalar. Nothing for what has no dtype: void, char (which may be raw
  /// bytes), 16-bit integers, unsigned ones other than unsigned char, pointers, structs.
  std::optional<DType> dtype = {};
  /// Of unsigned int, long and long long: the dtype of the signed type of that size.
  std::optional<DType> signed_dtype = {};
  int bytes = 0;  ///< of the scalar or pointer; 0 for kOther, whose size is not in the name
  bool is_floating = false;  ///< scalars
  bool is_signed = false;    ///< scalars; true for floating ones
};

/// Nothing when the name is not mangled (extern "C"), has no parameter list, or is mangled in a way
/// that the C++ run-time library does not understand.
std::optional<std::vector<Parameter>> parse_signature(std::string_view lowered);

/// As written in C++, "void k<float, 4>(float*, int)"; `lowered` itself when it is not mangled.
std::string demangle(std::string_view lowered);

}  // namespace einkorn::jit
