#include "src/core/float.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace einkorn {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

struct Named {
  const char* name;
  SmallFloat format;
};
constexpr std::array<Named, 5> kFormats = {{{"bf16", kBF16Format},
                                            {"f16", kF16Format},
                                            {"f8e4m3", kF8E4M3Format},
                                            {"f8e5m2", kF8E5M2Format},
                                            {"f4e2m1", kF4E2M1Format}}};

/// A finite pattern's value by its definition.
double by_definition(const SmallFloat& format, std::uint32_t magnitude) {
  const int field = static_cast<int>(magnitude >> format.mantissa_bits);
  const double fraction =
      std::ldexp(magnitude & ((1U << format.mantissa_bits) - 1U), -format.mantissa_bits);
  return field == 0 ? std::ldexp(fraction, 1 - format.bias())
                    : std::ldexp(1 + fraction, field - format.bias());
}

TEST(SmallFloat, EveryFinitePatternDecodesByDefinitionAndEncodesBack) {
  for (const auto& [name, format] : kFormats) {
    const std::uint32_t sign = 1U << format.sign_shift();
    for (std::uint32_t pattern = 0; pattern <= format.max_finite; ++pattern) {
      const double value = by_definition(format, pattern);
      ASSERT_EQ(decode(format, pattern), value) << name << " " << pattern;
      ASSERT_EQ(decode(format, pattern | sign), -value) << name << " " << pattern;
      ASSERT_TRUE(std::signbit(decode(format, pattern | sign))) << name << " " << pattern;
      ASSERT_EQ(encode(format, value), pattern) << name;
      ASSERT_EQ(encode(format, -value), pattern | sign) << name;
    }
  }
}

TEST(SmallFloat, EveryGapRoundsToNearestAndItsMiddleToEven) {
  for (const auto& [name, format] : kFormats) {
    for (std::uint32_t low = 0; low < format.max_finite; ++low) {
      const double middle = (decode(format, low) + decode(format, low + 1)) / 2;
      ASSERT_EQ(encode(format, middle), low + (low & 1)) << name << " " << low;
      ASSERT_EQ(encode(format, std::nextafter(middle, 0)), low) << name << " " << low;
      ASSERT_EQ(encode(format, std::nextafter(middle, kInf)), low + 1) << name << " " << low;
    }
  }
}

TEST(SmallFloat, OverflowStartsHalfAStepBeyondTheLargest) {
  for (const auto& [name, format] : kFormats) {
    const double largest = decode(format, format.max_finite);
    const double step = largest - decode(format, format.max_finite - 1);
    const double limit = largest + step / 2;
    EXPECT_EQ(encode(format, std::nextafter(limit, 0)), format.max_finite) << name;
    // The middle goes to the even one of the largest and what would follow it.
    const std::uint32_t middle = format.max_finite % 2 == 0 ? format.max_finite : format.infinity;
    EXPECT_EQ(encode(format, limit), middle) << name;
    for (double beyond : {std::nextafter(limit, kInf), 1e300, kInf}) {
      EXPECT_EQ(encode(format, beyond), format.infinity) << name << " " << beyond;
      EXPECT_EQ(encode(format, beyond, OnOverflow::kSaturate), format.max_finite) << name;
    }
  }
}

TEST(SmallFloat, KnownValues) {
  EXPECT_EQ(decode(kF8E4M3Format, kF8E4M3Format.max_finite), 448);
  EXPECT_EQ(decode(kF8E5M2Format, kF8E5M2Format.max_finite), 57344);
  EXPECT_EQ(decode(kF16Format, kF16Format.max_finite), 65504);
  EXPECT_EQ(decode(kF4E2M1Format, kF4E2M1Format.max_finite), 6);
  EXPECT_EQ(to_f16(1.0), 0x3c00);
  EXPECT_EQ(to_bf16(-2.0), 0xc000);
  EXPECT_EQ(to_f8e4m3(464.0), 0x7e) << "the middle of 448 and 480 is even at 448";
  EXPECT_EQ(to_f8e4m3(465.0), 0x7f) << "no infinity, so NaN";
  EXPECT_EQ(to_f8e4m3(465.0, OnOverflow::kSaturate), 0x7e);
  EXPECT_EQ(to_f8e5m2(1e9), 0x7c);
}

