#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <einkorn/device.h>
#include <einkorn/dtype.h>
#include <einkorn/error.h>
#include <einkorn/tensor.h>

/// Conversions between numbers and the bit patterns of the small float types, on the host, for
/// references, checks and input generation. All round to nearest even and only once.
namespace einkorn {

/// A small binary float: sign, exponent, mantissa, from the top. Sources: IEEE 754 (f16), OCP 8-bit
/// floating point rev 1.0 (e4m3 without infinities, e5m2), OCP microscaling rev 1.0 (e2m1).
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  std::uint32_t max_finite;  ///< bit pattern of the largest finite value
  std::uint32_t infinity;    ///< pattern that overflow and infinities give: NaN in e4m3, the
                             ///< largest value in e2m1, which has neither
  std::uint32_t nan;         ///< pattern a NaN becomes

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int sign_shift() const { return exponent_bits + mantissa_bits; }
};

inline constexpr SmallFloat kBF16Format{8, 7, 0x7f7f, 0x7f80, 0x7fc0};
inline constexpr SmallFloat kF16Format{5, 10, 0x7bff, 0x7c00, 0x7e00};
inline constexpr SmallFloat kF8E4M3Format{4, 3, 0x7e, 0x7f, 0x7f};
inline constexpr SmallFloat kF8E5M2Format{5, 2, 0x7b, 0x7c, 0x7e};
inline constexpr SmallFloat kF4E2M1Format{2, 1, 0x7, 0x7, 0x7};

/// What a finite value beyond the largest one becomes.
enum class OnOverflow : std::uint8_t {
  kInfinity,  ///< infinity, or what the format has in its place
  kSaturate,  ///< the largest finite value; infinities, too
};

/// Bits of `value` in a small format.
constexpr std::uint32_t encode(const SmallFloat& format, double value,
                               OnOverflow on_overflow = OnOverflow::kInfinity) {
  const auto wide = std::bit_cast<std::uint64_t>(value);
  const std::uint32_t sign = static_cast<std::uint32_t>(wide >> 63) << format.sign_shift();
  const std::uint64_t magnitude = wide & ~(std::uint64_t{1} << 63);
  constexpr std::uint64_t kInfinity = std::uint64_t{0x7ff} << 52;
  if (magnitude > kInfinity) return sign | format.nan;
  const std::uint32_t beyond =
      sign | (on_overflow == OnOverflow::kSaturate ? format.max_finite : format.infinity);
  if (magnitude == kInfinity) return beyond;

  // Doubles below 2^-1022 have no implicit 1, but are far below half of any format's smallest
  // value, and so come out as 0 all the same.
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  const std::uint64_t mantissa =
      (magnitude & ((std::uint64_t{1} << 52) - 1)) | (std::uint64_t{1} << 52);
  const int lowest = 1 - format.bias();  // exponent of subnormals and of the smallest normal
  if (exponent > format.bias() + 1) return beyond;
  int shift = 52 - format.mantissa_bits;
  if (exponent < lowest) shift += lowest - exponent;
  if (shift > 53) return sign;  // below half of the smallest subnormal

  std::uint64_t rounded = mantissa >> shift;
  const std::uint64_t rest = mantissa & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  if (rest > half || (rest == half && (rounded & 1) != 0)) ++rounded;
  // A normal mantissa carries its implicit 1 into the exponent field, hence one less there; a
  // rounding carry goes the same way, from subnormal to normal and to the next exponent.
  const int field = exponent < lowest ? 0 : exponent + format.bias() - 1;
  const std::uint64_t result =
      (static_cast<std::uint64_t>(field) << format.mantissa_bits) + rounded;
  return result > format.max_finite ? beyond : sign | static_cast<std::uint32_t>(result);
}

/// The value of a bit pattern; exact.
constexpr double decode(const SmallFloat& format, std::uint32_t pattern) {
  const std::uint64_t sign = static_cast<std::uint64_t>(pattern >> format.sign_shift() & 1) << 63;
  const std::uint32_t magnitude = pattern & ((1U << format.sign_shift()) - 1);
  if (magnitude > format.max_finite) {
    const bool infinite = magnitude == format.infinity && format.infinity != format.nan;
    const double value = infinite ? std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::quiet_NaN();
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | sign);
  }
  const std::uint64_t mantissa = magnitude & ((1U << format.mantissa_bits) - 1);
  const int field = static_cast<int>(magnitude >> format.mantissa_bits);
  if (field == 0) {
    const int power = 1 - format.bias() - format.mantissa_bits;
    const double unit = std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
    const double value = static_cast<double>(mantissa) * unit;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | sign);
  }
  return std::bit_cast<double>(sign |
                               static_cast<std::uint64_t>(field - format.bias() + 1023) << 52 |
                               mantissa << (52 - format.mantissa_bits));
}

