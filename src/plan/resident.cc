// Whether stages can be on the device together.

#include <algorithm>

#include <einkorn/plan.h>
#include <fmt/format.h>

#include "src/plan/occupancy.h"
#include "src/plan/walk.h"

namespace einkorn {
namespace {

// Since sm_80 the system takes a kibibyte of shared memory for each block (programming guide,
// compute capabilities).
constexpr std::int64_t kSystemSmem = 1024;
constexpr int kRegistersPerSm = 65536;

Residency residency_of(const LaunchStage& stage) {
  const auto threads = static_cast<int>(stage.launch.block.count());
  Residency out;
  out.threads = (threads + 31) / 32 * 32;
  out.smem = kSystemSmem + std::int64_t{stage.launch.smem_bytes} +
             std::max<std::int64_t>(stage.needs.static_smem, 0);
  out.registers = stage.needs.registers * out.threads;
  return out;
}

/// Multiprocessors that all blocks of a launch take when each holds as many as fit.
std::int64_t multiprocessors(const LaunchStage& stage, const DeviceInfo& device) {
  const int fit = resident_blocks(
      {static_cast<int>(stage.launch.block.count()), stage.needs.registers,
       std::int64_t{stage.launch.smem_bytes} + std::max<std::int64_t>(stage.needs.static_smem, 0)},
      device);
  const auto blocks = static_cast<std::int64_t>(stage.launch.grid.count());
  return fit < 1 ? device.sm_count : (blocks + fit - 1) / fit;
}

/// Of the largest launch of a branch, at most all.
std::int64_t multiprocessors(const Stage& branch, const DeviceInfo& device) {
  std::int64_t most = 0;
  for_each_leaf({&branch, 1}, [&](const auto& node) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(node)>, LaunchStage>) {
      most = std::max(most, multiprocessors(node, device));
    }
  });
  return std::min<std::int64_t>(most, device.sm_count);
}

/// Branches of few blocks are side by side on multiprocessors of their own.
bool fits_side_by_side(const Concurrent& node, const DeviceInfo& device) {
  std::int64_t together = 0;
  for (const Stage& branch : node.branches) together += multiprocessors(branch, device);
  return together <= device.sm_count;
}

/// Threads on a CPU device are no resource of a multiprocessor.
std::optional<Refusal> too_much(std::string_view name, std::string_view what, std::int64_t together,
                                std::int64_t available) {
  if (available <= 0 || together <= available) return std::nullopt;
  return Refusal{
      fmt::format("{}: a block of each branch side by side takes {} {}, a multiprocessor has {}",
                  name, together, what, available)};
}

std::optional<Refusal> node_refusal(const Stage& stage, const DeviceInfo& device);

std::optional<Refusal> stages_refusal(const std::vector<Stage>& stages, const DeviceInfo& device) {
  for (const Stage& stage : stages) {
    if (auto refusal = node_refusal(stage, device)) return refusal;
  }
  return std::nullopt;
}

std::optional<Refusal> node_refusal(const Stage& stage, const DeviceInfo& device) {
  const bool cuda = device.device.kind == DeviceKind::kCuda;
  return std::visit(
      [&](const auto& node) -> std::optional<Refusal> {
        using Node = std::remove_cvref_t<decltype(node)>;
        if constexpr (std::is_same_v<Node, LaunchStage>) {
          if (cuda) return std::nullopt;
          return Refusal{fmt::format("{}: a kernel launch needs a CUDA device, got {}", node.name,
                                     to_string(device.device))};
        } else if constexpr (std::is_same_v<Node, HostStage>) {
          if (!cuda) return std::nullopt;
          return Refusal{
              fmt::format("{}: a CPU task does not run in the order of a CUDA stream", node.name)};
        } else if constexpr (std::is_same_v<Node, CallStage>) {
          return std::nullopt;
        } else {
          if constexpr (std::is_same_v<Node, Concurrent>) {
            if (cuda) {
              if (auto refusal = joint_refusal(node, device)) return refusal;
            }
          }
          return stages_refusal(children(node), device);
        }
      },
      stage.node);
}

}  // namespace

Residency residency(const Stage& stage) {
  Residency out;
  const auto widen = [&](const Residency& one) {
    out.threads = std::max(out.threads, one.threads);
    out.smem = std::max(out.smem, one.smem);
    out.registers = std::max(out.registers, one.registers);
  };
  std::visit(
      [&](const auto& node) {
        using Node = std::remove_cvref_t<decltype(node)>;
        if constexpr (std::is_same_v<Node, LaunchStage>) {
          out = residency_of(node);
        } else if constexpr (std::is_same_v<Node, Concurrent>) {
          for (const Stage& branch : node.branches) {
            const Residency one = residency(branch);
            out.threads += one.threads;
            out.smem += one.smem;
            out.registers += one.registers;
          }
        } else if constexpr (!kIsLeaf<Node>) {
          for (const Stage& child : children(node)) widen(residency(child));
        }
      },
      stage.node);
  return out;
}

namespace {

std::optional<Refusal> resources_refusal(const Concurrent& node, const DeviceInfo& device) {
  if (fits_side_by_side(node, device)) return std::nullopt;
  const Residency all = residency(node);
  if (auto refusal = too_much(node.name, "threads", all.threads, device.max_threads_per_sm)) {
    return refusal;
  }
  if (auto refusal = too_much(node.name, "bytes of shared memory", all.smem, device.smem_per_sm)) {
    return refusal;
  }
  return too_much(node.name, "registers", all.registers, kRegistersPerSm);
}

}  // namespace

std::optional<Refusal> joint_refusal(const Concurrent& node, const DeviceInfo& device) {
  if (auto refusal = resources_refusal(node, device)) return refusal;
  return node.joint == nullptr ? std::nullopt : node.joint(node.branches, device);
}

std::optional<Refusal> plan_refusal(const Plan& plan, const DeviceInfo& device) {
  return stages_refusal(plan.stages, device);
}

}  // namespace einkorn
