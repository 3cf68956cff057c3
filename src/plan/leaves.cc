// What can be said of a plan without running it: its leaves, and what it compiles.

#include <einkorn/plan.h>
#include <fmt/format.h>

#include "src/plan/request.h"
#include "src/plan/walk.h"

namespace einkorn {
namespace {

bool told(const Cost& cost) { return cost.flops > 0 || cost.bytes > 0; }

std::size_t count_leaves(const std::vector<Stage>& stages) {
  std::size_t count = 0;
  for_each_leaf(stages, [&](const auto&) { ++count; });
  return count;
}

/// Appends the leaves below, with the names and branches on the way to them.
class Lister {
 public:
  explicit Lister(std::vector<Leaf>& out) : out_(out) {}

  /// `enclosing` is the cost of a sub-plan that has no other leaf than the ones below; zeros: none.
  void list(const std::vector<Stage>& stages, const std::string& prefix, const Cost& enclosing) {
    for (const Stage& stage : stages) {
      std::visit([&](const auto& node) { visit(stage, node, prefix, enclosing); }, stage.node);
    }
  }

 private:
  template <class Node>
  void visit(const Stage& stage, const Node& node, const std::string& prefix,
             const Cost& enclosing) {
    if constexpr (kIsLeaf<Node>) {
      out_.push_back(
          {prefix + node.name, &stage, told(node.cost) ? node.cost : enclosing, branches_});
    } else if constexpr (std::is_same_v<Node, Concurrent>) {
      for (std::size_t i = 0; i < node.branches.size(); ++i) {
        branches_.push_back(static_cast<int>(i));
        const Stage& branch = node.branches[i];
        std::visit(
            [&](const auto& one) { visit(branch, one, prefix + node.name + '/', enclosing); },
            branch.node);
        branches_.pop_back();
      }
    } else if constexpr (std::is_same_v<Node, SubPlan>) {
      const bool alone = count_leaves(node.stages) == 1;
      list(node.stages, prefix + node.name + '/', alone ? node.cost : Cost{});
    } else {
      list(children(node), prefix + node.name + '/', enclosing);
    }
  }

  std::vector<Leaf>& out_;
  std::vector<int> branches_;
};

}  // namespace

std::vector<Leaf> leaves(const Plan& plan) {
  std::vector<Leaf> out;
  Lister(out).list(plan.stages, "", Cost{});
  return out;
}

jit::Request request_of(const LaunchStage& stage, std::string_view arch) {
  jit::Request request;
  request.file = stage.file;
  request.instantiate = stage.entry;
  request.arch = arch;
  request.options = stage.options;
  return request;
}

std::vector<jit::Request> compile_requests(const Plan& plan, std::string_view arch) {
  std::vector<jit::Request> requests;
  for_each_leaf(plan.stages, [&](const auto& node) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(node)>, LaunchStage>) {
      requests.push_back(request_of(node, arch));
    }
  });
  return requests;
}

}  // namespace einkorn
