// Plans as trees: order, sub-plans with their arguments, workspaces, what is said of the leaves.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <einkorn/plan.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/golden.h"

namespace einkorn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Arguments of the outer op: where steps leave their trace.
struct Args {
  std::vector<std::string>* log;
  int value = 0;
};

struct Name {
  char text[16];
};

HostStage host(const char* text) {
  Name name{};
  std::strncpy(name.text, text, sizeof(name.text) - 1);
  return host_stage<Args, Name>(text, name, [](const Args& args, const Name& state) {
    args.log->push_back(std::string(state.text) + ":" + std::to_string(args.value));
  });
}

LaunchStage kernel(const char* name, std::uint32_t threads, std::uint32_t smem, int registers) {
  LaunchStage stage;
  stage.name = name;
  stage.file = "no/such/file.cu";
  stage.entry = name;
  stage.launch.grid.x = 4096;
  stage.launch.block.x = threads;
  stage.launch.smem_bytes = smem;
  stage.needs = {.registers = registers, .static_smem = 0};
  return stage;
}

Stage concurrent(std::string name, std::vector<Stage> branches) {
  return Concurrent{.name = std::move(name), .branches = std::move(branches)};
}

std::vector<std::string> paths(const Plan& plan) {
  std::vector<std::string> out;
  for (const Leaf& leaf : leaves(plan)) out.push_back(leaf.path);
  return out;
}

/// norm, then (left in two steps beside right), then last.
Plan example() {
  Plan plan;
  plan.stages.emplace_back(host("norm"));
  Sequence left;
  left.name = "left";
  left.stages.emplace_back(host("a"));
  left.stages.emplace_back(host("b"));
  std::vector<Stage> branches;
  branches.emplace_back(std::move(left));
  branches.emplace_back(host("right"));
  plan.stages.push_back(concurrent("both", std::move(branches)));
  plan.stages.emplace_back(host("last"));
  return plan;
}

TEST(PlanTree, LeavesHavePathsAndBranches) {
  const Plan plan = example();
  EXPECT_THAT(paths(plan), ElementsAre("norm", "both/left/a", "both/left/b", "both/right", "last"));
  const auto list = leaves(plan);
  EXPECT_THAT(list[0].branches, IsEmpty());
  EXPECT_THAT(list[2].branches, ElementsAre(0));
  EXPECT_THAT(list[3].branches, ElementsAre(1));
}

TEST(PlanTree, RunsInOrderOnTheCpu) {
  const Executable executable(example(), DeviceInfo{});
  std::vector<std::string> log;
  const Args args{&log, 7};
  executable.run(&args, Stream::cpu());
  EXPECT_THAT(log, ElementsAre("norm:7", "a:7", "b:7", "right:7", "last:7"));
}

TEST(PlanTree, RunsOneLeaf) {
  const Executable executable(example(), DeviceInfo{});
  std::vector<std::string> log;
  const Args args{&log, 1};
  executable.run_leaf(3, &args, Stream::cpu(), {});
  executable.run_leaf(0, &args, Stream::cpu(), {});
  EXPECT_THAT(log, ElementsAre("right:1", "norm:1"));
  EXPECT_EQ(executable.kernel(3), nullptr);
  EXPECT_THROW(executable.kernel(5), Error);
}

TEST(PlanTree, ASubPlanHasArgumentsOfItsOwn) {
  SubPlan sub;
  sub.name = "sub";
  sub.stages.emplace_back(host("inner"));
  sub.project = [](const void* args, std::byte*, std::byte* inner) {
    const auto& outer = *static_cast<const Args*>(args);
    new (inner) Args{outer.log, outer.value + 1};
  };
  SubPlan around;
  around.name = "around";
  around.project = sub.project;
  around.stages.emplace_back(std::move(sub));
  Plan plan;
  plan.stages.emplace_back(host("before"));
  plan.stages.emplace_back(std::move(around));
  plan.stages.emplace_back(host("after"));
  EXPECT_THAT(paths(plan), ElementsAre("before", "around/sub/inner", "after"));
  const Executable executable(std::move(plan), DeviceInfo{});
  std::vector<std::string> log;
  const Args args{&log, 1};
  executable.run(&args, Stream::cpu());
  EXPECT_THAT(log, ElementsAre("before:1", "inner:3", "after:1"));
}

