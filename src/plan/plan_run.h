#pragma once

#include <cstddef>
#include <vector>

#include <einkorn/plan.h>

namespace einkorn {

/// One run of an executable: walks the tree, queues each leaf.
class PlanRun {
 public:
  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);

  /// `only`: the index of the one leaf to run, or kAll.
  PlanRun(const Executable& executable, std::size_t only) : executable_(executable), only_(only) {}

  void run(const void* args, std::byte* workspace, Stream stream);

  /// One launch.
  static void launch(const LaunchStage& stage, const cuda::Kernel& kernel, const void* args,
                     std::byte* workspace, Stream stream);

 private:
  void stages(const std::vector<Stage>& list, const void* args, std::byte* workspace,
              Stream stream);
  void stage(const Stage& one, const void* args, std::byte* workspace, Stream stream);
  void enter(const LaunchStage& node, const void* args, std::byte* workspace, Stream stream);
  void enter(const HostStage& node, const void* args, std::byte* workspace, Stream stream);
  void enter(const CallStage& node, const void* args, std::byte* workspace, Stream stream);
  void enter(const Sequence& node, const void* args, std::byte* workspace, Stream stream);
  void enter(const Concurrent& node, const void* args, std::byte* workspace, Stream stream);
  void enter(const SubPlan& node, const void* args, std::byte* workspace, Stream stream);

  /// Counts a leaf; false when it is not to run.
  bool take_leaf() {
    const std::size_t index = next_++;
    return only_ == kAll || only_ == index;
  }

  const Executable& executable_;
  std::size_t only_;
  std::size_t next_ = 0;
};

}  // namespace einkorn
