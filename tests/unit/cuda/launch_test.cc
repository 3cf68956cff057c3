// Launching, on a real device.

#include <cstring>
#include <thread>

#include <einkorn/plan.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cuda/gpu_fixture.h"
#include "tests/unit/golden.h"

namespace einkorn::cuda {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;

TEST(GpuTestKernels, CompileForEveryArchWithoutAGpu) {
  for (const char* arch : {"sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"}) {
    const auto artifact = jit::compile(
        {"gpu_test.cu", kGpuTestSource, {"gpu_test::add<1>", "gpu_test::cluster_rank"}, arch, {}});
    EXPECT_FALSE(artifact->image.empty()) << arch;
  }
}

TEST_F(Gpu, LaunchesAKernelByItsLoweredName) {
  const auto artifact = jit::compile({"gpu_test.cu",
                                      kGpuTestSource,
                                      {"gpu_test::add<3>", "gpu_test::add<5>"},
                                      jit::native_arch(cc()),
                                      {}});
  const Module module = Module::load(artifact->image, "gpu_test.cu");
  const OwnedStream stream(0);
  const Tensor out = zeros(1000);
  for (const jit::EntryPoint& entry : artifact->entries) {
    launch(module.kernel(entry.lowered), {.grid = {4}, .block = {256}}, stream.get(),
           out.view().data(), 1000);
  }
  stream.synchronize();
  EXPECT_THAT(values(out), Each(8));
  EXPECT_EQ(test::error_text([&] { module.kernel("_Z4nope"); }),
            "ValueError: module gpu_test.cu: expected the lowered name of one of its kernels, got "
            "\"_Z4nope\"");
}

TEST_F(Gpu, AnEmptyGridLaunchesNothing) {
  const OwnedStream stream(0);
  const Tensor out = zeros(4);
  const Kernel add = kernel("gpu_test::add<1>");
  for (const Dim3 grid : {Dim3{0, 1, 1}, Dim3{1, 0, 1}, Dim3{1, 1, 0}}) {
    launch(add, {.grid = grid, .block = {32}}, stream.get(), out.view().data(), 4);
  }
  stream.synchronize();
  EXPECT_THAT(values(out), Each(0));
}

TEST_F(Gpu, ClustersUpToTheLargest) {
  if (cc() < 90) GTEST_SKIP() << "clusters need sm_90";
  const OwnedStream stream(0);
  const Tensor out = zeros(32);
  const Kernel ranks = kernel("gpu_test::cluster_rank");
  for (std::uint32_t size : {2u, 8u, 16u}) {  // 16 needs an opt-in
    launch(ranks, {.grid = {32}, .block = {32}, .cluster = {size}}, stream.get(),
           out.view().data());
    stream.synchronize();
    const std::vector<int> got = values(out);
    for (std::uint32_t block = 0; block < 32; ++block) {
      EXPECT_EQ(got[block], static_cast<int>(size * 100 + block % size));
    }
  }
}

TEST_F(Gpu, DependentLaunchesKeepTheirOrder) {
  if (cc() < 90) GTEST_SKIP() << "programmatic dependent launch needs sm_90";
  const OwnedStream stream(0);
  constexpr int kCount = 1 << 20;
  const Tensor out = zeros(kCount);
  const Kernel step = kernel("gpu_test::waits_then_adds");
  for (int i = 0; i < 10; ++i) {
    launch(step, {.grid = {kCount / 256}, .block = {256}, .pdl = true}, stream.get(),
           out.view().data(), kCount);
  }
  stream.synchronize();
  EXPECT_THAT(values(out), Each(1023));  // ten times x -> 2 x + 1
}

TEST_F(Gpu, SharedMemoryGrowsAndShrinksFreely) {
  const OwnedStream stream(0);
  const Tensor out = zeros(1);
  const Kernel sum = kernel("gpu_test::sum_dynamic_smem");
  const auto most = static_cast<std::uint32_t>(device_info(0).smem_per_block_optin);
  for (std::uint32_t bytes : {1024u, 49152u, 49156u, 65536u, most, 50000u, 1024u, most}) {
    launch(sum, {.grid = {1}, .block = {256}, .smem_bytes = bytes}, stream.get(), out.view().data(),
           static_cast<int>(bytes / 4));
    stream.synchronize();
    EXPECT_EQ(values(out)[0], static_cast<int>(bytes / 4));
  }
  EXPECT_THAT(test::error_text([&] {
                launch(sum, {.grid = {1}, .block = {256}, .smem_bytes = most + 1}, stream.get(),
                       out.view().data(), 1);
              }),
              AllOf(StartsWith("ValueError: kernel gpu_test::sum_dynamic_smem: shared memory: "
                               "expected at most " +
                               std::to_string(most)),
                    HasSubstr("grid 1x1x1, block 256x1x1")));
}

TEST_F(Gpu, StaticSharedMemoryCountsTowardsTheDefault) {
  const OwnedStream stream(0);
  const Tensor out = zeros(1);
  launch(kernel("gpu_test::static_and_dynamic_smem"),
         {.grid = {1}, .block = {256}, .smem_bytes = 32768}, stream.get(), out.view().data());
  stream.synchronize();
  EXPECT_EQ(values(out)[0], 3);
}

TEST_F(Gpu, WrongGeometryIsRefusedByName) {
  const OwnedStream stream(0);
  const Tensor out = zeros(1);
  const auto refused = [&](const Launch& geometry, const std::string& kernel_name,
                           const std::string& text) {
    const Kernel loaded = kernel(kernel_name);
    EXPECT_THAT(
        test::error_text([&] { launch(loaded, geometry, stream.get(), out.view().data(), 1); }),
        AllOf(StartsWith("ValueError: kernel " + kernel_name + ": "), HasSubstr(text),
              HasSubstr("\n  launch: grid ")));
  };
  const std::string add = "gpu_test::add<1>";
  refused({.grid = {1}, .block = {1025}}, add, "block: expected 1 to 1024 threads");
  refused({.grid = {1}, .block = {0}}, add, "block: expected 1 to 1024 threads");
  refused({.grid = {1}, .block = {1, 1, 65}}, add, "at most 64 of them along z");
  refused({.grid = {1}, .block = {0x80000000u, 2, 1}}, add, "block: expected");
  refused({.grid = {0x80000000u}, .block = {1}}, add, "grid: expected x <= 2147483647");
  refused({.grid = {1, 65536, 1}, .block = {1}}, add, "y and z <= 65535");
  refused({.grid = {6}, .block = {1}, .cluster = {4}}, add, "cluster: expected a divisor of grid");
  refused({.grid = {32}, .block = {1}, .cluster = {32}}, add, "cluster: expected 1 to 16 blocks");
  refused({.grid = {1}, .block = {128}}, "gpu_test::small_blocks",
          "block: expected at most 64 threads");
  stream.synchronize();  // a refused launch leaves nothing behind
  EXPECT_EQ(values(out)[0], 0);
}

TEST_F(Gpu, TwoThreadsLaunchAndGrowTheSameKernel) {
  const Kernel sum = kernel("gpu_test::sum_dynamic_smem");
  const auto work = [&](std::uint32_t first, std::uint32_t second) {
    const OwnedStream stream(0);
    const Tensor out = zeros(1);
    for (int i = 0; i < 50; ++i) {
      const std::uint32_t bytes = i % 2 == 0 ? first : second;
      launch(sum, {.grid = {1}, .block = {256}, .smem_bytes = bytes}, stream.get(),
             out.view().data(), static_cast<int>(bytes / 4));
      stream.synchronize();
      EXPECT_EQ(values(out)[0], static_cast<int>(bytes / 4));
    }
  };
  const std::jthread one([&] { work(1024, 90000); });
  const std::jthread two([&] { work(60000, 70000); });
}

TEST_F(Gpu, AStageBindsItsParameters) {
  struct Args {
    int* out;
  };
  struct Params {
    int* out;
    int value;
  };
  LaunchStage stage = launch_stage<Args, Params>(
      "fill", "gpu_test.cu", "gpu_test::one_struct", {.grid = {1}, .block = {64}}, {nullptr, 7},
      [](const Args& args, Params& params) { params.out = args.out; });
  const Kernel fill = kernel("gpu_test::one_struct");
  const Tensor out = zeros(64);
  const Args args{out.view().data_as<int>()};
  alignas(64) std::byte params[kMaxParamBytes];
  std::memcpy(params, stage.params.data(), stage.params.size());
  stage.bind(&args, nullptr, params);
  void* arguments[] = {params};
  const OwnedStream stream(0);
  fill.launch(stage.launch, stream.get(), arguments);
  stream.synchronize();
  EXPECT_THAT(values(out), Each(7));
}

}  // namespace
}  // namespace einkorn::cuda
