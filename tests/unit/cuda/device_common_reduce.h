#pragma once

// What the tests of reduce.cuh share: the expectation, and running a reduction on a device.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/cuda/device_common.h"

namespace einkorn::device_common {

/// The host's idea of an operation, in T.
template <class T>
T combine(const std::string& op, T a, T b) {
  if (op == "Sum") {
    // Integers wrap.
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    } else {
      return a + b;
    }
  }
  return op.starts_with("Max") ? std::max(a, b) : std::min(a, b);
}

template <class T>
const char* device_name();
template <>
inline const char* device_name<float>() {
  return "float";
}
template <>
inline const char* device_name<double>() {
  return "double";
}
template <>
inline const char* device_name<std::int32_t>() {
  return "int";
}
template <>
inline const char* device_name<std::uint32_t>() {
  return "einkorn::u32";
}
template <>
inline const char* device_name<std::int64_t>() {
  return "einkorn::i64";
}
template <>
inline const char* device_name<std::uint64_t>() {
  return "einkorn::u64";
}

/// Integers of any value; floats in [-1, 1).
template <class T>
std::vector<T> random_values(std::size_t count, unsigned seed) {
  std::mt19937_64 rng(seed);
  std::vector<T> values(count);
  for (T& value : values) {
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(rng());
    } else {
      value = static_cast<T>(static_cast<double>(rng() >> 11) * 0x1p-52 - 1);
    }
  }
  return values;
}

/// By which floats are equal only when they are the same.
template <class T>
auto bits_of(T value) {
  return std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(value);
}

/// `got` for every member of a group: the same bits, and right. The sum of floats may be off by the
/// rounding of a chain of at most 40 additions: 5 in a warp, 31 of warps.
template <class T>
void expect_group(const std::string& op, std::span<const T> in, std::span<const T> got) {
  for (const T& value : got) ASSERT_EQ(bits_of(value), bits_of(got[0])) << "threads differ";
  if (std::is_floating_point_v<T> && op == "Sum") {
    double sum = 0;
    double magnitude = 0;
    for (const T& value : in) {
      sum += static_cast<double>(value);
      magnitude += std::abs(static_cast<double>(value));
    }
    ASSERT_NEAR(static_cast<double>(got[0]), sum, 40 * 0x1p-24 * magnitude);
    return;
  }
  T expected = in[0];
  for (const T& value : in.subspan(1)) expected = combine(op, expected, value);
  ASSERT_EQ(got[0], expected);
}

class DeviceReduce : public DeviceCommon {
 protected:
  static std::string warp_kernel(const std::string& op, const std::string& type, int lanes) {
    return fmt::format("device_test::reduce_warps<einkorn::{}, {}, {}>", op, type, lanes);
  }
  static std::string block_kernel(const std::string& op, const std::string& type, int threads) {
    return fmt::format("device_test::reduce_blocks<einkorn::{}, {}, {}>", op, type, threads);
  }

  template <class T>
  static void check_warps(const Kernels& kernels, const std::string& op, const std::vector<T>& in) {
    for (int lanes = 1; lanes <= 32; lanes *= 2) {
      SCOPED_TRACE(warp_kernel(op, device_name<T>(), lanes));
      const Tensor out = room<T>(in.size());
      run_over(kernels[warp_kernel(op, device_name<T>(), lanes)], in.size(), upload(in), out);
      const std::vector<T> got = download<T>(out);
      const auto group = static_cast<std::size_t>(lanes);
      for (std::size_t at = 0; at < in.size(); at += group) {
        expect_group(op, std::span(in).subspan(at, group), std::span(got).subspan(at, group));
      }
    }
  }

  /// Both reductions of each of `blocks` blocks.
  template <class T>
  static void check_blocks(const Kernels& kernels, const std::string& op, int threads,
                           const std::vector<T>& in) {
    SCOPED_TRACE(block_kernel(op, device_name<T>(), threads));
    const auto group = static_cast<std::size_t>(threads);
    const auto blocks = static_cast<std::uint32_t>(in.size() / group / 2);
    const Tensor device_in = upload(in);
    std::vector<T> first;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const Tensor out = room<T>(in.size());
      run(kernels[block_kernel(op, device_name<T>(), threads)], blocks,
          static_cast<std::uint32_t>(threads), device_in, out);
      const std::vector<T> got = download<T>(out);
      for (std::size_t at = 0; at < in.size(); at += group) {
        expect_group(op, std::span(in).subspan(at, group), std::span(got).subspan(at, group));
      }
      if (repeat == 0) first = got;
      ASSERT_EQ(std::memcmp(got.data(), first.data(), got.size() * sizeof(T)), 0) << "not the same";
    }
  }
};

}  // namespace einkorn::device_common
