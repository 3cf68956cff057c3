#include "src/profile/concurrent_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/profile/staged_op.h"

namespace einkorn::profile {
namespace {

using testing::ElementsAre;

Stage leaf(std::string name) { return HostStage{.name = std::move(name)}; }

Stage both(std::string name, std::vector<Stage> branches) {
  Concurrent node;
  node.name = std::move(name);
  node.branches = std::move(branches);
  return node;
}

TEST(ConcurrentNodes, LeavesByBranchAndTheNodeAlone) {
  const AnyProblem problem = toy::problem("rows=3 cols=4");
  const Plan plan = test::kStaged.plan(problem.get(), cpu_info(), {});
  const auto nodes = concurrent_nodes(plan);
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(nodes[0].path, "inner/halves");
  EXPECT_THAT(nodes[0].branches, ElementsAre(ElementsAre(1), ElementsAre(2)));
  EXPECT_EQ(nodes[0].alone.workspace_bytes, plan.workspace_bytes);
  const auto alone = leaves(nodes[0].alone);
  ASSERT_EQ(alone.size(), 2U);
  EXPECT_EQ(alone[0].path, "inner/halves/low");
  EXPECT_EQ(alone[1].path, "inner/halves/high");
}

TEST(ConcurrentNodes, NestedNodesAndBranchesOfSeveralStages) {
  Sequence two;
  two.name = "two";
  two.stages.push_back(leaf("b"));
  two.stages.push_back(both("inner", {leaf("c"), leaf("d")}));
  Plan plan;
  plan.stages.push_back(leaf("a"));
  plan.stages.push_back(both("outer", {Stage(std::move(two)), leaf("e")}));
  const auto nodes = concurrent_nodes(plan);
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].path, "outer");
  EXPECT_THAT(nodes[0].branches, ElementsAre(ElementsAre(1, 2, 3), ElementsAre(4)));
  EXPECT_EQ(nodes[1].path, "outer/two/inner");
  EXPECT_THAT(nodes[1].branches, ElementsAre(ElementsAre(2), ElementsAre(3)));
}

TEST(ConcurrentNodes, OneBranchIsNoConcurrency) {
  Plan plan;
  plan.stages.push_back(both("only", {leaf("a")}));
  EXPECT_TRUE(concurrent_nodes(plan).empty());
  EXPECT_TRUE(concurrent_nodes(Plan{}).empty());
}

}  // namespace
}  // namespace einkorn::profile
