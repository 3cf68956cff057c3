#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <dlpack/dlpack.h>

namespace einkorn {

/// Element types. Sub-byte types are packed low bits first, two elements to a byte.
enum class DType : std::uint8_t {
  kF64,
  kF32,
  kF16,
  kBF16,
  kF8E4M3,  ///< OCP fp8 e4m3, finite only ("fn")
  kF8E5M2,
  kI8,
  kU8,
  kI32,
  kI64,
  kBool,  ///< one byte, 0 or 1
  kI4,
  kU4,
  kF4E2M1,  ///< OCP MX fp4
  kE8M0,    ///< OCP MX scale: a power of two
};
using enum DType;

inline constexpr int kDTypeCount = 15;

/// Every dtype in declaration order.
std::span<const DType> all_dtypes();

/// Bits of one element: 64 down to 4.
constexpr int bits(DType dtype) {
  constexpr std::uint8_t kBits[kDTypeCount] = {64, 32, 16, 16, 8, 8, 8, 8, 32, 64, 8, 4, 4, 4, 8};
  return kBits[static_cast<int>(dtype)];
}

/// Unit roundoff of f32, f16 and bf16: half the distance from 1 to the next larger value.
constexpr double unit_roundoff(DType dtype) {
  return dtype == kF64 ? 0x1p-53 : dtype == kF32 ? 0x1p-24 : dtype == kF16 ? 0x1p-11 : 0x1p-8;
}

/// Bytes that `count` elements take, sub-byte types rounded up to a whole byte. ValueError when
/// count is negative or the bytes do not fit in 63 bits.
std::size_t bytes_for(DType dtype, std::int64_t count);

bool is_floating(DType dtype);

/// Short name: "f64" "f32" "f16" "bf16" "f8e4m3" "f8e5m2" "i8" "u8" "i32" "i64" "bool" "i4" "u4"
/// "f4e2m1" "e8m0".
std::string_view name(DType dtype);

/// Inverse of name(); also takes the frameworks' spellings ("float32", "bfloat16", "half",
/// "int32", "float8_e4m3fn", ...). Nothing for an unknown name.
std::optional<DType> find_dtype(std::string_view text);

/// Like find_dtype, but an unknown name is a ValueError that lists the known ones.
DType parse_dtype(std::string_view text);

/// DLPack's form, lanes 1.
DLDataType to_dlpack(DType dtype);

/// Nothing for types einkorn does not know, lanes other than 1 included.
std::optional<DType> from_dlpack(DLDataType dtype);

}  // namespace einkorn
