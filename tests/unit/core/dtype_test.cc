#include <einkorn/dtype.h>

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "tests/unit/golden.h"

namespace einkorn {
namespace {

using test::GoldenErrors;

TEST(DType, AllAreListedOnceInOrder) {
  ASSERT_EQ(all_dtypes().size(), static_cast<std::size_t>(kDTypeCount));
  for (int i = 0; i < kDTypeCount; ++i) {
    EXPECT_EQ(all_dtypes()[static_cast<std::size_t>(i)], static_cast<DType>(i));
  }
}

TEST(DType, NamesAreDistinctAndParseBack) {
  std::set<std::string_view> names;
  for (DType dtype : all_dtypes()) {
    EXPECT_TRUE(names.insert(name(dtype)).second) << name(dtype);
    EXPECT_EQ(find_dtype(name(dtype)), dtype);
    EXPECT_EQ(parse_dtype(name(dtype)), dtype);
  }
}

TEST(DType, FrameworkSpellingsAreKnown) {
  const std::map<std::string_view, DType> spellings = {{"float64", kF64},
                                                       {"double", kF64},
                                                       {"float32", kF32},
                                                       {"float", kF32},
                                                       {"float16", kF16},
                                                       {"half", kF16},
                                                       {"bfloat16", kBF16},
                                                       {"float8_e4m3fn", kF8E4M3},
                                                       {"float8_e5m2", kF8E5M2},
                                                       {"int8", kI8},
                                                       {"uint8", kU8},
                                                       {"int32", kI32},
                                                       {"int64", kI64},
                                                       {"long", kI64},
                                                       {"int4", kI4},
                                                       {"uint4", kU4},
                                                       {"float4_e2m1fn", kF4E2M1},
                                                       {"float8_e8m0fnu", kE8M0},
                                                       {"float8_e4m3", kF8E4M3}};
  for (const auto& [text, dtype] : spellings) EXPECT_EQ(find_dtype(text), dtype) << text;
  for (const char* unknown : {"", "f33", "Float32", "f32 ", "complex64", "int16"}) {
    EXPECT_FALSE(find_dtype(unknown).has_value()) << unknown;
  }
}

TEST(DType, Bits) {
  const std::map<DType, int> expected = {{kF64, 64},   {kF32, 32},   {kF16, 16}, {kBF16, 16},
                                         {kF8E4M3, 8}, {kF8E5M2, 8}, {kI8, 8},   {kU8, 8},
                                         {kI32, 32},   {kI64, 64},   {kBool, 8}, {kI4, 4},
                                         {kU4, 4},     {kF4E2M1, 4}, {kE8M0, 8}};
  ASSERT_EQ(expected.size(), static_cast<std::size_t>(kDTypeCount));
  for (const auto& [dtype, width] : expected) EXPECT_EQ(bits(dtype), width) << name(dtype);
  static_assert(bits(kF4E2M1) == 4, "usable in constant expressions");
}

TEST(DType, BytesRoundSubByteTypesUp) {
  EXPECT_EQ(bytes_for(kBF16, 3), 6U);
  EXPECT_EQ(bytes_for(kF64, 0), 0U);
  EXPECT_EQ(bytes_for(kI4, 0), 0U);
  EXPECT_EQ(bytes_for(kI4, 1), 1U);
  EXPECT_EQ(bytes_for(kU4, 2), 1U);
  EXPECT_EQ(bytes_for(kF4E2M1, 7), 4U);
  EXPECT_EQ(bytes_for(kF32, std::int64_t{3} << 31), std::size_t{12} << 31);  // over 32 bits
  EXPECT_EQ(bytes_for(kU4, std::numeric_limits<std::int64_t>::max()), std::size_t{1} << 62);
}

TEST(DType, Floating) {
  const std::set<DType> floating = {kF64, kF32, kF16, kBF16, kF8E4M3, kF8E5M2, kF4E2M1, kE8M0};
  for (DType dtype : all_dtypes()) {
    EXPECT_EQ(is_floating(dtype), floating.contains(dtype)) << name(dtype);
  }
}

TEST(DType, DlpackRoundTrip) {
  for (DType dtype : all_dtypes()) {
    const DLDataType exchanged = to_dlpack(dtype);
    EXPECT_EQ(exchanged.bits, bits(dtype)) << name(dtype);
    EXPECT_EQ(exchanged.lanes, 1) << name(dtype);
    EXPECT_EQ(from_dlpack(exchanged), dtype) << name(dtype);
  }
}

TEST(DType, ForeignDlpackTypesAreRefused) {
  EXPECT_FALSE(from_dlpack(DLDataType{kDLFloat, 32, 2}).has_value());
  EXPECT_FALSE(from_dlpack(DLDataType{kDLFloat, 32, 0}).has_value());
  EXPECT_FALSE(from_dlpack(DLDataType{kDLInt, 16, 1}).has_value());
  EXPECT_FALSE(from_dlpack(DLDataType{kDLComplex, 64, 1}).has_value());
  EXPECT_FALSE(from_dlpack(DLDataType{kDLFloat8_e4m3fnuz, 8, 1}).has_value());
  EXPECT_FALSE(from_dlpack(DLDataType{kDLBool, 1, 1}).has_value());
}

TEST(DType, Errors) {
  GoldenErrors errors("errors/dtype.txt");
  errors.add("unknown name", [] { parse_dtype("f33"); });
  errors.add("negative count", [] { bytes_for(kF32, -1); });
  errors.add("too many bytes", [] { bytes_for(kF64, std::int64_t{1} << 60); });
}

}  // namespace
}  // namespace einkorn
