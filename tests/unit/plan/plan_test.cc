// Stages from typed pieces, and what an executable makes of them. No device is needed.

#include <einkorn/plan.h>

#include <cstdint>
#include <string>
#include <vector>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/golden.h"

namespace einkorn {
namespace {

using ::testing::ElementsAre;

struct Args {
  std::vector<int>* log;
  float* pointer = nullptr;
};

struct Params {
  float* pointer;
  std::int64_t rows;
  int tail;
};

LaunchStage example_stage() {
  cuda::Launch launch;
  launch.grid.x = 7;
  launch.block.x = 128;
  return launch_stage<Args, Params>(
      "example", "ops/example.cu", "k<4>", launch, Params{nullptr, 16, 3},
      [](const Args& args, Params& params) { params.pointer = args.pointer; });
}

HostStage host(int number) {
  struct State {
    int number;
  };
  return host_stage<Args, State>("host", State{number}, [](const Args& args, const State& state) {
    args.log->push_back(state.number);
  });
}

TEST(Plan, ALaunchStageKeepsParametersAndBindsPointers) {
  const LaunchStage stage = example_stage();
  ASSERT_GE(stage.params.size(), sizeof(Params));
  ASSERT_LE(stage.params.size(), kMaxParamBytes);
  alignas(64) std::byte block[kMaxParamBytes];
  std::memcpy(block, stage.params.data(), stage.params.size());
  float value = 0;
  const Args args{nullptr, &value};
  stage.bind(&args, nullptr, block);
  Params bound;
  std::memcpy(&bound, block, sizeof(bound));
  EXPECT_EQ(bound.pointer, &value);
  EXPECT_EQ(bound.rows, 16);
  EXPECT_EQ(bound.tail, 3);
}

TEST(Plan, BindingLeavesThePlanAsItWas) {
  const LaunchStage stage = example_stage();
  const std::vector<std::byte> before = stage.params;
  alignas(64) std::byte block[kMaxParamBytes];
  std::memcpy(block, stage.params.data(), stage.params.size());
  float value = 0;
  const Args args{nullptr, &value};
  stage.bind(&args, nullptr, block);
  EXPECT_EQ(stage.params, before);
}

TEST(Plan, HostStagesRunInOrder) {
  Plan plan;
  for (const int number : {3, 1, 2}) plan.stages.emplace_back(host(number));
  const Executable executable(std::move(plan), DeviceInfo{});
  std::vector<int> log;
  const Args args{&log};
  executable.run(&args, Stream::cpu());
  executable.run(&args, Stream::cpu());
  EXPECT_THAT(log, ElementsAre(3, 1, 2, 3, 1, 2));
  EXPECT_EQ(executable.plan().stages.size(), 3U);
}

TEST(Plan, CallStagesRunOnTheCallersStream) {
  std::vector<int> log;
  Plan plan;
  plan.stages.emplace_back(host(1));
  plan.stages.emplace_back(
      CallStage{.name = "outside", .run = [&log](const void* args, Stream stream) {
                  EXPECT_EQ(static_cast<const Args*>(args)->log, &log);
                  EXPECT_EQ(stream.device, kCpuDevice);
                  log.push_back(2);
                }});
  const std::vector<Leaf> all = leaves(plan);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].path, "outside");
  const Executable executable(std::move(plan), DeviceInfo{});
  const Args args{&log};
  executable.run(&args, Stream::cpu());
  executable.run_leaf(1, &args, Stream::cpu(), {});
  EXPECT_THAT(log, ElementsAre(1, 2, 2));
}

TEST(Plan, ACallStageMayBeOfAPlanForAnyDevice) {
  Plan plan;
  plan.stages.emplace_back(CallStage{.name = "outside", .run = [](const void*, Stream) {}});
  DeviceInfo gpu;
  gpu.device = cuda_device(0);
  EXPECT_FALSE(plan_refusal(plan, gpu));
  EXPECT_TRUE(compile_requests(plan, "sm_90a").empty());
}

TEST(Plan, NoStagesDoNothing) {
  const Executable executable(Plan{}, DeviceInfo{});
  EXPECT_NO_THROW(executable.run(nullptr, Stream::cpu()));
}

TEST(Plan, CompileRequestsOfLaunchesOnly) {
  Plan plan;
  plan.stages.emplace_back(host(1));
  plan.stages.emplace_back(example_stage());
  const auto requests = compile_requests(plan, "sm_90a");
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].file, "ops/example.cu");
  EXPECT_THAT(requests[0].instantiate, ElementsAre("k<4>"));
  EXPECT_EQ(requests[0].arch, "sm_90a");
  EXPECT_TRUE(requests[0].source.empty());
}

TEST(Plan, LaunchesNeedADeviceThatIsHere) {
  Plan plan;
  plan.stages.emplace_back(example_stage());
  test::GoldenErrors errors("errors/plan.txt");
  errors.add("a launch on the CPU", [&] { Executable(plan, DeviceInfo{}); });
  errors.add("a launch on a device from the table",
             [&] { Executable(plan, cuda::known_device("h100")); });
}

}  // namespace
}  // namespace einkorn
