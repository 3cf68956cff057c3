// reduce.cuh on a device: identities, extreme values, NaN and signed zeros.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/cuda/device_common_reduce.h"

namespace einkorn::device_common {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class DeviceReduceEnds : public DeviceReduce {};

// A reduction that slips in a zero, or any other value that is no identity, fails these.
TEST_F(DeviceReduceEnds, NegativeMaximaAndPositiveMinima) {
  constexpr int kSizes[] = {32, 48, 96, 100, 512, 1000, 1024};
  Expressions expressions;
  for (int threads : kSizes) {
    for (const char* type : {"float", "int"}) {
      expressions.push_back(block_kernel("Max", type, threads));
      expressions.push_back(block_kernel("Min", type, threads));
    }
  }
  const Kernels kernels(expressions);
  for (int threads : kSizes) {
    std::vector<float> floats = random_values<float>(static_cast<std::size_t>(threads) * 2, 3);
    std::vector<int> ints(floats.size());
    for (float& value : floats) value = -1e30f - 1e30f * std::abs(value);
    std::ranges::transform(floats, ints.begin(),
                           [](float x) { return static_cast<int>(x * 1e-22f); });
    check_blocks(kernels, "Max", threads, floats);
    check_blocks(kernels, "Max", threads, ints);
    for (float& value : floats) value = -value;
    for (int& value : ints) value = -value;
    check_blocks(kernels, "Min", threads, floats);
    check_blocks(kernels, "Min", threads, ints);
  }
}

TEST_F(DeviceReduceEnds, ExtremesOfTheTypesSurvive) {
  const Kernels kernels({block_kernel("Max", "int", 48), block_kernel("Min", "int", 48),
                         block_kernel("Max", "float", 48), block_kernel("Min", "float", 48)});
  using Int = std::numeric_limits<int>;
  check_blocks(kernels, "Max", 48, std::vector<int>(96, Int::min()));
  check_blocks(kernels, "Min", 48, std::vector<int>(96, Int::max()));
  check_blocks(kernels, "Max", 48, std::vector<float>(96, -kInf));
  check_blocks(kernels, "Min", 48, std::vector<float>(96, kInf));
}

TEST_F(DeviceReduceEnds, Identities) {
  Expressions expressions;
  const auto name = [](const char* op, const char* type) {
    return fmt::format("device_test::identity_of<einkorn::{}, {}>", op, type);
  };
  for (const char* op : {"Sum", "Max", "Min"}) {
    for (const char* type :
         {"float", "double", "int", "einkorn::u32", "einkorn::i64", "einkorn::u64"}) {
      expressions.push_back(name(op, type));
    }
  }
  expressions.push_back(name("MaxNan", "float"));
  expressions.push_back(name("MinNan", "float"));
  const Kernels kernels(expressions);
  const auto expect = [&]<class T>(const char* op, T expected) {
    const Tensor out = room<T>(1);
    run(kernels[name(op, device_name<T>())], 1, 1, out);
    EXPECT_EQ(download<T>(out)[0], expected) << name(op, device_name<T>());
  };
  const auto expect_integer = [&]<class T>(T) {
    expect("Sum", T{0});
    expect("Max", std::numeric_limits<T>::min());
    expect("Min", std::numeric_limits<T>::max());
  };
  expect_integer(std::int32_t{});
  expect_integer(std::uint32_t{});
  expect_integer(std::int64_t{});
  expect_integer(std::uint64_t{});
  expect("Sum", 0.0f);
  expect("Sum", 0.0);
  expect("Max", -std::numeric_limits<double>::infinity());
  expect("Min", std::numeric_limits<double>::infinity());
  for (const char* op : {"Max", "MaxNan"}) expect(op, -kInf);
  for (const char* op : {"Min", "MinNan"}) expect(op, kInf);
}

TEST_F(DeviceReduceEnds, NanIsMissingOrCatchesOn) {
  Expressions expressions;
  for (const char* op : {"Max", "Min", "MaxNan", "MinNan"}) {
    for (int threads : {48, 96, 512}) expressions.push_back(block_kernel(op, "float", threads));
  }
  const Kernels kernels(expressions);
  const auto result = [&](const char* op, int threads, const std::vector<float>& in) {
    const Tensor out = room<float>(in.size());
    run(kernels[block_kernel(op, "float", threads)], 1, static_cast<std::uint32_t>(threads),
        upload(in), out);
    return download<float>(out)[0];
  };
  for (int threads : {48, 96, 512}) {
    SCOPED_TRACE(threads);
    const auto size = static_cast<std::size_t>(threads);
    std::vector<float> in = random_values<float>(2 * size, 4);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = i % 3 == 0 ? kNan : in[i] - 2;
    const auto before = [](float a, float b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
    const auto last = in.begin() + threads;
    const float smallest = *std::min_element(in.begin(), last, before);
    const auto numbers_end = std::partition(in.begin(), last, [](float x) { return x == x; });
    const float largest = *std::max_element(in.begin(), numbers_end);
    std::shuffle(in.begin(), last, std::mt19937(5));  // NOLINT(bugprone-random-generator-seed)
    EXPECT_EQ(result("Max", threads, in), largest);
    EXPECT_EQ(result("Min", threads, in), smallest);
    for (const char* op : {"MaxNan", "MinNan"}) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(result(op, threads, in)), 0x7fffffffu) << op;
    }
    const std::vector<float> nothing(2 * size, kNan);
    for (const char* op : {"Max", "Min", "MaxNan", "MinNan"}) {
      EXPECT_TRUE(std::isnan(result(op, threads, nothing))) << op;
    }
    std::vector<float> numbers(2 * size, -3.0f);
    numbers[size / 2] = -1.0f;
    EXPECT_EQ(result("MaxNan", threads, numbers), -1.0f);
    numbers[size / 2] = -5.0f;
    EXPECT_EQ(result("MinNan", threads, numbers), -5.0f);
  }
}

TEST_F(DeviceReduceEnds, PlusZeroIsAboveMinusZero) {
  const Kernels kernels({block_kernel("Max", "float", 96), block_kernel("Min", "float", 96)});
  for (const bool one_positive : {true, false}) {
    std::vector<float> in(192, one_positive ? -0.0f : 0.0f);
    in[40] = one_positive ? 0.0f : -0.0f;
    const Tensor out = room<float>(192);
    run(kernels[block_kernel(one_positive ? "Max" : "Min", "float", 96)], 1, 96, upload(in), out);
    EXPECT_EQ(std::signbit(download<float>(out)[0]), !one_positive);
  }
}

}  // namespace
}  // namespace einkorn::device_common
