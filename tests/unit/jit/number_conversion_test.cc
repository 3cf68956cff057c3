#include "src/jit/number_conversion.h"

#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "src/core/float.h"

namespace einkorn::jit {
namespace {

using Limits64 = std::numeric_limits<std::int64_t>;
constexpr std::uint64_t kMostU64 = std::numeric_limits<std::uint64_t>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

NumberArgument integer(std::int64_t value) {
  return {NumberArgument::Sort::kSigned, 8, static_cast<std::uint64_t>(value)};
}
NumberArgument natural(std::uint64_t value) { return {NumberArgument::Sort::kUnsigned, 8, value}; }
NumberArgument floating(double value) {
  return {NumberArgument::Sort::kFloating, 8, std::bit_cast<std::uint64_t>(value)};
}
NumberArgument boolean(bool value) { return {NumberArgument::Sort::kBool, 1, value ? 1u : 0u}; }

/// A scalar parameter by its mangled type.
Parameter scalar(const std::string& mangled) {
  const auto parameters = parse_signature("_Z1k" + mangled);
  return parameters.value_or(std::vector<Parameter>(1)).front();
}

/// The value in the parameter's width, sign-extended where the type is signed.
std::optional<std::int64_t> as_integer(const NumberArgument& number, const std::string& mangled) {
  const Parameter type = scalar(mangled);
  const auto bits = convert_number(number, type);
  if (!bits) return std::nullopt;
  const int unused = 64 - 8 * type.bytes;
  const auto top = static_cast<std::int64_t>(*bits << unused);
  return type.is_signed ? top >> unused
                        : static_cast<std::int64_t>(static_cast<std::uint64_t>(top) >> unused);
}

std::optional<double> as_floating(const NumberArgument& number, const std::string& mangled) {
  const Parameter type = scalar(mangled);
  const auto bits = convert_number(number, type);
  if (!bits) return std::nullopt;
  switch (type.dtype.value_or(kI8)) {
    case kF64:
      return std::bit_cast<double>(*bits);
    case kF32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(*bits)));
    case kF16:
      return decode(kF16Format, static_cast<std::uint32_t>(*bits));
    case kBF16:
      return decode(kBF16Format, static_cast<std::uint32_t>(*bits));
    case kF8E4M3:
      return decode(kF8E4M3Format, static_cast<std::uint32_t>(*bits));
    case kF8E5M2:
      return decode(kF8E5M2Format, static_cast<std::uint32_t>(*bits));
    case kE8M0:
      return from_e8m0(static_cast<std::uint8_t>(*bits));
    default:
      ADD_FAILURE() << mangled << " is not floating";
      return std::nullopt;
  }
}

constexpr const char *kDouble = "d", *kFloat = "f", *kHalf = "N7einkorn3f16E",
                     *kBrain = "N7einkorn4bf16E", *kE4M3 = "N7einkorn6f8e4m3E",
                     *kE5M2 = "N7einkorn6f8e5m2E", *kScale = "13__nv_fp8_e8m0";

TEST(NumberConversion, IntegersByRange) {
  struct Row {
    const char* mangled;
    std::int64_t lowest;
    std::uint64_t highest;
  };
  for (const Row& row :
       {Row{"b", 0, 1}, Row{"a", -128, 127}, Row{"c", -128, 127}, Row{"h", 0, 255},
        Row{"s", -32768, 32767}, Row{"t", 0, 65535}, Row{"i", -2147483648LL, 2147483647},
        Row{"j", 0, 4294967295}, Row{"l", Limits64::min(), Limits64::max()}, Row{"m", 0, kMostU64},
        Row{"x", Limits64::min(), Limits64::max()}, Row{"y", 0, kMostU64}}) {
    SCOPED_TRACE(row.mangled);
    EXPECT_EQ(as_integer(integer(row.lowest), row.mangled), row.lowest);
    EXPECT_EQ(as_integer(natural(row.highest), row.mangled),
              static_cast<std::int64_t>(row.highest));
    EXPECT_EQ(as_integer(boolean(true), row.mangled), 1);
    EXPECT_EQ(as_integer(boolean(false), row.mangled), 0);
    if (row.lowest != Limits64::min()) {
      EXPECT_EQ(as_integer(integer(row.lowest - 1), row.mangled), std::nullopt);
      EXPECT_EQ(as_integer(integer(Limits64::min()), row.mangled), std::nullopt);
    }
    if (row.highest != kMostU64) {
      EXPECT_EQ(as_integer(natural(row.highest + 1), row.mangled), std::nullopt);
      EXPECT_EQ(as_integer(natural(kMostU64), row.mangled), std::nullopt);
    }
  }
  EXPECT_EQ(as_integer(integer(1048576), "i"), 1048576);
  EXPECT_EQ(as_integer(integer(std::int64_t{1} << 40), "i"), std::nullopt);
}

TEST(NumberConversion, FloatingValuesThatAreIntegers) {
  EXPECT_EQ(as_integer(floating(2.0), "i"), 2);
  EXPECT_EQ(as_integer(floating(-0.0), "j"), 0);
  EXPECT_EQ(as_integer(floating(-3.0), "i"), -3);
  EXPECT_EQ(as_integer(floating(1.0), "b"), 1);
  EXPECT_EQ(as_integer(floating(0x1p63), "m"), Limits64::min()) << "2^63 as bits";
  EXPECT_EQ(as_integer(floating(-0x1p63), "l"), Limits64::min());
  for (const double value :
       {1.5, 0x1p31, -0x1p31 - 1, 1e300, -1e300, kInfinity, -kInfinity, kNaN, 0.1}) {
    EXPECT_EQ(as_integer(floating(value), "i"), std::nullopt) << value;
  }
  for (const double value : {0x1p64, -1.0, 0.5}) {
    EXPECT_EQ(as_integer(floating(value), "m"), std::nullopt) << value;
  }
  EXPECT_EQ(as_integer(floating(0x1p63), "l"), std::nullopt);
  EXPECT_EQ(as_integer(floating(2.0), "b"), std::nullopt);
}

