// cache.cuh, memory.cuh, cp_async.cuh, address.cuh and pdl.cuh on a device.

#include <numeric>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cuda/device_common.h"

namespace einkorn::device_common {
namespace {

using testing::Each;

class DeviceMemory : public DeviceCommon {
 protected:
  static std::vector<std::uint8_t> random_bytes(std::size_t count) {
    std::mt19937 rng(19);  // NOLINT(bugprone-random-generator-seed): the same every time
    std::vector<std::uint8_t> bytes(count);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng());
    return bytes;
  }
};

TEST_F(DeviceMemory, PiecesOfEverySizeAndHintCopy) {
  struct Copy {
    std::string kernel;
    int bytes;
  };
  std::vector<Copy> copies;
  Expressions expressions;
  for (int bytes : {1, 2, 4, 8, 16}) {
    for (const char* load : {"Default", "ReadOnly", "NoAllocate", "EvictFirst", "Streaming"}) {
      for (const char* store : {"Default", "NoAllocate", "EvictFirst", "Streaming"}) {
        copies.push_back(
            {fmt::format("device_test::copy_pieces<{}, einkorn::Cache::k{}, einkorn::Cache::k{}>",
                         bytes, load, store),
             bytes});
        expressions.push_back(copies.back().kernel);
      }
    }
  }
  const Kernels kernels(expressions);
  const std::vector<std::uint8_t> in = random_bytes(std::size_t{1} << 16);
  const Tensor device_in = upload(in);
  for (const Copy& copy : copies) {
    const std::size_t pieces = in.size() / static_cast<std::size_t>(copy.bytes);
    const Tensor out = room<std::uint8_t>(in.size());
    run_over(kernels[copy.kernel], pieces, device_in, out, static_cast<int>(pieces));
    ASSERT_EQ(download<std::uint8_t>(out), in) << copy.kernel;
  }
}

TEST_F(DeviceMemory, OrderedLoadsAndStoresMoveTheirBits) {
  Expressions expressions;
  for (const char* scope : {"Block", "Device", "System"}) {
    for (const char* type : {"einkorn::u32", "float", "int", "einkorn::i64", "double"}) {
      expressions.push_back(
          fmt::format("device_test::move_words<{}, einkorn::Scope::k{}>", type, scope));
    }
  }
  const Kernels kernels(expressions);
  for (const std::string& expression : expressions) {
    const bool wide = expression.find("i64") != std::string::npos ||
                      expression.find("double") != std::string::npos;
    const std::vector<std::uint8_t> in = random_bytes(wide ? 24 : 12);
    const Tensor out = room<std::uint8_t>(in.size());
    run(kernels[expression], 1, 1, upload(in), out);
    EXPECT_EQ(download<std::uint8_t>(out), in) << expression;
  }
}

TEST_F(DeviceMemory, WhatWasWrittenBeforeTheFlagIsSeenAfterIt) {
  Expressions expressions;
  for (const char* how : {"kDevice, false", "kDevice, true", "kSystem, false", "kSystem, true"}) {
    expressions.push_back(fmt::format("device_test::pass_messages<einkorn::Scope::{}>", how));
  }
  const Kernels kernels(expressions);
  for (const std::string& expression : expressions) {
    const Tensor data = room<std::uint32_t>(256);
    const Tensor flags = room<std::uint32_t>(2, 0);
    const Tensor errors = room<std::uint32_t>(1, 0);
    run(kernels[expression], 2, 256, data, flags, errors, 2000);
    EXPECT_EQ(download<std::uint32_t>(errors)[0], 0u) << expression;
    EXPECT_THAT(download<std::uint32_t>(flags), Each(2000u)) << expression;
  }
}

TEST_F(DeviceMemory, WhatAllWroteBeforeTheyWereCountedIsSeen) {
  const Kernels kernels({"device_test::count_messages"});
  for (int round = 0; round < 20; ++round) {
    const Tensor data = room<std::uint32_t>(std::size_t{64} * 256);
    const Tensor count = room<std::uint32_t>(1, 0);
    const Tensor errors = room<std::uint32_t>(1, 0);
    run(kernels["device_test::count_messages"], 65, 256, data, count, errors);
    EXPECT_EQ(download<std::uint32_t>(errors)[0], 0u);
    EXPECT_EQ(download<std::uint32_t>(count)[0], 64u);
  }
}

TEST_F(DeviceMemory, SequentialFencesAgreeOnAnOrder) {
  const Kernels kernels({"device_test::store_then_look"});
  constexpr std::size_t kRounds = 2000;
  const Tensor words = room<std::uint32_t>(2 * kRounds, 0);
  const Tensor seen = room<std::uint32_t>(2 * kRounds);
  const Tensor arrived = room<std::uint32_t>(kRounds, 0);
  run(kernels["device_test::store_then_look"], 2, 1, words, seen, arrived,
      static_cast<int>(kRounds));
  EXPECT_THAT(download<std::uint32_t>(words), Each(1u));
  const std::vector<std::uint32_t> got = download<std::uint32_t>(seen);
  for (std::size_t i = 0; i < kRounds; ++i) {
    ASSERT_TRUE(got[2 * i] == 1 || got[2 * i + 1] == 1)
        << "neither block saw the other, round " << i;
  }
}

TEST_F(DeviceMemory, AtomicAdditionsAllCount) {
  // Block scope is atomic within a block only, so there is one of them.
  const struct {
    const char* scope;
    std::uint32_t blocks;
  } cases[] = {{"kBlock", 1}, {"kDevice", 64}, {"kSystem", 64}};
  Expressions expressions;
  for (const auto& [scope, blocks] : cases) {
    expressions.push_back(fmt::format("device_test::count_threads<einkorn::Scope::{}>", scope));
  }
  const Kernels kernels(expressions);
  for (const auto& [scope, blocks] : cases) {
    const std::size_t threads = std::size_t{blocks} * 512;
    const Tensor total = room<float>(1, 0);
    const Tensor in_block = room<std::uint32_t>(threads, 0);
    const Tensor in_grid = room<std::uint32_t>(threads, 0);
    run(kernels[fmt::format("device_test::count_threads<einkorn::Scope::{}>", scope)], blocks, 512,
        total, in_block, in_grid);
    EXPECT_EQ(download<float>(total)[0], static_cast<float>(threads)) << scope;
    EXPECT_THAT(download<std::uint32_t>(in_block), Each(1u)) << scope;
    EXPECT_THAT(download<std::uint32_t>(in_grid), Each(1u)) << scope;
  }
}

TEST_F(DeviceMemory, AsynchronousCopiesArriveAndFillUp) {
  const Kernels kernels(
      {"device_test::copy_async<4>", "device_test::copy_async<8>", "device_test::copy_async<16>"});
  for (int bytes : {4, 8, 16}) {
    const std::size_t tile = 128 * static_cast<std::size_t>(bytes);
    const std::vector<std::uint8_t> in = random_bytes(tile);
    const Tensor device_in = upload(in);
    // None, within a piece, at its end, all.
    for (int valid : {0, 1, 3, bytes, 77 * bytes + bytes / 2 + 1, 128 * bytes}) {
      const Tensor out = room<std::uint8_t>(3 * tile);
      run(kernels[fmt::format("device_test::copy_async<{}>", bytes)], 1, 128, device_in, out,
          valid);
      std::vector<std::uint8_t> expected = in;
      expected.insert(expected.end(), in.begin(), in.begin() + valid);
      expected.resize(2 * tile, 0);
      expected.insert(expected.end(), in.begin(), in.end());
      ASSERT_EQ(download<std::uint8_t>(out), expected) << bytes << " bytes, valid " << valid;
    }
  }
}

TEST_F(DeviceMemory, SharedAddressesCountInBytes) {
  const Kernels kernels({"device_test::shared_addresses"});
  const Tensor out = room<std::uint32_t>(256);
  run(kernels["device_test::shared_addresses"], 1, 256, out);
  std::vector<std::uint32_t> expected(256);
  for (std::uint32_t i = 0; i < 256; ++i) expected[i] = 4 * i;
  EXPECT_EQ(download<std::uint32_t>(out), expected);
}

TEST_F(DeviceMemory, DependentKernelsSeeWhatCameBefore) {
  const Kernels kernels({"device_test::dependent_step"});
  constexpr int kCount = 1 << 20;
  const Tensor out = room<int>(kCount, 0);
  const cuda::OwnedStream stream(0);
  for (int i = 0; i < 10; ++i) {
    launch(kernels["device_test::dependent_step"],
           {.grid = {kCount / 256}, .block = {256}, .pdl = cc() >= 90}, stream.get(),
           out.view().data(), kCount);
  }
  stream.synchronize();
  EXPECT_THAT(download<int>(out), Each(1023));  // ten times x -> 2 x + 1
}

}  // namespace
}  // namespace einkorn::device_common
