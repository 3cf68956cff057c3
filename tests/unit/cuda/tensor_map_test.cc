// Tensor maps and the copies that use them, on a real device.

#include "src/cuda/tensor_map.h"

#include <cstdint>
#include <numeric>
#include <span>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cuda/device/sm90/tensor_map.h"
#include "tests/unit/cuda/gpu_fixture.h"

namespace einkorn::cuda {
namespace {

constexpr const char* kSource = R"(
#include "src/cuda/device/sm90/tensor.cuh"

namespace tensor_map_test {

struct Params {
  einkorn::TensorMap map;
  float* out;
  int x, y, z;
};

// A box of 32 x 1 x 8 floats as it lies in shared memory.
__global__ void copy_box(const __grid_constant__ Params p) {
  using namespace einkorn;
  __shared__ __align__(1024) float box[256];
  __shared__ u64 full;
  if (threadIdx.x == 0) {
    barrier_init(&full, 1);
    fence_barrier_init();
    barrier_expect(&full, sizeof(box));
    tensor_load(box, p.map, p.x, p.y, p.z, &full);
  }
  __syncthreads();
  barrier_wait(&full, 0);
  p.out[threadIdx.x] = box[threadIdx.x];
}

}  // namespace tensor_map_test
)";

struct Params {
  TensorMap map;
  float* out;
  int x, y, z;
};

jit::Request request(const std::string& arch) {
  return {"tensor_map_test.cu", kSource, {"tensor_map_test::copy_box"}, arch, {}};
}

/// [z][y][x] of 12 x 3 x 40 floats, each its own index.
constexpr std::int64_t kX = 40;
constexpr std::int64_t kY = 3;
constexpr std::int64_t kZ = 12;
TensorMapShape shape(bool swizzled) {
  return {.dtype = kF32,
          .sizes = {kX, kY, kZ},
          .strides = {kX, kX * kY},
          .box = {32, 1, 8},
          .swizzled = swizzled};
}

std::span<std::byte, kTensorMapBytes> bytes_of(TensorMap& map) {
  return std::as_writable_bytes(std::span<TensorMap, 1>(&map, 1));
}

TEST(TensorMap, KernelsThatUseOneCompileWithoutAGpu) {
  for (const char* arch : {"sm_90a", "sm_100a"}) {
    EXPECT_FALSE(jit::compile(request(arch))->image.empty()) << arch;
  }
}

TEST_F(Gpu, TensorMapsBringBoxesPlainAndSwizzled) {
  if (cc() < 90) GTEST_SKIP() << "no copies of boxes before sm_90";
  const auto artifact = jit::compile(request(jit::native_arch(cc())));
  const Module module = Module::load(artifact->image, "tensor_map_test.cu");
  const Kernel copy = module.kernel(artifact->entries.at(0).lowered);
  const Tensor in = Tensor::empty({kZ, kY, kX}, kF32, kCpuDevice);
  float* numbers = in.view().data_as<float>();
  std::iota(numbers, numbers + kX * kY * kZ, 0.0f);
  const Tensor tensor = in.to(cuda_device(0));
  const Tensor out = Tensor::empty({256}, kF32, cuda_device(0));
  const OwnedStream stream(0);
  for (const bool swizzled : {false, true}) {
    alignas(64) Params params{};
    ASSERT_TRUE(make_tensor_map(0, tensor.view().data(), shape(swizzled), bytes_of(params.map)));
    params.out = out.view().data_as<float>();
    params.x = 8;
    params.y = 2;
    params.z = 3;
    void* arguments[] = {&params};
    copy.launch({.grid = {1}, .block = {256}}, stream.get(), arguments);
    stream.synchronize();
    const Tensor got = out.to(kCpuDevice);
    const float* box = got.view().data_as<float>();
    for (int row = 0; row < 8; ++row) {
      for (int x = 0; x < 32; ++x) {
        const int piece = swizzled ? x / 4 ^ row : x / 4;
        const auto place = static_cast<std::size_t>(row * 32 + piece * 4 + x % 4);
        EXPECT_EQ(box[place], static_cast<float>(((3 + row) * kY + 2) * kX + 8 + x));
      }
    }
  }
}

TEST_F(Gpu, TensorMapsOfWhatTheCopyEngineCannotReadAreRefused) {
  if (cc() < 90) GTEST_SKIP() << "no copies of boxes before sm_90";
  const Tensor tensor = Tensor::empty({kZ, kY, kX}, kF32, cuda_device(0));
  const char* data = static_cast<const char*>(tensor.view().data());
  TensorMap map{};
  EXPECT_TRUE(make_tensor_map(0, data, shape(false), bytes_of(map)));
  EXPECT_FALSE(make_tensor_map(0, data + 4, shape(false), bytes_of(map)));
  TensorMapShape odd = shape(false);
  odd.strides[0] = kX + 1;
  EXPECT_FALSE(make_tensor_map(0, data, odd, bytes_of(map)));
  odd = shape(false);
  odd.dtype = kI64;
  EXPECT_FALSE(make_tensor_map(0, data, odd, bytes_of(map)));
  odd = shape(false);
  odd.box[0] = 512;
  EXPECT_FALSE(make_tensor_map(0, data, odd, bytes_of(map)));
}

}  // namespace
}  // namespace einkorn::cuda