constexpr std::uint16_t to_bf16(double value) {
  return static_cast<std::uint16_t>(encode(kBF16Format, value));
}
constexpr std::uint16_t to_f16(double value) {
  return static_cast<std::uint16_t>(encode(kF16Format, value));
}
constexpr std::uint8_t to_f8e4m3(double value, OnOverflow mode = OnOverflow::kInfinity) {
  return static_cast<std::uint8_t>(encode(kF8E4M3Format, value, mode));
}
constexpr std::uint8_t to_f8e5m2(double value, OnOverflow mode = OnOverflow::kInfinity) {
  return static_cast<std::uint8_t>(encode(kF8E5M2Format, value, mode));
}
constexpr float from_bf16(std::uint16_t pattern) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(pattern) << 16);
}
constexpr float from_f16(std::uint16_t pattern) {
  return static_cast<float>(decode(kF16Format, pattern));
}
constexpr float from_f8e4m3(std::uint8_t pattern) {
  return static_cast<float>(decode(kF8E4M3Format, pattern));
}
constexpr float from_f8e5m2(std::uint8_t pattern) {
  return static_cast<float>(decode(kF8E5M2Format, pattern));
}

/// e8m0, a power of two from 2^-127 to 2^127: the nearest one (from 1.5 times on the next), the
/// ends for values beyond them; NaN for NaN and everything that is not positive.
constexpr std::uint8_t to_e8m0(double value) {
  if (!(value > 0)) return 0xff;
  const auto wide = std::bit_cast<std::uint64_t>(value);
  // Half a mantissa carries into the exponent exactly from 1.5 on.
  const int exponent = static_cast<int>((wide + (std::uint64_t{1} << 51)) >> 52) - 1023;
  return static_cast<std::uint8_t>(exponent < -127 ? 0 : exponent > 127 ? 254 : exponent + 127);
}
constexpr double from_e8m0(std::uint8_t pattern) {
  if (pattern == 0xff) return std::numeric_limits<double>::quiet_NaN();
  return std::bit_cast<double>(static_cast<std::uint64_t>(pattern - 127 + 1023) << 52);
}

/// Rounds to nearest even and saturates; NaN becomes 0.
template <class Int>
Int to_integer(double value, Int lowest, Int highest) {
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(value);
  // Both bounds as doubles are powers of two or exact, so >= also stops i64's 2^63.
  if (rounded <= static_cast<double>(lowest)) return lowest;
  if (rounded >= static_cast<double>(highest)) return highest;
  return static_cast<Int>(rounded);
}

