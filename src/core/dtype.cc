#include <einkorn/dtype.h>

#include <algorithm>
#include <array>
#include <limits>

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  std::array<std::string_view, 3> aliases;  ///< spellings of PyTorch, NumPy, JAX and C
  std::uint8_t code;                        ///< DLDataTypeCode
  bool floating;
};

constexpr std::array<Row, kDTypeCount> kRows = {{
    {kF64, "f64", {"float64", "double"}, kDLFloat, true},
    {kF32, "f32", {"float32", "float"}, kDLFloat, true},
    {kF16, "f16", {"float16", "half"}, kDLFloat, true},
    {kBF16, "bf16", {"bfloat16"}, kDLBfloat, true},
    {kF8E4M3, "f8e4m3", {"float8_e4m3fn", "float8_e4m3", "fp8_e4m3"}, kDLFloat8_e4m3fn, true},
    {kF8E5M2, "f8e5m2", {"float8_e5m2", "fp8_e5m2"}, kDLFloat8_e5m2, true},
    {kI8, "i8", {"int8"}, kDLInt, false},
    {kU8, "u8", {"uint8"}, kDLUInt, false},
    {kI32, "i32", {"int32", "int"}, kDLInt, false},
    {kI64, "i64", {"int64", "long"}, kDLInt, false},
    {kBool, "bool", {}, kDLBool, false},
    {kI4, "i4", {"int4"}, kDLInt, false},
    {kU4, "u4", {"uint4"}, kDLUInt, false},
    {kF4E2M1, "f4e2m1", {"float4_e2m1fn", "fp4_e2m1"}, kDLFloat4_e2m1fn, true},
    {kE8M0, "e8m0", {"float8_e8m0fnu", "fp8_e8m0"}, kDLFloat8_e8m0fnu, true},
}};

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].dtype != static_cast<DType>(i)) return false;
  }
  return true;
}
static_assert(rows_are_in_order(), "kRows is indexed by DType");

constexpr const Row& row(DType dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

constexpr auto kAllDTypes = [] {
  std::array<DType, kDTypeCount> all{};
  std::transform(kRows.begin(), kRows.end(), all.begin(), [](const Row& r) { return r.dtype; });
  return all;
}();

}  // namespace

std::span<const DType> all_dtypes() { return kAllDTypes; }

std::size_t bytes_for(DType dtype, std::int64_t count) {
  const std::int64_t width = bits(dtype);
  const std::int64_t whole = width / 8;
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  EK_CHECK(count >= 0, ErrorKind::kValue,
           fmt::format("{} count: expected at least 0, got {}", name(dtype), count));
  EK_CHECK(whole == 0 || count <= kMax / whole, ErrorKind::kValue,
           fmt::format("{} count: expected at most {} elements (63 bits of bytes), got {}",
                       name(dtype), kMax / whole, count));
  if (whole == 0) return static_cast<std::size_t>(count / 2 + count % 2);
  return static_cast<std::size_t>(count * whole);
}

bool is_floating(DType dtype) { return row(dtype).floating; }

std::string_view name(DType dtype) { return row(dtype).name; }

std::optional<DType> find_dtype(std::string_view text) {
  if (text.empty()) return std::nullopt;  // unused alias places are empty
  for (const Row& r : kRows) {
    if (r.name == text || std::find(r.aliases.begin(), r.aliases.end(), text) != r.aliases.end()) {
      return r.dtype;
    }
  }
  return std::nullopt;
}

DType parse_dtype(std::string_view text) {
  if (const auto found = find_dtype(text)) return *found;
  std::string known;
  for (const Row& r : kRows) {
    if (!known.empty()) known += ", ";
    known += r.name;
  }
  throw_error(ErrorKind::kValue,
              fmt::format("dtype: expected one of {}, got \"{}\"\n"
                          "  hint: frameworks' spellings such as float32 and bfloat16 are known, "
                          "too",
                          known, text));
}

DLDataType to_dlpack(DType dtype) {
  return {row(dtype).code, static_cast<std::uint8_t>(bits(dtype)), 1};
}

std::optional<DType> from_dlpack(DLDataType dtype) {
  if (dtype.lanes != 1) return std::nullopt;
  for (const Row& r : kRows) {
    if (r.code == dtype.code && bits(r.dtype) == dtype.bits) return r.dtype;
  }
  return std::nullopt;
}

}  // namespace einkorn
