#pragma once

// What runs for one problem: a tree of stages, and that tree made ready to run.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/cuda.h>
#include <einkorn/device.h>
#include <einkorn/jit.h>
#include <einkorn/stage.h>

namespace einkorn {

/// What a problem costs whatever computes it, and what a variant really does.
struct Work {
  double useful_flops = 0;
  double executed_flops = 0;  ///< padding and recomputation counted
  double min_bytes = 0;       ///< every input read once, every output written once
  double est_bytes = 0;       ///< with re-reads, partial results and workspace
  int launches = 1;
  Unit unit = Unit::kF32;  ///< what does the flops
};

/// Stages in order, each after the one before. No stages: nothing to do, as for an empty tensor.
struct Plan {
  std::vector<Stage> stages;
  std::string tiling;               ///< printed parameters it was built from
  std::size_t workspace_bytes = 0;  ///< scratch memory of one run, on the plan's device
};

/// One launch or CPU task of a plan, in the order in which they are queued.
struct Leaf {
  std::string path;           ///< "norms/gate/rows_v1": the names of the nodes down to it
  const Stage* stage;         ///< a LaunchStage, HostStage or CallStage
  Cost cost;                  ///< its own, or its share of what encloses it; zeros: not told
  std::vector<int> branches;  ///< for each enclosing Concurrent, from outside in: which branch
};

/// Points into `plan`, which has to outlive the result.
std::vector<Leaf> leaves(const Plan& plan);

/// What one block of a stage (of the largest of its launches) holds on a multiprocessor.
struct Residency {
  int threads = 0;
  std::int64_t smem = 0;  ///< bytes, static and dynamic; a kibibyte a block is the system's
  int registers = 0;      ///< of all its threads; 0: not told
};
Residency residency(const Stage& stage);

/// Why branches cannot run side by side on the device: together they have more blocks than its
/// multiprocessors hold apart, and a block of each does not fit on one; or their own joint rule
/// refuses.
std::optional<Refusal> joint_refusal(const Concurrent& node, const DeviceInfo& device);

/// The same for every Concurrent of a plan, and what a plan may not have at all: CPU tasks on a
/// CUDA device, launches on a CPU.
std::optional<Refusal> plan_refusal(const Plan& plan, const DeviceInfo& device);

/// Scratch memory that a caller lends for one run.
struct Workspace {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// A plan with its kernels compiled and loaded; immutable, so threads share it.
class Executable {
 public:
  /// Compiles and loads what the plan launches on `device` (a CPU plan needs nothing).
  /// NotImplementedError: plan_refusal(). RuntimeError: the device is not here, a compilation
  /// failed, or a kernel takes more than its stage says it needs.
  Executable(Plan plan, const DeviceInfo& device);

  /// Runs all stages with these arguments. CUDA work is queued on `stream`, and a workspace is
  /// taken from the stream's own memory pool for the time of the run.
  void run(const void* args, Stream stream) const;

  /// The same in memory of the caller's, aligned to kWorkspaceAlign. ValueError when it is less
  /// than plan().workspace_bytes.
  void run(const void* args, Stream stream, Workspace workspace) const;

  /// Runs one leaf, by its index in leaves(): for timing stage by stage. What the stages before it
  /// would have left in the workspace is not there unless they ran with the same one.
  void run_leaf(std::size_t leaf, const void* args, Stream stream, Workspace workspace) const;

  const Plan& plan() const { return plan_; }

  /// The kernel of a leaf; null for a CPU task.
  const cuda::Kernel* kernel(std::size_t leaf) const;

 private:
  friend class PlanRun;
  Plan plan_;
  bool plain_ = false;                 // one launch, without a workspace: nothing to walk
  std::vector<cuda::Kernel> kernels_;  // one for each leaf, empty for a CPU task
};

/// The compile requests of a plan's launches for one architecture: what a pack or CI compiles when
/// no device is there.
std::vector<jit::Request> compile_requests(const Plan& plan, std::string_view arch);

}  // namespace einkorn