/// Writes into the workspace, and reads it in the next stage.
Plan with_workspace() {
  struct Nothing {};
  Plan plan;
  plan.workspace_bytes = 512;
  plan.stages.emplace_back(host_stage<Args, Nothing>(
      "write", {}, [](const Args& args, std::byte* workspace, const Nothing&) {
        std::memset(workspace, args.value, 512);
      }));
  plan.stages.emplace_back(host_stage<Args, Nothing>(
      "read", {}, [](const Args& args, std::byte* workspace, const Nothing&) {
        args.log->push_back(std::to_string(static_cast<int>(workspace[511])));
      }));
  return plan;
}

TEST(PlanTree, AWorkspaceLastsForARun) {
  const Executable executable(with_workspace(), DeviceInfo{});
  std::vector<std::string> log;
  Args args{&log, 5};
  executable.run(&args, Stream::cpu());
  args.value = 6;
  alignas(kWorkspaceAlign) std::byte memory[512];
  executable.run(&args, Stream::cpu(), {memory, sizeof(memory)});
  EXPECT_THAT(log, ElementsAre("5", "6"));
  EXPECT_EQ(static_cast<int>(memory[0]), 6);
}

TEST(PlanTree, ASubPlansWorkspaceBeginsAtItsOffset) {
  struct Nothing {};
  SubPlan sub;
  sub.name = "sub";
  sub.workspace_bytes = 256;
  sub.workspace_offset = 256;
  sub.stages.emplace_back(host_stage<Args, Nothing>(
      "write", {}, [](const Args& args, std::byte* workspace, const Nothing&) {
        std::memset(workspace, args.value, 256);
      }));
  Plan plan;
  plan.workspace_bytes = 512;
  plan.stages.emplace_back(std::move(sub));
  const Executable executable(std::move(plan), DeviceInfo{});
  alignas(kWorkspaceAlign) std::byte memory[512] = {};
  const Args args{nullptr, 9};
  executable.run(&args, Stream::cpu(), {memory, sizeof(memory)});
  EXPECT_EQ(static_cast<int>(memory[255]), 0);
  EXPECT_EQ(static_cast<int>(memory[256]), 9);
}

TEST(PlanTree, CostsOfASubPlanWithOneLeafAreTheInnerOps) {
  SubPlan one;
  one.name = "one";
  one.cost = {.flops = 8, .bytes = 16};
  one.stages.emplace_back(host("a"));
  SubPlan two;
  two.name = "two";
  two.cost = {.flops = 8, .bytes = 16};
  two.stages.emplace_back(host("b"));
  HostStage told = host("c");
  told.cost = {.flops = 1, .bytes = 2};
  two.stages.emplace_back(std::move(told));
  Plan plan;
  plan.stages.emplace_back(std::move(one));
  plan.stages.emplace_back(std::move(two));
  const auto list = leaves(plan);
  EXPECT_EQ(list[0].cost.bytes, 16);
  EXPECT_EQ(list[1].cost.bytes, 0) << "not told: the inner op's work is not this leaf's alone";
  EXPECT_EQ(list[2].cost.bytes, 2);
}

TEST(PlanTree, CompileRequestsOfAllLaunches) {
  std::vector<Stage> branches;
  branches.emplace_back(kernel("k1", 32, 0, 8));
  branches.emplace_back(kernel("k2", 32, 0, 8));
  Plan plan;
  plan.stages.push_back(concurrent("both", std::move(branches)));
  const auto requests = compile_requests(plan, "sm_90a");
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_THAT(requests[1].instantiate, ElementsAre("k2"));
}

