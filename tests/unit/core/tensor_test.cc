#include <einkorn/tensor.h>

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include <einkorn/error.h>

#include "tests/unit/golden.h"

namespace einkorn {
namespace {

using test::GoldenErrors;
using Sizes = std::vector<std::int64_t>;

Sizes sizes(std::span<const std::int64_t> values) { return {values.begin(), values.end()}; }

alignas(256) char memory[4096];

TensorView strided(DType dtype, Sizes shape, Sizes strides, std::size_t byte = 0) {
  return {memory + byte, dtype, shape, strides, kCpuDevice};
}

TEST(TensorView, DefaultIsNoTensor) {
  const TensorView none;
  EXPECT_FALSE(none.defined());
  EXPECT_FALSE(static_cast<bool>(none));
  EXPECT_EQ(none.rank(), 0);
  EXPECT_EQ(none.numel(), 0);
  EXPECT_EQ(none.nbytes(), 0U);
  EXPECT_TRUE(none.shape().empty());
  EXPECT_EQ(to_string(none), "no tensor");
}

TEST(TensorView, ContiguousStrides) {
  const TensorView x(memory, kBF16, {2, 3, 4}, kCpuDevice);
  EXPECT_EQ(sizes(x.strides()), (Sizes{12, 4, 1}));
  EXPECT_EQ(x.numel(), 24);
  EXPECT_EQ(x.nbytes(), 48U);
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_EQ(x.data_as<char>(), memory);
}

TEST(TensorView, ScalarHasOneElement) {
  const TensorView scalar(memory, kF32, {}, kCpuDevice);
  EXPECT_TRUE(scalar.defined());
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(scalar.numel(), 1);
  EXPECT_TRUE(scalar.is_contiguous());
}

TEST(TensorView, NegativeIndexCountsFromTheLast) {
  const TensorView x(memory, kF32, {2, 3, 4}, kCpuDevice);
  EXPECT_EQ(x.size(-1), 4);
  EXPECT_EQ(x.size(-3), 2);
  EXPECT_EQ(x.stride(-2), 4);
  EXPECT_EQ(x.size(2), 4);
  EXPECT_THROW(x.size(3), Error);
  EXPECT_THROW(x.stride(-4), Error);
}

TEST(TensorView, Contiguity) {
  EXPECT_TRUE(strided(kF32, {2, 1, 4}, {4, 77, 1}).is_contiguous()) << "size 1, any stride";
  EXPECT_TRUE(strided(kF32, {2, 0, 4}, {9, 9, 9}).is_contiguous()) << "empty";
  EXPECT_FALSE(strided(kF32, {2, 4}, {5, 1}).is_contiguous());
  EXPECT_FALSE(strided(kF32, {2, 4}, {4, 2}).is_contiguous());
  EXPECT_FALSE(strided(kF32, {2, 4}, {0, 1}).is_contiguous());
  EXPECT_FALSE(strided(kF32, {4, 2}, {1, 4}).is_contiguous());
}

TEST(TensorView, Printing) {
  const TensorView x(nullptr, kBF16, {8192, 64, 576}, cuda_device(0));
  EXPECT_EQ(to_string(x), "Tensor<8192, 64, 576>[bf16, cuda:0, strides 36864,576,1]");
  EXPECT_EQ(to_string(TensorView(memory, kF4E2M1, {7}, kCpuDevice)),
            "Tensor<7>[f4e2m1, cpu, strides 1]");
  EXPECT_EQ(to_string(TensorView(memory, kF32, {}, kCpuDevice)), "Tensor<>[f32, cpu]");
}

TEST(TensorView, SubByteSizes) {
  const TensorView x(memory, kI4, {3, 5}, kCpuDevice);
  EXPECT_EQ(x.nbytes(), 8U);
  EXPECT_EQ(x.extent().end - x.extent().begin, 8U);
}

TEST(TensorView, DlpackRoundTrip) {
  const TensorView x = strided(kF16, {2, 3}, {8, 2}, 32);
  const DLTensor exchanged = x.dlpack();
  EXPECT_EQ(exchanged.data, memory + 32);
  EXPECT_EQ(exchanged.byte_offset, 0U);
  const TensorView back(exchanged);
  EXPECT_EQ(back.data(), x.data());
  EXPECT_EQ(back.dtype(), kF16);
  EXPECT_EQ(back.device(), kCpuDevice);
  EXPECT_EQ(sizes(back.shape()), (Sizes{2, 3}));
  EXPECT_EQ(sizes(back.strides()), (Sizes{8, 2}));
}

TEST(TensorView, DlpackByteOffsetAndNullStrides) {
  std::int64_t shape[] = {2, 3};
  DLTensor tensor{memory, {kDLCUDA, 1}, 2, {kDLFloat, 32, 1}, shape, nullptr, 64};
  const TensorView view(tensor);
  EXPECT_EQ(view.data(), memory + 64);
  EXPECT_EQ(view.device(), cuda_device(1));
  EXPECT_EQ(sizes(view.strides()), (Sizes{3, 1}));
  shape[0] = 99;  // the view holds its own copy
  EXPECT_EQ(view.size(0), 2);

  tensor.data = nullptr;
  EXPECT_EQ(TensorView(tensor).data(), nullptr) << "null stays null";
}

TEST(TensorView, Extent) {
  const auto base = reinterpret_cast<std::uintptr_t>(memory);
  const auto plain = strided(kF32, {2, 3}, {10, 1}, 400).extent();
  EXPECT_EQ(plain.begin, base + 400);
  EXPECT_EQ(plain.end, base + 400 + (10 + 2 + 1) * 4);
  const auto reversed = strided(kF32, {3, 2}, {-10, 1}, 400).extent();
  EXPECT_EQ(reversed.begin, base + 400 - 80);
  EXPECT_EQ(reversed.end, base + 400 + 8);
  const auto empty = strided(kF32, {3, 0}, {10, 1}, 400).extent();
  EXPECT_EQ(empty.begin, empty.end);
  const auto broadcast = strided(kF32, {5}, {0}, 400).extent();
  EXPECT_EQ(broadcast.end - broadcast.begin, 4U);
}

TEST(TensorView, SliceMovesTheAddress) {
  const TensorView x(memory, kF32, {4, 6}, kCpuDevice);
  const TensorView columns = x.slice(-1, 2, 5);
  EXPECT_EQ(columns.data(), memory + 8);
  EXPECT_EQ(sizes(columns.shape()), (Sizes{4, 3}));
  EXPECT_EQ(sizes(columns.strides()), (Sizes{6, 1}));
  EXPECT_EQ(x.slice(0, 1, 3).data(), memory + 24);
  EXPECT_EQ(x.slice(0, 4, 4).numel(), 0);
  const TensorView packed(memory, kU4, {4, 6}, kCpuDevice);
  EXPECT_EQ(packed.slice(1, 2, 6).data(), memory + 1);
}

TEST(TensorView, Transpose) {
  const TensorView x(memory, kF32, {2, 3, 4}, kCpuDevice);
  const TensorView t = x.transpose(0, -1);
  EXPECT_EQ(sizes(t.shape()), (Sizes{4, 3, 2}));
  EXPECT_EQ(sizes(t.strides()), (Sizes{1, 4, 12}));
  EXPECT_EQ(t.data(), x.data());
}

TEST(TensorView, MoreThan31BitsOfElements) {
  const TensorView x(nullptr, kBF16, {std::int64_t{1} << 20, std::int64_t{1} << 16},
                     cuda_device(0));
  EXPECT_EQ(x.numel(), std::int64_t{1} << 36);
  EXPECT_EQ(x.nbytes(), std::size_t{1} << 37);
  EXPECT_EQ(x.extent().end - x.extent().begin, std::size_t{1} << 37);
}

TEST(TensorView, Errors) {
  GoldenErrors errors("errors/tensor.txt");
  constexpr std::int64_t kHuge = std::int64_t{1} << 32;
  const auto view = [](Sizes shape) { (void)TensorView(memory, kF32, shape, kCpuDevice); };
  errors.add("rank over 8", [&] { view(Sizes(9, 1)); });
  errors.add("negative size", [&] { view({2, -3}); });
  errors.add("too many elements", [&] { view({kHuge, kHuge}); });
  errors.add("too many elements beside an empty dimension", [&] { view({0, kHuge, kHuge}); });
  errors.add("too far a reach", [&] { (void)strided(kF32, {2, 3}, {kHuge << 24, 1}); });
  errors.add("stride without a magnitude",
             [&] { (void)strided(kF32, {2}, {std::numeric_limits<std::int64_t>::min()}); });
  errors.add("strides and shape of different lengths", [] { (void)strided(kF32, {2, 3}, {1}); });

  std::int64_t shape[] = {2};
  DLTensor tensor{memory, {kDLCPU, 0}, 1, {kDLFloat, 32, 4}, shape, nullptr, 0};
  errors.add("DLPack lanes", [&] { (void)TensorView(tensor); });
  tensor.dtype = {kDLFloat, 32, 1};
  tensor.device.device_type = kDLVulkan;
  errors.add("DLPack device", [&] { (void)TensorView(tensor); });
  tensor.device.device_type = kDLCPU;
  tensor.ndim = -1;
  errors.add("DLPack negative rank", [&] { (void)TensorView(tensor); });
  tensor.ndim = 9;
  errors.add("DLPack rank over 8", [&] { (void)TensorView(tensor); });

  tensor.ndim = 1;
  tensor.shape = nullptr;
  errors.add("DLPack shape missing", [&] { (void)TensorView(tensor); });

  const TensorView x(memory, kF32, {4, 6}, kCpuDevice);
  errors.add("dimension out of range", [&] { x.size(2); });
  errors.add("slice out of range", [&] { x.slice(1, 2, 7); });
  errors.add("slice backwards", [&] { x.slice(1, 3, 2); });
  const TensorView packed(memory, kU4, {4, 6}, kCpuDevice);
  errors.add("slice inside a byte", [&] { packed.slice(1, 1, 3); });
}

}  // namespace
}  // namespace einkorn
