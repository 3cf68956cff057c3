#include "src/profile/concurrent_nodes.h"

#include <utility>
#include <variant>

#include "src/plan/walk.h"

namespace einkorn::profile {
namespace {

std::size_t count_leaves(const std::vector<Stage>& stages) {
  std::size_t count = 0;
  for_each_leaf(stages, [&](const auto&) { ++count; });
  return count;
}

class Finder {
 public:
  Finder(const Plan& plan, std::vector<ConcurrentNode>& out) : plan_(plan), out_(out) {}

  void walk(const std::vector<Stage>& stages, const std::string& prefix) {
    for (const Stage& stage : stages) {
      std::visit([&](const auto& node) { enter(stage, node, prefix); }, stage.node);
    }
  }

 private:
  template <class Node>
  void enter(const Stage& stage, const Node& node, const std::string& prefix) {
    if constexpr (kIsLeaf<Node>) {
      ++leaf_;
    } else {
      if constexpr (std::is_same_v<Node, Concurrent>) {
        if (node.branches.size() > 1) add(stage, node, prefix + node.name);
      }
      // Arguments and workspace change on the way into another op's plan, and only there.
      if constexpr (std::is_same_v<Node, SubPlan>) around_.push_back(&node);
      walk(children(node), prefix + node.name + '/');
      if constexpr (std::is_same_v<Node, SubPlan>) around_.pop_back();
    }
  }

  void add(const Stage& stage, const Concurrent& node, std::string path) {
    ConcurrentNode found;
    found.path = std::move(path);
    std::size_t next = leaf_;
    for (const Stage& branch : node.branches) {
      std::vector<std::size_t>& indices = found.branches.emplace_back();
      for (std::size_t i = count_leaves({branch}); i > 0; --i) indices.push_back(next++);
    }
    Stage inner = stage;
    for (std::size_t i = around_.size(); i-- > 0;) {
      SubPlan only = *around_[i];
      only.stages.clear();
      only.stages.push_back(std::move(inner));
      inner = Stage(std::move(only));
    }
    found.alone.stages.push_back(std::move(inner));
    found.alone.tiling = plan_.tiling;
    found.alone.workspace_bytes = plan_.workspace_bytes;
    out_.push_back(std::move(found));
  }

  const Plan& plan_;
  std::vector<ConcurrentNode>& out_;
  std::vector<const SubPlan*> around_;
  std::size_t leaf_ = 0;
};

}  // namespace

std::vector<ConcurrentNode> concurrent_nodes(const Plan& plan) {
  std::vector<ConcurrentNode> out;
  Finder(plan, out).walk(plan.stages, "");
  return out;
}

}  // namespace einkorn::profile
