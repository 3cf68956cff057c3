#include "src/plan/plan_run.h"

#include <cstring>
#include <variant>

#include <einkorn/error.h>

#include "src/cuda/side_streams.h"

namespace einkorn {

void PlanRun::run(const void* args, std::byte* workspace, Stream stream) {
  stages(executable_.plan_.stages, args, workspace, stream);
}

void PlanRun::launch(const LaunchStage& stage, const cuda::Kernel& kernel, const void* args,
                     std::byte* workspace, Stream stream) {
  // 64: what a tensor map among the parameters needs.
  alignas(64) std::byte params[kMaxParamBytes];
  std::memcpy(params, stage.params.data(), stage.params.size());
  if (stage.bind != nullptr) stage.bind(args, workspace, params);
  // The kernel's one parameter: the driver copies as many bytes as it has.
  void* arguments[] = {params};
  kernel.launch(stage.launch, stream, arguments);
}

void PlanRun::stages(const std::vector<Stage>& list, const void* args, std::byte* workspace,
                     Stream stream) {
  for (const Stage& one : list) stage(one, args, workspace, stream);
}

void PlanRun::stage(const Stage& one, const void* args, std::byte* workspace, Stream stream) {
  std::visit([&](const auto& node) { enter(node, args, workspace, stream); }, one.node);
}

void PlanRun::enter(const LaunchStage& node, const void* args, std::byte* workspace,
                    Stream stream) {
  const std::size_t index = next_;
  if (take_leaf()) launch(node, executable_.kernels_[index], args, workspace, stream);
}

void PlanRun::enter(const HostStage& node, const void* args, std::byte* workspace, Stream) {
  if (take_leaf()) node.run(args, workspace, node.state.data());
}

void PlanRun::enter(const CallStage& node, const void* args, std::byte*, Stream stream) {
  if (take_leaf()) node.run(args, stream);
}

void PlanRun::enter(const Sequence& node, const void* args, std::byte* workspace, Stream stream) {
  stages(node.stages, args, workspace, stream);
}

void PlanRun::enter(const Concurrent& node, const void* args, std::byte* workspace, Stream stream) {
  const bool side = stream.device.kind == DeviceKind::kCuda && only_ == kAll;
  if (!side || node.branches.size() < 2) {
    stages(node.branches, args, workspace, stream);
    return;
  }
  cuda::SideStreams streams(node.branches.size() - 1, stream);
  stage(node.branches[0], args, workspace, stream);
  for (std::size_t i = 1; i < node.branches.size(); ++i) {
    stage(node.branches[i], args, workspace, streams[i - 1]);
  }
  streams.join();
}

void PlanRun::enter(const SubPlan& node, const void* args, std::byte* workspace, Stream stream) {
  alignas(64) std::byte inner[kMaxArgsBytes];
  if (node.project) node.project(args, workspace, inner);
  stages(node.stages, node.project ? inner : args,
         workspace == nullptr ? nullptr : workspace + node.workspace_offset, stream);
}

}  // namespace einkorn
