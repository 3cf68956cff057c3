#pragma once

// What a caller passes to a kernel, by value and typed.

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <einkorn/dtype.h>
#include <einkorn/tensor.h>

namespace einkorn::jit {

/// A number as the caller had it.
struct NumberArgument {
  enum class Sort : std::uint8_t { kBool, kSigned, kUnsigned, kFloating };
  Sort sort = Sort::kSigned;
  int bytes = 0;  ///< of the caller's type
  /// kBool, kSigned and kUnsigned: the value, sign-extended; kFloating: bits of a double.
  std::uint64_t bits = 0;
};

/// An address of the device, and what the caller's pointer points to, where that has a dtype.
struct PointerArgument {
  const void* address = nullptr;
  std::optional<DType> pointee = {};
};

/// A struct by value, where it fits without an allocation.
struct SmallBytesArgument {
  std::array<std::byte, 128> data;
  std::uint32_t size = 0;
};

/// One argument of a launch, by value. Only memory that tensors and pointers lead to must outlive
/// it.
class Argument {
 public:
  /// The longest parameter block of a kernel: CUDA 12.1 and later, sm_70 and newer.
  static constexpr std::size_t kMostBytes = 32764;

  /// Passes the address of the first element; no tensor passes null.
  Argument(const TensorView& tensor) : value_(tensor) {}     // NOLINT: arguments convert
  Argument(const Tensor& tensor) : value_(tensor.view()) {}  // NOLINT: arguments convert

  template <std::integral I>
    requires(!std::same_as<I, bool>)
  Argument(I value)  // NOLINT: arguments convert
      : value_(NumberArgument{
            std::is_signed_v<I> ? NumberArgument::Sort::kSigned : NumberArgument::Sort::kUnsigned,
            sizeof(I), static_cast<std::uint64_t>(value)}) {
    static_assert(sizeof(I) <= 8);
  }
  template <std::floating_point F>
  Argument(F value)  // NOLINT: arguments convert
      : value_(NumberArgument{NumberArgument::Sort::kFloating, sizeof(F),
                              std::bit_cast<std::uint64_t>(static_cast<double>(value))}) {
    static_assert(sizeof(F) <= 8, "device code has no long double");
  }
  Argument(bool value)  // NOLINT: arguments convert
      : value_(NumberArgument{NumberArgument::Sort::kBool, 1, value ? 1u : 0u}) {}

  /// An address of the device's memory. A pointer to elements of a dtype must agree with the
  /// parameter; void, character and std::byte pointers fit all.
  template <class T>
  Argument(T* pointer)  // NOLINT: arguments convert
      : value_(PointerArgument{const_cast<const void*>(static_cast<const volatile void*>(pointer)),
                               pointee_of<std::remove_cv_t<T>>()}) {}
  Argument(std::nullptr_t) : value_(PointerArgument{}) {}  // NOLINT: arguments convert

  /// A struct, enum or any other value as its bytes, copied; the parameter must have that size.
  template <class T>
    requires(std::is_trivially_copyable_v<T> && sizeof(T) <= kMostBytes)
  static Argument bytes_of(const T& value) {
    return Argument(std::as_bytes(std::span(&value, 1)));
  }
  /// The same for bytes whose type is not known here. ValueError: more than kMostBytes.
  static Argument bytes_of(std::span<const std::byte> bytes);

  /// For messages: "the integer 5", "a tensor", "24 bytes".
  std::string describe() const;

 private:
  friend class BoundArguments;
  friend class Binder;

  explicit Argument(std::span<const std::byte> bytes);

  template <class T>
  static constexpr std::optional<DType> pointee_of() {
    if constexpr (std::same_as<T, float>) return kF32;
    if constexpr (std::same_as<T, double>) return kF64;
    if constexpr (std::same_as<T, bool>) return kBool;
    if constexpr (std::integral<T>) {
      if constexpr (sizeof(T) == 4) return kI32;
      if constexpr (sizeof(T) == 8) return kI64;
    }
    return std::nullopt;
  }

  using LargeBytes = std::vector<std::byte>;
  std::variant<NumberArgument, PointerArgument, TensorView, SmallBytesArgument, LargeBytes> value_;
};

}  // namespace einkorn::jit
