#pragma once

// Walking a plan's tree. Every walk meets the leaves in the same order, which is their index.

#include <span>
#include <type_traits>
#include <variant>

#include <einkorn/stage.h>

namespace einkorn {

template <class Node>
inline constexpr bool kIsLeaf = std::is_same_v<Node, LaunchStage> ||
                                std::is_same_v<Node, HostStage> || std::is_same_v<Node, CallStage>;

/// The nodes directly below one that is no leaf.
inline const std::vector<Stage>& children(const Sequence& node) { return node.stages; }
inline const std::vector<Stage>& children(const Concurrent& node) { return node.branches; }
inline const std::vector<Stage>& children(const SubPlan& node) { return node.stages; }

/// Calls f(leaf) for each leaf of the stages.
template <class F>
void for_each_leaf(std::span<const Stage> stages, F&& f) {
  for (const Stage& stage : stages) {
    std::visit(
        [&](const auto& node) {
          if constexpr (kIsLeaf<std::remove_cvref_t<decltype(node)>>) {
            f(node);
          } else {
            for_each_leaf(children(node), f);
          }
        },
        stage.node);
  }
}

}  // namespace einkorn
