#include <memory>
#include <new>
#include <utility>

#include <einkorn/error.h>
#include <einkorn/plan.h>
#include <fmt/format.h>

#include "src/cuda/stream_memory.h"
#include "src/jit/batch.h"
#include "src/plan/plan_run.h"
#include "src/plan/request.h"
#include "src/plan/walk.h"

namespace einkorn {
namespace {

/// The compiled kernel must not take more than was told before it was compiled: that is what
/// tilings were accepted by.
void check_needs(const LaunchStage& stage, const jit::Request& request) {
  if (stage.needs.registers == 0 && stage.needs.static_smem < 0) return;
  const jit::Program program = jit::compile(request);  // in memory since it was loaded
  const jit::Resources& takes = program->entries.front().resources;
  const auto fits = [](std::int64_t taken, std::int64_t told, bool known) {
    return !known || taken <= told;
  };
  EK_ICHECK(fits(takes.registers, stage.needs.registers, stage.needs.registers > 0) &&
                fits(takes.static_smem, stage.needs.static_smem, stage.needs.static_smem >= 0),
            fmt::format("{}: expected at most {} registers and {} bytes of static shared memory, "
                        "the compiled kernel takes {} and {}",
                        stage.name, stage.needs.registers, stage.needs.static_smem, takes.registers,
                        takes.static_smem));
}

cuda::Kernel load(const LaunchStage& stage, const DeviceInfo& device) {
  EK_ICHECK(stage.params.size() <= kMaxParamBytes,
            fmt::format("{}: {} bytes of parameters", stage.name, stage.params.size()));
  EK_CHECK(device.present, ErrorKind::kRuntime,
           fmt::format("{}: {} is not in this machine\n"
                       "  hint: for a device that is not here, compile_requests() and prediction "
                       "work, running does not",
                       stage.name, device.name));
  const jit::Request request = request_of(stage, jit::native_arch(device.cc));
  cuda::Kernel kernel = jit::load(request);
  check_needs(stage, request);
  kernel.prepare(stage.launch, device.device.index);
  return kernel;
}

struct AlignedDelete {
  void operator()(std::byte* data) const {
    ::operator delete(data, std::align_val_t{kWorkspaceAlign});
  }
};

std::unique_ptr<std::byte, AlignedDelete> host_memory(std::size_t bytes) {
  return std::unique_ptr<std::byte, AlignedDelete>(
      static_cast<std::byte*>(::operator new(bytes, std::align_val_t{kWorkspaceAlign})));
}

}  // namespace

Executable::Executable(Plan plan, const DeviceInfo& device) : plan_(std::move(plan)) {
  if (const auto refusal = plan_refusal(plan_, device)) {
    throw_error(ErrorKind::kNotImplemented, "plan: " + refusal->reason);
  }
  if (device.present && device.device.kind == DeviceKind::kCuda) {
    jit::compile_together(compile_requests(plan_, jit::native_arch(device.cc)));
  }
  for_each_leaf(plan_.stages, [&](const auto& node) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(node)>, LaunchStage>) {
      kernels_.push_back(load(node, device));
    } else {
      kernels_.emplace_back();
    }
  });
  plain_ = plan_.workspace_bytes == 0 && plan_.stages.size() == 1 &&
           std::holds_alternative<LaunchStage>(plan_.stages[0].node);
}

void Executable::run(const void* args, Stream stream) const {
  if (plain_) {
    PlanRun::launch(std::get<LaunchStage>(plan_.stages[0].node), kernels_[0], args, nullptr,
                    stream);
    return;
  }
  PlanRun walk(*this, PlanRun::kAll);
  if (plan_.workspace_bytes == 0) {
    walk.run(args, nullptr, stream);
  } else if (stream.device.kind == DeviceKind::kCuda) {
    const cuda::StreamMemory memory(plan_.workspace_bytes, stream);
    walk.run(args, memory.data(), stream);
  } else {
    const auto memory = host_memory(plan_.workspace_bytes);
    walk.run(args, memory.get(), stream);
  }
}

void Executable::run(const void* args, Stream stream, Workspace workspace) const {
  run_leaf(PlanRun::kAll, args, stream, workspace);
}

void Executable::run_leaf(std::size_t leaf, const void* args, Stream stream,
                          Workspace workspace) const {
  EK_CHECK(workspace.bytes >= plan_.workspace_bytes, ErrorKind::kValue,
           fmt::format("workspace: expected at least {} bytes, got {}", plan_.workspace_bytes,
                       workspace.bytes));
  EK_CHECK(reinterpret_cast<std::uintptr_t>(workspace.data) % kWorkspaceAlign == 0,
           ErrorKind::kValue,
           fmt::format("workspace: expected an address that {} divides, got {}", kWorkspaceAlign,
                       fmt::ptr(workspace.data)));
  PlanRun(*this, leaf).run(args, workspace.data, stream);
}

const cuda::Kernel* Executable::kernel(std::size_t leaf) const {
  EK_CHECK(leaf < kernels_.size(), ErrorKind::kValue,
           fmt::format("leaf: expected less than {}, got {}", kernels_.size(), leaf));
  return kernels_[leaf] ? &kernels_[leaf] : nullptr;
}

}  // namespace einkorn
