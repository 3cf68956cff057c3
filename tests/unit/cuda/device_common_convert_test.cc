// types.cuh, fp8.cuh and fp8_bits.cuh against the conversions of the host (src/core/float.h), which
// have their own tests.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "src/core/float.h"
#include "tests/unit/cuda/device_common.h"
#include "tests/unit/cuda/device_common_formats.h"

// The integer arithmetic runs on the host as well. NOLINTNEXTLINE: the toolkit's name
#define __device__
#include "src/cuda/device/common/fp8_bits.cuh"
#undef __device__

namespace einkorn::device_common {
namespace {

TEST(Fp8Bits, EncodesAsTheHostsFormats) {
  const auto check = [](float value) {
    ASSERT_NO_FATAL_FAILURE(expect_code(formats()[2], value, encode_fp8<3>(value)));
    ASSERT_NO_FATAL_FAILURE(expect_code(formats()[3], value, encode_fp8<2>(value)));
  };
  for (const SmallFloat& format : {kF8E4M3Format, kF8E5M2Format}) {
    for (float value : interesting_floats(format)) ASSERT_NO_FATAL_FAILURE(check(value));
  }
  // All exponents and signs, and every 4099th mantissa.
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 4099) {
    ASSERT_NO_FATAL_FAILURE(check(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
  }
}

TEST(Fp8Bits, DecodesAsTheHostsFormats) {
  for (std::uint32_t code = 0; code < 256; ++code) {
    const auto byte = static_cast<std::uint8_t>(code);
    expect_value(kF8E4M3Format, code, decode_fp8<3>(byte));
    expect_value(kF8E5M2Format, code, decode_fp8<2>(byte));
  }
}

class DeviceConvert : public DeviceCommon {};

TEST_F(DeviceConvert, FloatsRoundToEveryFormat) {
  Expressions expressions;
  for (const Format& of : formats()) {
    expressions.push_back(fmt::format("device_test::encode<{}>", of.device));
  }
  const Kernels kernels(expressions);
  for (const Format& of : formats()) {
    std::vector<float> in = interesting_floats(of.format);
    if (in.size() % 2 != 0) in.push_back(0);
    const std::size_t pairs = in.size() / 2;
    const Tensor single = room<std::uint32_t>(in.size());
    const Tensor paired = room<std::uint32_t>(pairs);
    run_over(kernels[fmt::format("device_test::encode<{}>", of.device)], pairs, upload(in), single,
             paired, static_cast<int>(pairs));
    const std::vector<std::uint32_t> codes = download<std::uint32_t>(single);
    const std::vector<std::uint32_t> packed = download<std::uint32_t>(paired);
    const int bits = of.format.sign_shift() + 1;
    for (std::size_t i = 0; i < in.size(); ++i) {
      ASSERT_NO_FATAL_FAILURE(expect_code(of, in[i], codes[i]));
      // NaN included: one instruction does both.
      const std::uint32_t half = packed[i / 2] >> (i % 2 == 0 ? 0 : bits);
      ASSERT_EQ(half & ((1u << bits) - 1), codes[i]) << of.device << ": " << in[i];
      ASSERT_EQ(std::uint64_t{packed[i / 2]} >> (2 * bits), 0u) << of.device;
    }
  }
}

TEST_F(DeviceConvert, EveryCodeDecodes) {
  Expressions expressions;
  for (const Format& of : formats()) {
    expressions.push_back(fmt::format("device_test::decode<{}>", of.device));
  }
  const Kernels kernels(expressions);
  for (const Format& of : formats()) {
    SCOPED_TRACE(of.device);
    const std::size_t codes = std::size_t{1} << (of.format.sign_shift() + 1);
    const Tensor outs[3] = {room<float>(codes), room<float>(codes), room<float>(codes)};
    run_over(kernels[fmt::format("device_test::decode<{}>", of.device)], codes, outs[0], outs[1],
             outs[2], static_cast<int>(codes));
    for (const Tensor& out : outs) {
      const std::vector<float> got = download<float>(out);
      for (std::uint32_t code = 0; code < codes; ++code) {
        ASSERT_NO_FATAL_FAILURE(expect_value(of.format, code, got[code]));
      }
    }
  }
}

TEST_F(DeviceConvert, Fp8ByIntegersIsTheSameOnTheDevice) {
  const Kernels kernels({"device_test::encode_bits<3>", "device_test::encode_bits<2>",
                         "device_test::decode_bits<3>", "device_test::decode_bits<2>"});
  for (const int mantissa : {3, 2}) {
    const Format& of = formats()[mantissa == 3 ? 2 : 3];
    const std::vector<float> in = interesting_floats(of.format);
    const Tensor out = room<std::uint32_t>(in.size());
    run_over(kernels[fmt::format("device_test::encode_bits<{}>", mantissa)], in.size(), upload(in),
             out, static_cast<int>(in.size()));
    const std::vector<std::uint32_t> codes = download<std::uint32_t>(out);
    for (std::size_t i = 0; i < in.size(); ++i) {
      ASSERT_NO_FATAL_FAILURE(expect_code(of, in[i], codes[i]));
    }
    const Tensor values = room<float>(256);
    run(kernels[fmt::format("device_test::decode_bits<{}>", mantissa)], 1, 256, values);
    const std::vector<float> got = download<float>(values);
    for (std::uint32_t code = 0; code < 256; ++code) {
      ASSERT_NO_FATAL_FAILURE(expect_value(of.format, code, got[code]));
    }
  }
}

TEST_F(DeviceConvert, FourFp8Together) {
  const Kernels kernels(
      {"device_test::encode_fours<einkorn::f8e4m3>", "device_test::encode_fours<einkorn::f8e5m2>"});
  for (const Format& of : {formats()[2], formats()[3]}) {
    std::vector<float> in = interesting_floats(of.format);
    in.resize(in.size() / 4 * 4);
    const Tensor out = room<std::uint32_t>(in.size() / 4);
    run_over(kernels[fmt::format("device_test::encode_fours<{}>", of.device)], in.size() / 4,
             upload(in), out, static_cast<int>(in.size() / 4));
    const std::vector<std::uint8_t> codes = download<std::uint8_t>(out);
    for (std::size_t i = 0; i < in.size(); ++i) {
      ASSERT_NO_FATAL_FAILURE(expect_code(of, in[i], codes[i]));
    }
  }
}

TEST_F(DeviceConvert, ARoundTripRounds) {
  const Kernels kernels({"device_test::round_floats<float>",
                         "device_test::round_floats<einkorn::f16>",
                         "device_test::round_floats<einkorn::bf16>"});
  const std::vector<float> in = {1.0f, 1.0f + 0x1p-12f, -3.3f, 65520.0f, 1e-9f, 0x1p-133f};
  const auto rounded = [&](const std::string& type) {
    const Tensor out = room<float>(in.size());
    run_over(kernels[fmt::format("device_test::round_floats<{}>", type)], in.size(), upload(in),
             out, static_cast<int>(in.size()));
    return download<float>(out);
  };
  EXPECT_EQ(rounded("float"), in);
  const std::vector<float> halves = rounded("einkorn::f16");
  const std::vector<float> brains = rounded("einkorn::bf16");
  for (std::size_t i = 0; i < in.size(); ++i) {
    EXPECT_EQ(halves[i], from_f16(to_f16(static_cast<double>(in[i])))) << in[i];
    EXPECT_EQ(brains[i], from_bf16(to_bf16(static_cast<double>(in[i])))) << in[i];
  }
}

TEST_F(DeviceConvert, IntegersRoundAndSaturate) {
  const Kernels kernels({"device_test::to_integers<int>", "device_test::to_integers<einkorn::i8>",
                         "device_test::to_integers<einkorn::u8>"});
  std::vector<float> in = {0.5f,
                           1.5f,
                           2.5f,
                           -0.5f,
                           -1.5f,
                           126.5f,
                           127.5f,
                           128.0f,
                           -128.5f,
                           -129.0f,
                           254.5f,
                           255.5f,
                           1e10f,
                           -1e10f,
                           0x1p31f,
                           -0x1p31f,
                           0x1p-140f,
                           std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN()};
  std::mt19937 rng(13);  // NOLINT(bugprone-random-generator-seed): the same every time
  for (int i = 0; i < 4096; ++i)
    in.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(rng())));
  std::uniform_real_distribution<float> small(-300.0f, 300.0f);
  for (int i = 0; i < 4096; ++i) in.push_back(small(rng));
  const auto check = [&]<class Int>(const char* type, Int) {
    const Tensor out = room<int>(in.size());
    run_over(kernels[fmt::format("device_test::to_integers<{}>", type)], in.size(), upload(in), out,
             static_cast<int>(in.size()));
    const std::vector<int> got = download<int>(out);
    using Limits = std::numeric_limits<Int>;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const Int expected =
          to_integer<Int>(static_cast<double>(in[i]), Limits::min(), Limits::max());
      ASSERT_EQ(got[i], static_cast<int>(expected)) << type << ": " << in[i];
    }
  };
  check("int", std::int32_t{});
  check("einkorn::i8", std::int8_t{});
  check("einkorn::u8", std::uint8_t{});
}

TEST_F(DeviceConvert, TraitsAreUsableInKernels) {
  const Kernels kernels({"device_test::clamp_to_finite<einkorn::f8e4m3>",
                         "device_test::clamp_to_finite<einkorn::i8>"});
  const std::vector<float> in = {-1000, 1000, 2};
  const auto clamped = [&](const char* type) {
    const Tensor out = room<float>(in.size());
    run_over(kernels[fmt::format("device_test::clamp_to_finite<{}>", type)], in.size(), upload(in),
             out, 3);
    return download<float>(out);
  };
  EXPECT_EQ(clamped("einkorn::f8e4m3"), (std::vector<float>{-504, 504, 2.25f}));
  EXPECT_EQ(clamped("einkorn::i8"), (std::vector<float>{-128, 127, 2}));
}

}  // namespace
}  // namespace einkorn::device_common