TEST(SmallFloat, NanStaysNanAndInfinityStaysInfinity) {
  for (const auto& [name, format] : kFormats) {
    EXPECT_EQ(encode(format, kNan) & ~(1U << format.sign_shift()), format.nan) << name;
    EXPECT_EQ(encode(format, -kInf), format.infinity | 1U << format.sign_shift()) << name;
    const std::uint32_t last = (1U << format.sign_shift()) - 1;
    for (std::uint32_t pattern = format.max_finite + 1; pattern <= last; ++pattern) {
      const bool infinite = pattern == format.infinity && format.infinity != format.nan;
      ASSERT_EQ(std::isinf(decode(format, pattern)), infinite) << name << " " << pattern;
      ASSERT_EQ(std::isnan(decode(format, pattern)), !infinite) << name << " " << pattern;
    }
  }
}

TEST(SmallFloat, AllHalfPatternsSurviveF32) {
  for (std::uint32_t pattern = 0; pattern < 65536; ++pattern) {
    const auto half = static_cast<std::uint16_t>(pattern);
    const float f16 = from_f16(half);
    const float bf16 = from_bf16(half);
    if (std::isnan(f16)) {
      ASSERT_TRUE(std::isnan(from_f16(to_f16(f16))));
    } else {
      ASSERT_EQ(to_f16(f16), half);
    }
    if (std::isnan(bf16)) {
      ASSERT_TRUE(std::isnan(from_bf16(to_bf16(bf16))));
    } else {
      ASSERT_EQ(to_bf16(bf16), half);
    }
  }
}

TEST(SmallFloat, RandomFloatsRoundAsIntegerArithmeticDoes) {
  // bf16 has f32's exponents: rounding on the integer pattern is an independent way to it.
  std::mt19937 rng(3);  // NOLINT(bugprone-random-generator-seed): the same every time
  for (int i = 0; i < 200000; ++i) {
    const auto pattern = static_cast<std::uint32_t>(rng());
    const float value = std::bit_cast<float>(pattern);
    if (std::isnan(value)) continue;
    const std::uint32_t expected = (pattern + 0x7fff + (pattern >> 16 & 1)) >> 16;
    ASSERT_EQ(to_bf16(value), expected) << value;
  }
}

TEST(SmallFloat, RoundsOnceFromDouble) {
  // Rounding to f32 first would move this onto the middle, and then to even, away from nearest.
  const double value = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(to_f16(value), 0x3c01);
  EXPECT_EQ(to_f16(static_cast<float>(value)), 0x3c00);
}

TEST(SmallFloat, TinyDoublesBecomeZero) {
  for (const auto& [name, format] : kFormats) {
    for (double tiny : {std::numeric_limits<double>::denorm_min(), 0x1p-1022, 1e-200}) {
      EXPECT_EQ(encode(format, tiny), 0U) << name;
      EXPECT_EQ(encode(format, -tiny), 1U << format.sign_shift()) << name;
    }
  }
}

TEST(E8M0, PowersOfTwo) {
  for (int pattern = 0; pattern < 255; ++pattern) {
    const auto byte = static_cast<std::uint8_t>(pattern);
    const double value = std::ldexp(1.0, pattern - 127);
    ASSERT_EQ(from_e8m0(byte), value);
    ASSERT_EQ(to_e8m0(value), byte);
    if (pattern == 254) continue;
    ASSERT_EQ(to_e8m0(value * 1.5), byte + 1);
    ASSERT_EQ(to_e8m0(std::nextafter(value * 1.5, 0)), byte);
  }
  EXPECT_TRUE(std::isnan(from_e8m0(0xff)));
  for (double bad : {kNan, 0.0, -1.0}) EXPECT_EQ(to_e8m0(bad), 0xff) << bad;
  EXPECT_EQ(to_e8m0(1e-300), 0);
  EXPECT_EQ(to_e8m0(std::numeric_limits<double>::denorm_min()), 0);
  EXPECT_EQ(to_e8m0(kInf), 254);
}

