// vec.cuh on a device: conversions and copies of vectors.

#include <algorithm>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/cuda/device_common.h"
#include "tests/unit/cuda/device_common_formats.h"

namespace einkorn::device_common {
namespace {

/// The kernel that converts vectors of `count` there and back.
std::string conversion(const Format& of, int count, bool pairs) {
  return fmt::format("device_test::convert_vectors<{}, {}, {}>", of.device, count, pairs);
}

class DeviceVec : public DeviceCommon {
 protected:
  /// All codes in vectors of `count`, there and back.
  static void check_conversions(const Kernels& kernels, const Format& of, int count, bool pairs) {
    SCOPED_TRACE(conversion(of, count, pairs));
    const std::size_t codes = std::size_t{1} << (of.format.sign_shift() + 1);
    const std::size_t bytes = of.format.sign_shift() == 7 ? 1 : 2;
    std::vector<std::uint8_t> in;
    for (std::size_t code = 0; code < codes; ++code) {
      in.push_back(static_cast<std::uint8_t>(code));
      if (bytes == 2) in.push_back(static_cast<std::uint8_t>(code >> 8));
    }
    const Tensor single = room<float>(codes);
    const Tensor all = room<float>(codes);
    const Tensor back = room<std::uint8_t>(in.size());
    const int vectors = static_cast<int>(codes) / count;
    run_over(kernels[conversion(of, count, pairs)], static_cast<std::size_t>(vectors), upload(in),
             single, all, back, vectors);
    const std::vector<float> singles = download<float>(single);
    const std::vector<float> alls = download<float>(all);
    const std::vector<std::uint8_t> got = download<std::uint8_t>(back);
    for (std::uint32_t code = 0; code < codes; ++code) {
      ASSERT_NO_FATAL_FAILURE(expect_value(of.format, code, singles[code]));
      ASSERT_NO_FATAL_FAILURE(expect_value(of.format, code, alls[code]));
      std::uint32_t again = got[code * bytes];
      if (bytes == 2) again |= std::uint32_t{got[code * bytes + 1]} << 8;
      ASSERT_NO_FATAL_FAILURE(expect_code(of, static_cast<float>(decode(of.format, code)), again));
    }
  }
};

TEST_F(DeviceVec, EveryCodeConvertsInAVector) {
  const int counts[] = {1, 2, 8};
  Expressions expressions;
  for (const Format& of : formats()) {
    for (int count : counts) {
      for (const bool pairs : {false, true}) expressions.push_back(conversion(of, count, pairs));
    }
  }
  const Kernels kernels(expressions);
  for (const Format& of : formats()) {
    for (int count : counts) {
      check_conversions(kernels, of, count, false);
      check_conversions(kernels, of, count, true);
    }
  }
}

std::vector<std::uint8_t> pattern(std::size_t count) {
  std::mt19937 rng(29);  // NOLINT(bugprone-random-generator-seed): the same every time
  std::vector<std::uint8_t> bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng());
  return bytes;
}

TEST_F(DeviceVec, VectorsCopyAtEveryAlignment) {
  struct Copy {
    std::string kernel;
    std::size_t bytes;  ///< of a vector
    std::size_t align;
  };
  std::vector<Copy> copies;
  Expressions expressions;
  const auto add = [&](const char* type, std::size_t size, std::size_t count, std::size_t align) {
    copies.push_back(
        {fmt::format("device_test::copy_vectors<{}, {}, {}, einkorn::Cache::kNoAllocate, "
                     "einkorn::Cache::kStreaming>",
                     type, count, align),
         size * count, align});
    expressions.push_back(copies.back().kernel);
  };
  for (std::size_t align : {1u, 2u, 4u, 8u, 16u}) add("einkorn::u8", 1, 32, align);
  for (std::size_t align : {2u, 4u, 8u, 16u}) add("einkorn::bf16", 2, 8, align);
  for (std::size_t align : {4u, 8u, 16u}) add("float", 4, 2, align);
  const Kernels kernels(expressions);
  for (const Copy& copy : copies) {
    // One alignment off the allocation, so that a wider access would fault.
    std::vector<std::uint8_t> in = pattern(4096 + copy.align);
    const Tensor device_in = upload(in);
    const Tensor out = room<std::uint8_t>(in.size());
    void* from = device_in.view().data_as<std::uint8_t>() + copy.align;
    void* to = out.view().data_as<std::uint8_t>() + copy.align;
    const std::size_t vectors = 4096 / copy.bytes;
    run_over(kernels[copy.kernel], vectors, from, to, static_cast<int>(vectors));
    std::fill_n(in.begin(), copy.align, std::uint8_t{0xcd});
    ASSERT_EQ(download<std::uint8_t>(out), in) << copy.kernel;
  }
}

TEST_F(DeviceVec, AnAbsentTensorLoadsNothing) {
  const Kernels kernels({"device_test::load_nothing"});
  const Tensor out = room<int>(1);
  run(kernels["device_test::load_nothing"], 1, 1, out);
  EXPECT_EQ(download<int>(out)[0], 1);
}

}  // namespace
}  // namespace einkorn::device_common
