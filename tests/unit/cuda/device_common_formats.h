#pragma once

// Small floats as the host has them (src/core/float.h, which has its own tests), to hold the
// device's against.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "src/core/float.h"

namespace einkorn::device_common {

struct Format {
  std::string device;  ///< the type's name in kernels
  SmallFloat format;
  OnOverflow on_overflow;
  std::uint32_t nan;  ///< what a NaN becomes; 0: any code that is a NaN
};

inline const std::vector<Format>& formats() {
  static const std::vector<Format> kAll = {
      {"einkorn::f16", kF16Format, OnOverflow::kInfinity, 0},
      {"einkorn::bf16", kBF16Format, OnOverflow::kInfinity, 0},
      {"einkorn::f8e4m3", kF8E4M3Format, OnOverflow::kSaturate, 0x7f},
      {"einkorn::f8e5m2", kF8E5M2Format, OnOverflow::kSaturate, 0x7f},
  };
  return kAll;
}

inline bool is_nan_code(const SmallFloat& format, std::uint32_t code) {
  return std::isnan(decode(format, code));
}

inline void expect_code(const Format& of, float value, std::uint32_t got) {
  if (std::isnan(value)) {
    ASSERT_TRUE(is_nan_code(of.format, got) && (of.nan == 0 || got == of.nan))
        << of.device << ": NaN becomes " << got;
    return;
  }
  ASSERT_EQ(got, encode(of.format, static_cast<double>(value), of.on_overflow))
      << fmt::format("{}: {:a}", of.device, value);
}

inline void expect_value(const SmallFloat& format, std::uint32_t code, float got) {
  const double expected = decode(format, code);
  if (std::isnan(expected)) {
    ASSERT_TRUE(std::isnan(got)) << code;
    return;
  }
  ASSERT_EQ(std::bit_cast<std::uint32_t>(got),
            std::bit_cast<std::uint32_t>(static_cast<float>(expected)))
      << code;
}

/// Every value of the format, the middle of every gap with its neighbours, both sides of overflow
/// and underflow, NaN of several patterns, and random patterns; an even number of them.
inline std::vector<float> interesting_floats(const SmallFloat& format) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> values;
  const auto add = [&](float value) {
    values.push_back(value);
    values.push_back(-value);
  };
  const auto add_around = [&](float value) {
    add(value);
    add(std::nextafter(value, 0.0f));
    add(std::nextafter(value, kInf));
  };
  for (std::uint32_t code = 0; code <= format.max_finite; ++code) {
    const double low = decode(format, code);
    // Beyond the largest value the grid goes on for one more step.
    const double step = decode(format, format.max_finite) - decode(format, format.max_finite - 1);
    const double high = code < format.max_finite ? decode(format, code + 1) : low + step;
    add_around(static_cast<float>(low));
    add_around(static_cast<float>(low + (high - low) / 2));
  }
  add(kInf);
  add(std::numeric_limits<float>::max());
  add(std::numeric_limits<float>::denorm_min());
  add(0x1p-126f);
  for (std::uint32_t pattern : {0x7fc00000u, 0x7f800001u, 0x7fffffffu, 0x7fabcdefu}) {
    add(std::bit_cast<float>(pattern));
  }
  std::mt19937 rng(11);  // NOLINT(bugprone-random-generator-seed): the same every time
  for (int i = 0; i < 1 << 16; ++i) {
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(rng())));
  }
  // Patterns of any exponent seldom hit a small format's range.
  std::normal_distribution<float> normal(0.0f, 1.0f);
  for (int i = 0; i < 1 << 16; ++i) {
    values.push_back(std::ldexp(normal(rng), static_cast<int>(rng() % 40) - 20));
  }
  return values;
}

}  // namespace einkorn::device_common