Concurrent pair(LaunchStage first, LaunchStage second) {
  Concurrent node;
  node.name = "pair";
  node.branches.emplace_back(std::move(first));
  node.branches.emplace_back(std::move(second));
  return node;
}

TEST(PlanTree, BranchesHaveToFitAMultiprocessorTogether) {
  const DeviceInfo h100 = cuda::known_device("h100");
  EXPECT_FALSE(
      joint_refusal(pair(kernel("a", 512, 1 << 16, 32), kernel("b", 512, 1 << 16, 32)), h100));
  test::GoldenErrors errors("errors/joint.txt");
  const auto refuse = [&](std::string_view title, const Concurrent& node) {
    errors.add(title, [&] {
      if (const auto refusal = joint_refusal(node, h100)) {
        throw_error(ErrorKind::kNotImplemented, refusal->reason);
      }
    });
  };
  refuse("shared memory", pair(kernel("a", 512, 120 << 10, 32), kernel("b", 512, 120 << 10, 32)));
  refuse("registers", pair(kernel("a", 512, 0, 64), kernel("b", 512, 0, 72)));
  const DeviceInfo l40s = cuda::known_device("l40s");
  const auto threads = joint_refusal(pair(kernel("a", 1024, 0, 8), kernel("b", 1024, 0, 8)), l40s);
  ASSERT_TRUE(threads);
  EXPECT_THAT(threads->reason, HasSubstr("2048 threads"));
}

TEST(PlanTree, FewBlocksHaveMultiprocessorsOfTheirOwn) {
  const DeviceInfo h100 = cuda::known_device("h100");  // 132 of them, each for one such block
  LaunchStage half = kernel("half", 1024, 0, 64);
  half.launch.grid.x = 66;
  EXPECT_FALSE(joint_refusal(pair(half, half), h100));
  LaunchStage more = half;
  more.launch.grid.x = 67;
  EXPECT_TRUE(joint_refusal(pair(half, more), h100));
}

TEST(PlanTree, AJointRuleOfTheAuthorIsAsked) {
  Concurrent node = pair(kernel("a", 128, 0, 32), kernel("b", 128, 0, 32));
  node.joint = [](std::span<const Stage> branches, const DeviceInfo&) -> std::optional<Refusal> {
    return Refusal{"split boundaries differ in " + std::to_string(branches.size()) + " branches"};
  };
  Plan plan;
  plan.stages.emplace_back(node);
  const auto refusal = plan_refusal(plan, cuda::known_device("h100"));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, "split boundaries differ in 2 branches");
}

TEST(PlanTree, TheLargestStageOfABranchCounts) {
  Sequence steps;
  steps.name = "steps";
  steps.stages.emplace_back(kernel("small", 64, 0, 16));
  steps.stages.emplace_back(kernel("large", 256, 4096, 40));
  const Residency one = residency(Stage(std::move(steps)));
  EXPECT_EQ(one.threads, 256);
  EXPECT_EQ(one.smem, 4096 + 1024);
  EXPECT_EQ(one.registers, 40 * 256);
}

TEST(PlanTree, RefusesWhatThePlaceCannotRun) {
  test::GoldenErrors errors("errors/plan_tree.txt");
  Plan launches;
  launches.stages.emplace_back(kernel("k", 32, 0, 8));
  errors.add("a launch on a CPU", [&] { Executable(launches, DeviceInfo{}); });
  Plan tasks;
  tasks.stages.emplace_back(host("task"));
  errors.add("a CPU task on a GPU", [&] { Executable(tasks, cuda::known_device("h100")); });
  const Executable executable(with_workspace(), DeviceInfo{});
  const Args args{nullptr};
  alignas(kWorkspaceAlign) std::byte memory[512];
  errors.add("a workspace too small", [&] { executable.run(&args, Stream::cpu(), {memory, 511}); });
}

}  // namespace
}  // namespace einkorn