TEST(Elements, EveryDTypeStoresAndLoads) {
  for (DType dtype : all_dtypes()) {
    const Tensor tensor = Tensor::empty({8}, dtype, kCpuDevice);
    const bool is_signed = dtype != kU8 && dtype != kU4 && dtype != kBool && dtype != kE8M0;
    const std::vector<double> values = {1, is_signed ? -1.0 : 1.0, 1, dtype == kBool ? 1.0 : 2.0};
    for (std::size_t i = 0; i < values.size(); ++i) {
      store_from_double(tensor, static_cast<std::int64_t>(i), values[i]);
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(load_as_double(tensor, static_cast<std::int64_t>(i)), values[i]) << name(dtype);
    }
  }
}

TEST(Elements, IntegersRoundToEvenAndSaturate) {
  const auto through = [](DType dtype, double value) {
    const Tensor tensor = Tensor::empty({1}, dtype, kCpuDevice);
    store_from_double(tensor, 0, value);
    return load_as_double(tensor, 0);
  };
  EXPECT_EQ(through(kI32, 2.5), 2);
  EXPECT_EQ(through(kI32, 3.5), 4);
  EXPECT_EQ(through(kI32, -2.5), -2);
  EXPECT_EQ(through(kI8, 300), 127);
  EXPECT_EQ(through(kI8, -300), -128);
  EXPECT_EQ(through(kU8, -5), 0);
  EXPECT_EQ(through(kI4, 9), 7);
  EXPECT_EQ(through(kI4, -9), -8);
  EXPECT_EQ(through(kU4, 99), 15);
  EXPECT_EQ(through(kI64, 1e30), 0x1p63);
  EXPECT_EQ(through(kI64, -1e30), -0x1p63);
  EXPECT_EQ(through(kI64, 0x1p52 + 1), 0x1p52 + 1);
  EXPECT_EQ(through(kI32, kNan), 0);
  EXPECT_EQ(through(kI32, kInf), 2147483647);
  EXPECT_EQ(through(kBool, 0.25), 1);
  EXPECT_EQ(through(kBool, 0), 0);
  EXPECT_EQ(through(kF32, 0.1), static_cast<double>(0.1F));
  EXPECT_TRUE(std::isnan(through(kBF16, kNan)));
  EXPECT_EQ(through(kF16, 1e9), kInf);
}

TEST(Elements, NibblesDoNotTouchTheirNeighbours) {
  Tensor tensor = Tensor::empty({6}, kU4, kCpuDevice);
  tensor.fill_bytes(0xa5);
  store_from_double(tensor, 2, 3);
  store_from_double(tensor, 5, 7);
  const std::vector<double> expected = {5, 10, 3, 10, 5, 7};
  for (std::int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(load_as_double(tensor, i), expected[static_cast<std::size_t>(i)]) << i;
  }
  EXPECT_EQ(tensor.view().data_as<std::uint8_t>()[1], 0xa3) << "low half first";
  const TensorView last(tensor.view().data_as<std::uint8_t>() + 2, kU4, {1}, kCpuDevice);
  EXPECT_EQ(load_as_double(last, -1), 10) << "negative strides";
}

TEST(Elements, DeviceMemoryIsRefused) {
  char byte = 0;
  const TensorView view(&byte, kU8, {1}, cuda_device(0));
  EXPECT_THROW(load_as_double(view, 0), Error);
  EXPECT_THROW(store_from_double(view, 0, 1), Error);
  EXPECT_EQ(byte, 0);
}

}  // namespace
}  // namespace einkorn
