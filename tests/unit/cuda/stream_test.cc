// Contexts, streams, events, graphs and memory, on a real device.

#include <cstdlib>
#include <cstring>
#include <thread>

#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/cuda/driver.h"
#include "src/cuda/matmul.h"
#include "tests/unit/cuda/gpu_fixture.h"
#include "tests/unit/golden.h"

namespace einkorn::cuda {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(Gpu, InfoIsOfARealDevice) {
  const DeviceInfo& info = device_info(0);
  EXPECT_TRUE(info.present);
  EXPECT_EQ(info.device, cuda_device(0));
  EXPECT_FALSE(info.name.empty());
  EXPECT_GE(info.cc, 50);
  EXPECT_GT(info.sm_count, 0);
  EXPECT_GE(info.smem_per_block_optin, 48 * 1024);
  EXPECT_GT(info.datasheet_gbps, 10);
  EXPECT_EQ(&info, &device_info(0));
  for (int index : {-1, device_count()}) {
    EXPECT_THAT(test::error_text([&] { device_info(index); }),
                StartsWith("ValueError: cuda: device index: expected 0 <= index < "));
  }
}

TEST_F(Gpu, TheCallersContextIsUsedAndLeftCurrent) {
  // Apart from the primary one, so that a switch to the primary context would be seen.
  const auto create = reinterpret_cast<CUresult (*)(CUcontext*, unsigned, CUdevice)>(
      driver().library.symbol("cuCtxCreate_v2"));
  const auto destroy =
      reinterpret_cast<CUresult (*)(CUcontext)>(driver().library.symbol("cuCtxDestroy_v2"));
  ASSERT_NE(create, nullptr);
  ASSERT_NE(destroy, nullptr);
  const auto current = [] {
    CUcontext context = nullptr;
    EXPECT_EQ(driver().cuCtxGetCurrent(&context), CUDA_SUCCESS);
    return context;
  };
  std::jthread([&] {  // a thread has no current context at first
    EXPECT_EQ(current(), nullptr);
    {
      const ContextGuard guard(0);
      EXPECT_EQ(current(), primary_context(0));
    }
    EXPECT_EQ(current(), nullptr);
    CUcontext own = nullptr;
    ASSERT_EQ(create(&own, 0, 0), CUDA_SUCCESS);
    {
      const ContextGuard guard(0);
      EXPECT_EQ(current(), own);
    }
    EXPECT_EQ(current(), own);
    destroy(own);
  })
      .join();
}

TEST_F(Gpu, EventsMeasureTime) {
  const OwnedStream stream(0);
  const Tensor out = zeros(1 << 20);
  Event start(0);
  Event stop(0);
  start.record(stream.get());
  fill_async(out.view().data(), 1, out.view().nbytes(), stream.get());
  stop.record(stream.get());
  stop.synchronize();
  EXPECT_GT(stop.elapsed_ms_since(start), 0.0f);
  EXPECT_LT(stop.elapsed_ms_since(start), 1000.0f);
  EXPECT_THAT(values(out), Each(0x01010101));
}

TEST_F(Gpu, GraphsRecordAndReplay) {
  const OwnedStream stream(0);
  const Tensor out = zeros(256);
  const Tensor copied = zeros(256);
  const Kernel add = kernel("gpu_test::add<1>");
  const Launch geometry{.grid = {1}, .block = {256}};
  add.prepare(geometry, 0);
  EXPECT_FALSE(is_capturing(stream.get()));
  const Graph graph = Graph::capture(stream.get(), [&] {
    EXPECT_TRUE(is_capturing(stream.get()));
    launch(add, geometry, stream.get(), out.view().data(), 256);
    launch(add, geometry, stream.get(), out.view().data(), 256);
    copy_async(copied.view().data(), out.view().data(), out.view().nbytes(), stream.get());
  });
  EXPECT_FALSE(is_capturing(stream.get()));
  EXPECT_THAT(values(out), Each(0));  // recorded, not run
  for (int i = 0; i < 3; ++i) graph.replay(stream.get());
  stream.synchronize();
  EXPECT_THAT(values(copied), Each(6));
}

TEST_F(Gpu, AColdKernelInACaptureIsAnErrorThatNamesPrepare) {
  const jit::Kernel cold =
      jit::compile({.file = "cold.cu",
                    .source = "extern \"C\" __global__ void never_launched(int* out) { *out = 7; }",
                    .instantiate = "never_launched",
                    .arch = jit::native_arch(cc())})
          .kernel();
  const OwnedStream stream(0);
  const Tensor out = Tensor::empty({1}, kI32, {DeviceKind::kCuda, 0});
  const auto capture = [&] {
    return Graph::capture(stream.get(), [&] { cold.launch({}, stream.get(), out); });
  };
  EXPECT_EQ(
      test::error_text([&] { capture(); }),
      "RuntimeError: kernel never_launched: expected a prepared one while a graph is captured, "
      "got one that was not yet launched on cuda:0\n  hint: call prepare() before the capture");
  cold.prepare({}, 0);
  capture().replay(stream.get());
  stream.synchronize();
  EXPECT_EQ(*out.to(kCpuDevice).view().data_as<int>(), 7);
}

TEST_F(Gpu, ACaptureThatThrowsLeavesTheStreamUsable) {
  const OwnedStream stream(0);
  EXPECT_THROW(Graph::capture(stream.get(), [] { throw Error(ErrorKind::kValue, "mine"); }), Error);
  EXPECT_FALSE(is_capturing(stream.get()));
  const Tensor out = zeros(1);
  fill_async(out.view().data(), 1, 4, stream.get());
  stream.synchronize();
  EXPECT_EQ(values(out)[0], 0x01010101);
}

TEST_F(Gpu, TheDefaultStreamCannotBeCaptured) {
  EXPECT_THAT(
      test::error_text([] { Graph::capture(Stream::cuda_legacy_default(0), [] {}); }),
      AllOf(StartsWith("RuntimeError: cuda: starting to capture a graph: "), HasSubstr("hint: ")));
}

TEST_F(Gpu, AllocatorCopiesBothWays) {
  const Tensor host = Tensor::empty({1 << 16}, kI32, kCpuDevice);
  for (int i = 0; i < 1 << 16; ++i) host.view().data_as<int>()[i] = i;
  const Tensor back = host.to(cuda_device(0)).to(cuda_device(0)).to(kCpuDevice);
  EXPECT_EQ(std::memcmp(host.view().data(), back.view().data(), host.view().nbytes()), 0);
  EXPECT_NE(Tensor::empty({0}, kI32, cuda_device(0)).view().data(), nullptr);
  EXPECT_THAT(test::error_text([] { Tensor::empty({std::int64_t{1} << 50}, kU8, cuda_device(0)); }),
              AllOf(StartsWith("RuntimeError: cuda: allocating"), HasSubstr("OUT_OF_MEMORY")));
}

TEST_F(Gpu, ClocksAndRatesArePlausible) {
  if (const auto sample = sample_clocks(0)) {
    EXPECT_GT(sample->sm_mhz, 0u);
    EXPECT_FALSE(driver_version().empty());
  }
  const double gbps = measure_copy_gbps(0);
  EXPECT_GT(gbps, 0.3 * device_info(0).datasheet_gbps);
  EXPECT_LT(gbps, 1.05 * device_info(0).datasheet_gbps);
  std::string reason;
  if (const auto tflops = measure_matmul_tflops(0, kBF16, &reason)) {
    EXPECT_GT(*tflops, 1);
    EXPECT_LT(*tflops, 1e5);
  } else {
    EXPECT_THAT(reason, HasSubstr("libcublasLt"));
  }
}

/// Queues a kernel that writes where nothing is, which takes the context along.
[[noreturn]] void lose_the_device() {
  const Kernel fill = jit::load({"gpu_test.cu",
                                 kGpuTestSource,
                                 {"gpu_test::one_struct"},
                                 jit::native_arch(device_info(0).cc),
                                 {}});
  struct {
    int* out;
    int value;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): no memory is there
  } params = {reinterpret_cast<int*>(std::uintptr_t{64}), 1};
  void* arguments[] = {&params};
  const OwnedStream stream(0);
  fill.launch({.grid = {1}, .block = {32}}, stream.get(), arguments);
  const std::string text = test::error_text([&] { stream.synchronize(); });
  for (const char* part : {"CUDA_ERROR_ILLEGAL_ADDRESS", "must restart", "compute-sanitizer"}) {
    if (text.find(part) == std::string::npos) std::exit(1);
  }
  std::exit(0);
}

TEST(GpuDeathTest, ALostDeviceSaysThatTheProcessMustRestart) {
  std::string reason;
  if (!available(&reason)) GTEST_SKIP() << reason;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(lose_the_device(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace einkorn::cuda
