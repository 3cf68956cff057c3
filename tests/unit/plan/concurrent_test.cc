// Branches side by side on a GPU: that they overlap, that what follows waits for them, in a capture
// and from many threads.

#include <string>
#include <thread>
#include <vector>

#include <einkorn/plan.h>
#include <gtest/gtest.h>

#include "tests/unit/cuda/gpu_fixture.h"
#include "tests/unit/file_tree.h"

namespace einkorn::cuda {
namespace {

// flags: 0 set by one branch, 1 what the other one saw of it, 2 what the stage behind both saw.
constexpr const char* kSource = R"(
struct Params {
  int* flags;
};
__global__ void set_flag(Params p) {
  *reinterpret_cast<volatile int*>(p.flags) = 1;
}
__global__ void wait_for_flag(Params p) {
  // Bounded, so that branches in order fail the test and do not hang it: about a second.
  const long long start = clock64();
  while (*reinterpret_cast<volatile int*>(p.flags) == 0 && clock64() - start < 2000000000LL) {
  }
  p.flags[1] = *reinterpret_cast<volatile int*>(p.flags);
}
__global__ void collect(Params p) { p.flags[2] = p.flags[1] + 10; }
__global__ void set_next(Params p) { p.flags[1] = 1; }
__global__ void add_up(Params p) { p.flags[2] = p.flags[0] + p.flags[1]; }
__global__ void clear(Params p) { p.flags[threadIdx.x] = 0; }
__global__ void fill(Params p) { p.flags[threadIdx.x] = static_cast<int>(threadIdx.x); }
)";

struct Args {
  int* flags;
};

class ConcurrentStages : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    tree_.write("flags.cu", kSource);
  }

  LaunchStage stage(const std::string& name, std::uint32_t threads = 1) const {
    LaunchStage out = launch_stage<Args, Args>(
        name, tree_.path("flags.cu"), name, {.grid = {1}, .block = {threads}}, Args{},
        +[](const Args& args, Args& params) { params = args; });
    return out;
  }

  Plan plan() const {
    Concurrent both;
    both.name = "both";
    both.branches.emplace_back(stage("wait_for_flag"));
    both.branches.emplace_back(stage("set_flag"));
    Plan out;
    out.stages.emplace_back(stage("clear", 3));
    out.stages.emplace_back(std::move(both));
    out.stages.emplace_back(stage("collect"));
    return out;
  }

  test::FileTree tree_;
};

TEST_F(ConcurrentStages, OverlapAndAreJoined) {
  const Executable executable(plan(), device_info(0));
  const OwnedStream stream(0);
  const Tensor flags = zeros(3);
  const Args args{flags.view().data_as<int>()};
  for (int i = 0; i < 20; ++i) executable.run(&args, stream.get());
  stream.synchronize();
  EXPECT_EQ(values(flags), (std::vector<int>{1, 1, 11}));
}

TEST_F(ConcurrentStages, AreBranchesOfAGraph) {
  const Executable executable(plan(), device_info(0));
  const OwnedStream stream(0);
  const Tensor flags = zeros(3);
  const Args args{flags.view().data_as<int>()};
  // Two in one capture: the second may not use the streams of the first in another order.
  const Graph graph = Graph::capture(stream.get(), [&] {
    executable.run(&args, stream.get());
    executable.run(&args, stream.get());
  });
  stream.synchronize();
  EXPECT_EQ(values(flags), (std::vector<int>{0, 0, 0})) << "a capture runs nothing";
  for (int i = 0; i < 3; ++i) graph.replay(stream.get());
  stream.synchronize();
  EXPECT_EQ(values(flags), (std::vector<int>{1, 1, 11}));
  executable.run(&args, stream.get());  // streams of an ended capture serve again
  stream.synchronize();
  EXPECT_EQ(values(flags), (std::vector<int>{1, 1, 11}));
}

// Not branches that wait for each other: streams share the device's few queues, so that one of 16
// may stand behind a kernel that waits.
TEST_F(ConcurrentStages, FromManyThreads) {
  Concurrent both;
  both.name = "both";
  both.branches.emplace_back(stage("set_flag"));
  both.branches.emplace_back(stage("set_next"));
  Plan plan;
  plan.stages.emplace_back(stage("clear", 3));
  plan.stages.emplace_back(std::move(both));
  plan.stages.emplace_back(stage("add_up"));
  const Executable executable(std::move(plan), device_info(0));
  std::vector<std::jthread> threads;
  threads.reserve(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      const OwnedStream stream(0);
      const Tensor flags = zeros(3);
      const Args args{flags.view().data_as<int>()};
      for (int i = 0; i < 200; ++i) executable.run(&args, stream.get());
      stream.synchronize();
      EXPECT_EQ(values(flags), (std::vector<int>{1, 1, 2}));
    });
  }
}

/// The workspace is filled by one stage and copied out by the next.
Plan with_workspace(LaunchStage fill, std::string file) {
  Plan out;
  out.workspace_bytes = workspace_part(64 * sizeof(int));
  fill.bind = [](const void*, std::byte* workspace, std::byte* params) {
    *reinterpret_cast<int**>(params) = reinterpret_cast<int*>(workspace);
  };
  out.stages.emplace_back(std::move(fill));
  struct Copy {
    int* from;
    int* to;
  };
  out.stages.emplace_back(launch_stage<Args, Copy>(
      "copy", std::move(file), "copy", {.grid = {1}, .block = {64}}, Copy{},
      +[](const Args& args, std::byte* workspace, Copy& params) {
        params.from = reinterpret_cast<int*>(workspace);
        params.to = args.flags;
      }));
  return out;
}

TEST_F(ConcurrentStages, AWorkspaceIsTakenInTheOrderOfTheStream) {
  tree_.write("copy.cu", R"(
struct Params {
  const int* from;
  int* to;
};
__global__ void copy(Params p) { p.to[threadIdx.x] = p.from[threadIdx.x]; }
)");
  const Executable executable(with_workspace(stage("fill", 64), tree_.path("copy.cu")),
                              device_info(0));
  const OwnedStream stream(0);
  const Tensor out = zeros(64);
  const Args args{out.view().data_as<int>()};
  executable.run(&args, stream.get());
  stream.synchronize();
  EXPECT_EQ(values(out)[63], 63);
  const Tensor replayed = zeros(64);
  const Args other{replayed.view().data_as<int>()};
  const Graph graph = Graph::capture(stream.get(), [&] { executable.run(&other, stream.get()); });
  for (int i = 0; i < 3; ++i) graph.replay(stream.get());
  stream.synchronize();
  EXPECT_EQ(values(replayed)[63], 63);
}

TEST_F(ConcurrentStages, AKernelMayNotTakeMoreThanWasTold) {
  LaunchStage greedy = stage("collect");
  greedy.needs = {.registers = 1, .static_smem = 0};
  Plan plan;
  plan.stages.emplace_back(std::move(greedy));
  EXPECT_THROW(Executable(plan, device_info(0)), std::exception);
}

}  // namespace
}  // namespace einkorn::cuda