TEST(NumberConversion, FloatingIsRounded) {
  EXPECT_EQ(as_floating(floating(0.1), kDouble), 0.1);
  EXPECT_EQ(as_floating(floating(0.1), kFloat), static_cast<double>(0.1f));
  EXPECT_EQ(as_floating(floating(0.1), kHalf), static_cast<double>(from_f16(to_f16(0.1))));
  EXPECT_EQ(as_floating(floating(0.1), kBrain), static_cast<double>(from_bf16(to_bf16(0.1))));
  EXPECT_EQ(as_floating(floating(1.1), kE4M3), 1.125);
  EXPECT_EQ(as_floating(floating(1.1), kE5M2), 1.0);
  EXPECT_EQ(as_floating(floating(0.3), kScale), 0.25);
  EXPECT_EQ(as_floating(floating(1e-300), kFloat), 0.0);
}

TEST(NumberConversion, FloatingMustStayFinite) {
  struct Row {
    const char* mangled;
    double most;      // the largest that rounds to a finite value, or nearly so
    double too_much;  // the smallest that does not
  };
  for (const Row& row : {Row{kFloat, std::nextafter(0x1.ffffffp127, 0), 0x1.ffffffp127},
                         Row{kHalf, 65519.9, 65520.0}, Row{kBrain, 0x1.fefffffp127, 0x1.ffp127},
                         Row{kE5M2, 61439.0, 61440.0}, Row{kE4M3, 463.0, 465.0}}) {
    SCOPED_TRACE(row.mangled);
    for (const double sign : {1.0, -1.0}) {
      const auto rounded = as_floating(floating(sign * row.most), row.mangled);
      ASSERT_TRUE(rounded.has_value());
      EXPECT_TRUE(std::isfinite(*rounded));
      EXPECT_EQ(as_floating(floating(sign * row.too_much), row.mangled), std::nullopt);
      EXPECT_EQ(as_floating(floating(sign * 1e300), row.mangled), std::nullopt);
    }
  }
  EXPECT_EQ(as_floating(floating(-1), kScale), std::nullopt) << "has no sign";
  EXPECT_EQ(as_floating(floating(0), kScale), std::nullopt) << "has no zero";
}

TEST(NumberConversion, InfinityAndNaNPassWhereTheyExist) {
  for (const char* mangled : {kDouble, kFloat, kHalf, kBrain, kE5M2}) {
    EXPECT_EQ(as_floating(floating(kInfinity), mangled), kInfinity) << mangled;
    EXPECT_EQ(as_floating(floating(-kInfinity), mangled), -kInfinity) << mangled;
    EXPECT_TRUE(std::isnan(as_floating(floating(kNaN), mangled).value_or(0))) << mangled;
  }
  EXPECT_EQ(as_floating(floating(kInfinity), kE4M3), std::nullopt);
  EXPECT_TRUE(std::isnan(as_floating(floating(kNaN), kE4M3).value_or(0)));
}

TEST(NumberConversion, IntegersForFloatingHaveToBeExact) {
  struct Row {
    const char* mangled;
    std::int64_t most;  // all integers up to it are exact
  };
  for (const Row& row : {Row{kDouble, std::int64_t{1} << 53}, Row{kFloat, 1 << 24},
                         Row{kHalf, 2048}, Row{kBrain, 256}, Row{kE4M3, 16}, Row{kE5M2, 8}}) {
    SCOPED_TRACE(row.mangled);
    for (const std::int64_t sign : {1, -1}) {
      EXPECT_EQ(as_floating(integer(sign * row.most), row.mangled),
                static_cast<double>(sign * row.most));
      EXPECT_EQ(as_floating(integer(sign * (row.most + 1)), row.mangled), std::nullopt);
    }
    EXPECT_EQ(as_floating(boolean(true), row.mangled), 1.0);
    EXPECT_EQ(as_floating(natural(kMostU64), row.mangled), std::nullopt);
    EXPECT_EQ(as_floating(integer(Limits64::max()), row.mangled), std::nullopt);
  }
  EXPECT_EQ(as_floating(integer(Limits64::min()), kFloat), -0x1p63);
  EXPECT_EQ(as_floating(natural(std::uint64_t{1} << 63), kDouble), 0x1p63);
  EXPECT_EQ(as_floating(integer(70000), kHalf), std::nullopt) << "beyond the largest";
  EXPECT_EQ(as_floating(integer(65504), kHalf), 65504.0);
}

TEST(NumberConversion, OwnBits) {
  EXPECT_EQ(own_bits({NumberArgument::Sort::kFloating, 4, std::bit_cast<std::uint64_t>(1.5)}),
            std::bit_cast<std::uint32_t>(1.5f));
  EXPECT_EQ(own_bits(floating(1.5)), std::bit_cast<std::uint64_t>(1.5));
  EXPECT_EQ(own_bits(integer(-1)), kMostU64);
  EXPECT_EQ(own_bits(boolean(true)), 1u);
}

}  // namespace
}  // namespace einkorn::jit
