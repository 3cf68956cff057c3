// mma.cuh on a device: the documented layouts, and products against a reference in double.

#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "src/core/float.h"
#include "tests/unit/cuda/device_common.h"

namespace einkorn::device_common {
namespace {

constexpr std::size_t kM = 16;
constexpr std::size_t kN = 8;
constexpr std::size_t kK = 16;

/// Operands by rows, as values and as codes.
struct Operand {
  std::vector<double> values;
  std::vector<std::uint16_t> codes;

  void push_back(double value, bool wide) {
    codes.push_back(wide ? to_bf16(value) : to_f16(value));
    values.push_back(decode(wide ? kBF16Format : kF16Format, codes.back()));
  }
};

class DeviceMma : public DeviceCommon {
 protected:
  static std::string kernel_of(bool wide, const std::string& from) {
    return fmt::format("device_test::multiply<einkorn::{}, device_test::From::k{}>",
                       wide ? "bf16" : "f16", from);
  }

  /// The codes of b by columns.
  static std::vector<std::uint16_t> transposed(const std::vector<std::uint16_t>& b) {
    std::vector<std::uint16_t> out;
    for (std::size_t n = 0; n < kN; ++n) {
      for (std::size_t k = 0; k < kK; ++k) out.push_back(b[k * kN + n]);
    }
    return out;
  }

  /// `roundings` counts the ulps of f32, of the sum of magnitudes, that a result may be off.
  static void check(const cuda::Kernel& kernel, const Operand& a, const Operand& b, bool by_columns,
                    const std::vector<float>& start, double roundings) {
    const Tensor d = upload(start);
    run(kernel, 1, 32, upload(a.codes), upload(by_columns ? transposed(b.codes) : b.codes), d);
    const std::vector<float> got = download<float>(d);
    for (std::size_t m = 0; m < kM; ++m) {
      for (std::size_t n = 0; n < kN; ++n) {
        auto sum = static_cast<double>(start[m * kN + n]);
        double magnitude = std::abs(sum);
        for (std::size_t k = 0; k < kK; ++k) {
          const double product = a.values[m * kK + k] * b.values[k * kN + n];
          sum += product;
          magnitude += std::abs(product);
        }
        ASSERT_NEAR(static_cast<double>(got[m * kN + n]), sum, roundings * 0x1p-23 * magnitude)
            << "row " << m << ", column " << n;
      }
    }
  }
};

TEST_F(DeviceMma, ProductsOfBothTypesFromEveryWayToLoad) {
  Expressions expressions;
  const char* ways[] = {"Layout", "Rows", "Columns", "Pieces"};
  for (bool wide : {false, true}) {
    for (const char* way : ways) expressions.push_back(kernel_of(wide, way));
  }
  const Kernels kernels(expressions);
  std::mt19937 rng(23);  // NOLINT(bugprone-random-generator-seed): the same every time
  std::uniform_int_distribution<int> whole(-8, 8);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 20; ++round) {
    const bool exact = round % 2 == 0;  // small integers leave nothing to round
    const auto draw = [&] { return exact ? static_cast<double>(whole(rng)) : normal(rng); };
    for (bool wide : {false, true}) {
      Operand a;
      Operand b;
      std::vector<float> start(kM * kN);
      for (std::size_t i = 0; i < kM * kK; ++i) a.push_back(draw(), wide);
      for (std::size_t i = 0; i < kK * kN; ++i) b.push_back(draw(), wide);
      for (float& value : start) value = static_cast<float>(draw());
      for (const char* way : ways) {
        SCOPED_TRACE(kernel_of(wide, way));
        check(kernels[kernel_of(wide, way)], a, b, way == std::string("Columns"), start,
              exact ? 0 : kK);
      }
    }
  }
}

// An operand with a single 1 shows where each element goes: no permutation of k hides.
TEST_F(DeviceMma, EachElementHasItsPlace) {
  const Kernels kernels({kernel_of(false, "Rows"), kernel_of(false, "Layout")});
  Operand b;
  for (std::size_t i = 0; i < kK * kN; ++i) b.push_back(static_cast<double>(i), false);
  for (std::size_t place = 0; place < kM * kK; ++place) {
    Operand a;
    for (std::size_t i = 0; i < kM * kK; ++i) a.push_back(i == place ? 1 : 0, false);
    for (const char* way : {"Rows", "Layout"}) {
      ASSERT_NO_FATAL_FAILURE(
          check(kernels[kernel_of(false, way)], a, b, false, std::vector<float>(kM * kN, 0.0f), 0));
    }
  }
}

TEST_F(DeviceMma, LdmatrixHandsOutRowsAndColumns) {
  Expressions expressions;
  for (int count : {1, 2, 4}) {
    for (const char* transposed : {"false", "true"}) {
      expressions.push_back(fmt::format("device_test::load_matrices<{}, {}>", count, transposed));
    }
  }
  const Kernels kernels(expressions);
  std::vector<std::uint16_t> rows(32 * 8);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint16_t>(3 * i + 1);
  const auto at = [&](std::size_t matrix, std::size_t row, std::size_t column) {
    return std::uint32_t{rows[(8 * matrix + row) * 8 + column]};
  };
  for (std::size_t count : {1u, 2u, 4u}) {
    for (bool transposed : {false, true}) {
      const Tensor out = room<std::uint32_t>(count * 32);
      run(kernels[fmt::format("device_test::load_matrices<{}, {}>", count, transposed)], 1, 32,
          upload(rows), out);
      const std::vector<std::uint32_t> got = download<std::uint32_t>(out);
      for (std::size_t i = 0; i < got.size(); ++i) {
        const std::size_t matrix = i / 32;
        const std::size_t g = i % 32 / 4;
        const std::size_t t = i % 4;
        const std::uint32_t low = transposed ? at(matrix, 2 * t, g) : at(matrix, g, 2 * t);
        const std::uint32_t high = transposed ? at(matrix, 2 * t + 1, g) : at(matrix, g, 2 * t + 1);
        ASSERT_EQ(got[i], low | high << 16) << "x" << count << ", lane " << i % 32;
      }
    }
  }
}

}  // namespace
}  // namespace einkorn::device_common
