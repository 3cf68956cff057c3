// math.cuh on a device: the bounds it states, over a sweep, and what it says of the ends.

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/cuda/device_common.h"

namespace einkorn::device_common {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kU = 0x1p-24;

struct Ends {
  float in;
  float out;
};

/// One function: its exact value, the bound on its absolute error there, where that holds, and what
/// comes exactly.
struct Function {
  std::string name;
  std::function<double(double)> exact;
  std::function<double(double x, double y)> bound;
  double low;
  double high;
  bool any_exponent;  ///< arguments spread over all exponents, too
  std::vector<Ends> ends;
};

double relative(double units, double y) { return units * kU * std::abs(y); }

/// Logarithms: an absolute error of 4u around 1, a relative one elsewhere.
double near_one(double x, double y, double units) {
  return x > 0.5 && x < 2 ? 4 * kU : relative(units, y);
}

double negative_part(double x) { return x < 0 ? -x : 0; }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<Function> powers_and_roots() {
  return {
      {"Exp2",
       [](double x) { return std::exp2(x); },
       [](double, double y) { return relative(5, y); },
       -125.99,
       127.99,
       false,
       {{-kInf, 0}, {-0.0f, 1}, {0, 1}, {0x1p-140f, 1}, {kInf, kInf}, {128, kInf}, {-127, 0}}},
      {"Exp",
       [](double x) { return std::exp(x); },
       [](double x, double y) { return relative(5 + 1.5 * std::abs(x), y); },
       -87.3,
       88.7,
       false,
       {{-kInf, 0}, {-0.0f, 1}, {0, 1}, {kInf, kInf}, {88.73f, kInf}, {-87.35f, 0}}},
      {"Log2",
       [](double x) { return std::log2(x); },
       [](double x, double y) { return near_one(x, y, 4); },
       0.25,
       4,
       true,
       {{0, -kInf}, {-0.0f, -kInf}, {0x1p-130f, -kInf}, {-1, kNan}, {-kInf, kNan}, {kInf, kInf}}},
      {"Log",
       [](double x) { return std::log(x); },
       [](double x, double y) { return near_one(x, y, 6); },
       0.25,
       4,
       true,
       {{0, -kInf}, {-0.0f, -kInf}, {-1, kNan}, {kInf, kInf}}},
      {"Rsqrt",
       [](double x) { return 1 / std::sqrt(x); },
       [](double, double y) { return std::exp2(-22.9) * y; },
       0.25,
       4,
       true,
       {{0, kInf}, {-0.0f, -kInf}, {0x1p-130f, kInf}, {-1, kNan}, {-kInf, kNan}, {kInf, 0}}},
      {"Reciprocal",
       [](double x) { return 1 / x; },
       [](double, double y) { return relative(3, y); },
       0.25,
       4,
       true,
       {{0, kInf}, {-0.0f, -kInf}, {0x1p-130f, kInf}, {kInf, 0}, {-kInf, -0.0f}, {0x1.8p126f, 0}}},
  };
}

std::vector<Function> sigmoids() {
  return {
      {"Tanh",
       [](double x) { return std::tanh(x); },
       [](double, double y) { return std::exp2(-11) * std::abs(y); },
       -12,
       12,
       true,
       {{0, 0}, {-0.0f, -0.0f}, {kInf, 1}, {-kInf, -1}, {0x1p-140f, 0x1p-140f}}},
      {"Sigmoid",
       &sigmoid,
       [](double x, double y) { return relative(9 + 1.5 * negative_part(x), y); },
       -87.3,
       100,
       false,
       {{0, 0.5f}, {-0.0f, 0.5f}, {kInf, 1}, {-kInf, 0}, {200, 1}, {-87.35f, 0}, {-100, 0}}},
      {"Silu",
       [](double x) { return x * sigmoid(x); },
       [](double x, double y) { return relative(10 + 1.5 * negative_part(x), y); },
       -87.3,
       100,
       false,
       {{0, 0}, {-0.0f, -0.0f}, {kInf, kInf}, {-kInf, kNan}, {-87.35f, -0.0f}, {-100, -0.0f}}},
  };
}

std::vector<Function> functions() {
  std::vector<Function> all = powers_and_roots();
  for (const Function& function : sigmoids()) all.push_back(function);
  return all;
}

std::vector<float> sweep(const Function& function) {
  std::vector<float> in;
  constexpr int kSteps = 400000;
  for (int i = 0; i <= kSteps; ++i) {
    in.push_back(static_cast<float>(function.low + (function.high - function.low) * i / kSteps));
  }
  std::mt19937 rng(17);  // NOLINT(bugprone-random-generator-seed): the same every time
  // Small arguments of either sign, which an even sweep does not have.
  for (int i = 0; i < 100000; ++i) {
    const float x =
        std::ldexp(1.0f + static_cast<float>(rng()) * 0x1p-32f, -static_cast<int>(i % 60));
    in.push_back(i % 2 == 0 || function.low >= 0 ? x : -x);
  }
  // Exponents whose reciprocals are normal as well.
  for (int i = 0; function.any_exponent && i < 200000; ++i) {
    in.push_back(std::bit_cast<float>((2u + static_cast<std::uint32_t>(i) % 250u) << 23 |
                                      (static_cast<std::uint32_t>(rng()) & 0x7fffffu)));
  }
  return in;
}

class DeviceMath : public DeviceCommon {
 protected:
  static std::string kernel_of(const Function& function) {
    return fmt::format("device_test::apply<device_test::Function::k{}>", function.name);
  }
  static Kernels all_kernels() {
    Expressions expressions;
    for (const Function& function : functions()) expressions.push_back(kernel_of(function));
    return Kernels(expressions);
  }
  static std::vector<float> apply(const Kernels& kernels, const Function& function,
                                  const std::vector<float>& in) {
    const Tensor out = room<float>(in.size());
    run_over(kernels[kernel_of(function)], in.size(), upload(in), out, static_cast<int>(in.size()));
    return download<float>(out);
  }
};

TEST_F(DeviceMath, ErrorsStayWithinTheBounds) {
  const Kernels kernels = all_kernels();
  for (const Function& function : functions()) {
    const std::vector<float> in = sweep(function);
    const std::vector<float> out = apply(kernels, function, in);
    double worst = 0;  // share of the bound
    float where = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto x = static_cast<double>(in[i]);
      const double y = function.exact(x);
      const double error = std::abs(static_cast<double>(out[i]) - y);
      const double bound = function.bound(x, y);
      const double share = error == 0 ? 0 : error / bound;
      if (!(share <= worst)) {
        worst = share;
        where = in[i];
      }
    }
    EXPECT_LE(worst, 1) << fmt::format("{} at {:a}", function.name, where);
    RecordProperty(function.name + "_share_of_bound", fmt::format("{:.3f}", worst));
  }
}

TEST_F(DeviceMath, EndsAreAsSaid) {
  const Kernels kernels = all_kernels();
  for (const Function& function : functions()) {
    std::vector<float> in = {kNan, -kNan};
    for (const Ends& end : function.ends) in.push_back(end.in);
    const std::vector<float> out = apply(kernels, function, in);
    EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[1])) << function.name;
    for (std::size_t i = 0; i < function.ends.size(); ++i) {
      const Ends& end = function.ends[i];
      const float got = out[i + 2];
      const bool same = std::isnan(end.out) ? std::isnan(got)
                                            : std::bit_cast<std::uint32_t>(got) ==
                                                  std::bit_cast<std::uint32_t>(end.out);
      EXPECT_TRUE(same) << fmt::format("{}({}): expected {}, got {}", function.name, end.in,
                                       end.out, got);
    }
  }
}

}  // namespace
}  // namespace einkorn::device_common
