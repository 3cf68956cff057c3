// reduce.cuh on a device: every operation and type, whole and partial warps. Extreme values and
// NaN: device_common_reduce_ends_test.cc.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "src/core/float.h"
#include "tests/unit/cuda/device_common_reduce.h"

namespace einkorn::device_common {
namespace {

// Whole warps; few and many of them, powers of two and not; the last warp not whole.
constexpr int kBlockSizes[] = {32, 64, 96, 128, 160, 256, 288, 384, 512,  768, 1024,
                               1,  17, 31, 33,  48,  100, 250, 513, 1000, 1023};

class DeviceReduceTypes : public DeviceReduce {
 protected:
  template <class T>
  static void check_type() {
    Expressions expressions;
    for (const char* op : {"Sum", "Max", "Min"}) {
      for (int lanes = 1; lanes <= 32; lanes *= 2) {
        expressions.push_back(warp_kernel(op, device_name<T>(), lanes));
      }
      for (int threads : kBlockSizes) {
        expressions.push_back(block_kernel(op, device_name<T>(), threads));
      }
    }
    const Kernels kernels(expressions);
    for (const char* op : {"Sum", "Max", "Min"}) {
      check_warps(kernels, op, random_values<T>(1024, 1));
      for (int threads : kBlockSizes) {
        const auto count = static_cast<std::size_t>(threads) * 2 * 24;
        check_blocks(kernels, op, threads, random_values<T>(count, 2));
      }
    }
  }
};

TEST_F(DeviceReduceTypes, Float) { check_type<float>(); }
TEST_F(DeviceReduceTypes, Double) { check_type<double>(); }
TEST_F(DeviceReduceTypes, Int) { check_type<std::int32_t>(); }
TEST_F(DeviceReduceTypes, UnsignedInt) { check_type<std::uint32_t>(); }
TEST_F(DeviceReduceTypes, Long) { check_type<std::int64_t>(); }
TEST_F(DeviceReduceTypes, UnsignedLong) { check_type<std::uint64_t>(); }

TEST_F(DeviceReduceTypes, HalvesAddUpInFloat) {
  Expressions expressions;
  for (const char* type : {"einkorn::f16", "einkorn::bf16"}) {
    for (const char* op : {"Sum", "Max", "Min"}) {
      expressions.push_back(warp_kernel(op, type, 32));
      expressions.push_back(block_kernel(op, type, 160));
    }
  }
  const Kernels kernels(expressions);
  for (const bool wide : {false, true}) {
    const std::string type = wide ? "einkorn::bf16" : "einkorn::f16";
    std::vector<float> values = random_values<float>(320, 6);
    std::vector<std::uint16_t> codes(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double value = static_cast<double>(values[i]);
      codes[i] = wide ? to_bf16(value) : to_f16(value);
      values[i] = wide ? from_bf16(codes[i]) : from_f16(codes[i]);
    }
    const Tensor in = upload(codes);
    for (const char* op : {"Sum", "Max", "Min"}) {
      SCOPED_TRACE(type + " " + op);
      const Tensor out = room<float>(320);
      run(kernels[warp_kernel(op, type, 32)], 10, 32, in, out);
      expect_group(op, std::span<const float>(values).first(32),
                   std::span<const float>(download<float>(out)).first(32));
      run(kernels[block_kernel(op, type, 160)], 1, 160, in, out);
      const std::vector<float> got = download<float>(out);
      expect_group(op, std::span<const float>(values).first(160),
                   std::span<const float>(got).first(160));
      expect_group(op, std::span<const float>(values).last(160),
                   std::span<const float>(got).last(160));
    }
  }
}

TEST_F(DeviceReduceTypes, WarpSumIsTheReductionByThatName) {
  const Kernels kernels({"device_test::sum_warps<32>", "device_test::sum_warps<4>",
                         warp_kernel("Sum", "float", 32), warp_kernel("Sum", "float", 4)});
  const Tensor in = upload(random_values<float>(256, 7));
  for (int lanes : {32, 4}) {
    const Tensor sums = room<float>(256);
    const Tensor reductions = room<float>(256);
    run(kernels[fmt::format("device_test::sum_warps<{}>", lanes)], 1, 256, in, sums);
    run(kernels[warp_kernel("Sum", "float", lanes)], 1, 256, in, reductions);
    EXPECT_EQ(download<std::uint32_t>(sums), download<std::uint32_t>(reductions));
  }
}

TEST_F(DeviceReduceTypes, NamedBarriersHoldTheirGroup) {
  const Kernels kernels({"device_test::reverse_groups"});
  std::vector<int> in(256);
  for (int i = 0; i < 256; ++i) in[static_cast<std::size_t>(i)] = 1000 + i;
  const Tensor out = room<int>(256);
  run(kernels["device_test::reverse_groups"], 1, 256, upload(in), out);
  const std::vector<int> got = download<int>(out);
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(got[static_cast<std::size_t>(i)], 1000 + i / 64 * 64 + 63 - i % 64);
  }
}

}  // namespace
}  // namespace einkorn::device_common