namespace detail {

template <class T>
T load_raw(const TensorView& tensor, std::int64_t offset) {
  T value;
  std::memcpy(&value, tensor.data_as<char>() + offset * static_cast<std::int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

template <class T>
void store_raw(const TensorView& tensor, std::int64_t offset, T value) {
  std::memcpy(tensor.data_as<char>() + offset * static_cast<std::int64_t>(sizeof(T)), &value,
              sizeof(T));
}

/// The four bits at an element offset, low half of a byte first; floor division, so that negative
/// offsets work.
inline std::uint32_t load_nibble(const TensorView& tensor, std::int64_t offset) {
  const auto byte = static_cast<std::uint32_t>(tensor.data_as<std::uint8_t>()[offset >> 1]);
  return (offset & 1) != 0 ? byte >> 4 : byte & 0xf;
}

inline void store_nibble(const TensorView& tensor, std::int64_t offset, std::uint32_t value) {
  std::uint8_t& byte = tensor.data_as<std::uint8_t>()[offset >> 1];
  byte = static_cast<std::uint8_t>((offset & 1) != 0 ? (byte & 0x0fU) | (value & 0xf) << 4
                                                     : (byte & 0xf0U) | (value & 0xf));
}

inline void check_on_host(const TensorView& tensor) {
  EK_ICHECK(tensor.device().kind == DeviceKind::kCpu, "elements are read on the CPU only");
}

}  // namespace detail

/// The element `offset` elements (not bytes) from the first; the caller applies strides. CPU only.
/// i64 beyond 2^53 in magnitude rounds to a double.
inline double load_as_double(const TensorView& tensor, std::int64_t offset) {
  using namespace detail;  // NOLINT(google-build-using-namespace): the table below stays readable
  check_on_host(tensor);
  switch (tensor.dtype()) {
    case kF64:
      return load_raw<double>(tensor, offset);
    case kF32:
      return static_cast<double>(load_raw<float>(tensor, offset));
    case kF16:
      return decode(kF16Format, load_raw<std::uint16_t>(tensor, offset));
    case kBF16:
      return static_cast<double>(from_bf16(load_raw<std::uint16_t>(tensor, offset)));
    case kF8E4M3:
      return decode(kF8E4M3Format, load_raw<std::uint8_t>(tensor, offset));
    case kF8E5M2:
      return decode(kF8E5M2Format, load_raw<std::uint8_t>(tensor, offset));
    case kI8:
      return load_raw<std::int8_t>(tensor, offset);
    case kU8:
      return load_raw<std::uint8_t>(tensor, offset);
    case kI32:
      return load_raw<std::int32_t>(tensor, offset);
    case kI64:
      return static_cast<double>(load_raw<std::int64_t>(tensor, offset));
    case kBool:
      return load_raw<std::uint8_t>(tensor, offset) != 0 ? 1 : 0;
    case kI4: {
      const auto nibble = static_cast<int>(load_nibble(tensor, offset));
      return nibble < 8 ? nibble : nibble - 16;
    }
    case kU4:
      return load_nibble(tensor, offset);
    case kF4E2M1:
      return decode(kF4E2M1Format, load_nibble(tensor, offset));
    case kE8M0:
      return from_e8m0(load_raw<std::uint8_t>(tensor, offset));
  }
  EK_ICHECK(false, "every dtype has a case");
  return 0;
}

/// The inverse of load_as_double, rounding once: floats to nearest even with overflow to infinity
/// (NaN in e4m3, the largest value in e2m1), integers to nearest even and saturated, bool to
/// "not 0" (NaN included).
inline void store_from_double(const TensorView& tensor, std::int64_t offset, double value) {
  using namespace detail;  // NOLINT(google-build-using-namespace): the table below stays readable
  check_on_host(tensor);
  switch (tensor.dtype()) {
    case kF64:
      return store_raw(tensor, offset, value);
    case kF32:
      return store_raw(tensor, offset, static_cast<float>(value));
    case kF16:
      return store_raw(tensor, offset, to_f16(value));
    case kBF16:
      return store_raw(tensor, offset, to_bf16(value));
    case kF8E4M3:
      return store_raw(tensor, offset, to_f8e4m3(value));
    case kF8E5M2:
      return store_raw(tensor, offset, to_f8e5m2(value));
    case kI8:
      return store_raw(tensor, offset, to_integer<std::int8_t>(value, -128, 127));
    case kU8:
      return store_raw(tensor, offset, to_integer<std::uint8_t>(value, 0, 255));
    case kI32:
      return store_raw(tensor, offset,
                       to_integer(value, std::numeric_limits<std::int32_t>::min(),
                                  std::numeric_limits<std::int32_t>::max()));
    case kI64:
      return store_raw(tensor, offset,
                       to_integer(value, std::numeric_limits<std::int64_t>::min(),
                                  std::numeric_limits<std::int64_t>::max()));
    case kBool:
      return store_raw(tensor, offset, static_cast<std::uint8_t>(value != 0));
    case kI4:
      return store_nibble(tensor, offset,
                          static_cast<std::uint32_t>(to_integer<std::int32_t>(value, -8, 7)));
    case kU4:
      return store_nibble(tensor, offset, to_integer<std::uint32_t>(value, 0, 15));
    case kF4E2M1:
      return store_nibble(tensor, offset, encode(kF4E2M1Format, value));
    case kE8M0:
      return store_raw(tensor, offset, to_e8m0(value));
  }
}

}  // namespace einkorn
