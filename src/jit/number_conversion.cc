#include "src/jit/number_conversion.h"

#include <bit>
#include <cmath>

#include "src/core/float.h"

namespace einkorn::jit {
namespace {

/// An integer of -2^63 to 2^64 - 1.
struct Integer {
  bool negative = false;
  std::uint64_t bits = 0;  // two's complement

  bool operator==(const Integer&) const = default;
};

double floating_value(const NumberArgument& number) { return std::bit_cast<double>(number.bits); }

/// Nothing when it has a fraction or is too large; NaN has no integer either.
std::optional<Integer> integer_of(double value) {
  constexpr double kTwoTo63 = 0x1p63;
  if (!(value >= -kTwoTo63 && value < 2 * kTwoTo63) || value != std::trunc(value)) {
    return std::nullopt;
  }
  if (value < 0) return Integer{true, static_cast<std::uint64_t>(static_cast<std::int64_t>(value))};
  return Integer{false, static_cast<std::uint64_t>(value)};
}

std::optional<Integer> integer_of(const NumberArgument& number) {
  if (number.sort == NumberArgument::Sort::kFloating) return integer_of(floating_value(number));
  const bool is_signed = number.sort == NumberArgument::Sort::kSigned;
  return Integer{is_signed && static_cast<std::int64_t>(number.bits) < 0, number.bits};
}

std::optional<std::uint64_t> to_integer_type(const Integer& value, const Parameter& scalar) {
  const bool is_bool = scalar.dtype == kBool;
  const int value_bits = is_bool ? 1 : 8 * scalar.bytes - (scalar.is_signed ? 1 : 0);
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - value_bits);
  if (value.negative) {
    const bool fits = scalar.is_signed &&
                      static_cast<std::int64_t>(value.bits) >= -static_cast<std::int64_t>(most) - 1;
    return fits ? std::optional(value.bits) : std::nullopt;
  }
  return value.bits <= most ? std::optional(value.bits) : std::nullopt;
}

/// A floating value as a parameter holds it, and the number that those bits are.
struct Rounded {
  std::uint64_t bits = 0;
  double value = 0;
};

Rounded round_to_small(const SmallFloat& format, double value) {
  const std::uint32_t bits = encode(format, value);
  return {bits, decode(format, bits)};
}

Rounded round_to(DType dtype, double value) {
  switch (dtype) {
    case kF32: {
      // Beyond the largest float the conversion is undefined in C++; nearest even gives infinity
      // from halfway to the next power on.
      constexpr double kOverflow = 0x1.ffffffp127;
      if (std::abs(value) >= kOverflow && std::isfinite(value)) {
        return {0, std::copysign(HUGE_VAL, value)};
      }
      const auto narrow = static_cast<float>(value);
      return {std::bit_cast<std::uint32_t>(narrow), static_cast<double>(narrow)};
    }
    case kF16:
      return round_to_small(kF16Format, value);
    case kBF16:
      return round_to_small(kBF16Format, value);
    case kF8E4M3:
      return round_to_small(kF8E4M3Format, value);
    case kF8E5M2:
      return round_to_small(kF8E5M2Format, value);
    case kE8M0: {
      const std::uint8_t bits = to_e8m0(value);
      return {bits, from_e8m0(bits)};
    }
    default:  // kF64, the only other floating scalar
      return {std::bit_cast<std::uint64_t>(value), value};
  }
}

std::optional<std::uint64_t> rounded_bits(double value, DType dtype) {
  const Rounded rounded = round_to(dtype, value);
  const bool changed_kind = (std::isnan(rounded.value) && !std::isnan(value)) ||
                            (std::isinf(rounded.value) && !std::isinf(value));
  return changed_kind ? std::nullopt : std::optional(rounded.bits);
}

std::optional<std::uint64_t> exact_bits(const Integer& integer, DType dtype) {
  // May round; what comes back is compared with what went in.
  const double value = integer.negative
                           ? static_cast<double>(static_cast<std::int64_t>(integer.bits))
                           : static_cast<double>(integer.bits);
  const Rounded rounded = round_to(dtype, value);
  return integer_of(rounded.value) == integer ? std::optional(rounded.bits) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> convert_number(const NumberArgument& number, const Parameter& scalar) {
  const bool is_floating = number.sort == NumberArgument::Sort::kFloating;
  // A floating parameter has a dtype; double is the one that needs no rounding.
  const DType dtype = scalar.dtype.value_or(kF64);
  if (scalar.is_floating && is_floating) return rounded_bits(floating_value(number), dtype);
  const std::optional<Integer> value = integer_of(number);
  if (!value) return std::nullopt;
  return scalar.is_floating ? exact_bits(*value, dtype) : to_integer_type(*value, scalar);
}

std::uint64_t own_bits(const NumberArgument& number) {
  if (number.sort == NumberArgument::Sort::kFloating && number.bytes == 4) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(floating_value(number)));
  }
  return number.bits;
}

}  // namespace einkorn::jit
