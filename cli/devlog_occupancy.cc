#include "cli/devlog_occupancy.h"

#include <algorithm>
#include <optional>

#include <einkorn/cuda.h>
#include <einkorn/error.h>
#include <einkorn/plan.h>
#include <einkorn/registry.h>
#include <fmt/format.h>

#include "src/plan/occupancy.h"

namespace einkorn::cli {
namespace {

std::optional<DeviceInfo> device_titled(const std::string& title) {
  for (const std::string_view name : cuda::known_device_names()) {
    DeviceInfo info = cuda::known_device(name);
    if (info.name == title) return info;
  }
  return std::nullopt;
}

/// The only launch of a plan; null when it has none or several.
const LaunchStage* only_launch(const Plan& plan) {
  const std::vector<Leaf> all = leaves(plan);
  return all.size() == 1 ? std::get_if<LaunchStage>(&all[0].stage->node) : nullptr;
}

std::string occupancy_text(const OpEntry& entry, const Variant& variant,
                           const versions::Measured& measured, const DeviceInfo& device) {
  const AnyProblem problem = entry.op->parse(split_key_values(measured.problem));
  const Plan plan = variant.plan(problem.get(), device, measured.tiling);
  const LaunchStage* launch = only_launch(plan);
  const auto requests = compile_requests(plan, jit::native_arch(device.cc));
  if (launch == nullptr || requests.size() != 1) return {};
  const auto artifact = jit::compile(requests[0]);
  if (artifact->entries.empty()) return {};
  const jit::Resources& resources = artifact->entries[0].resources;
  const BlockNeeds needs{
      static_cast<int>(launch->launch.block.count()), resources.registers,
      std::int64_t{resources.static_smem} + std::int64_t{launch->launch.smem_bytes}};
  return fmt::format("{:.0f} %", occupancy(needs, device) * 100);
}

}  // namespace

std::string fill_occupancy(versions::Devlog& log) {
  if (find_arch(log.variant.arch).kind != DeviceKind::kCuda) return "not a CUDA variant";
  const std::optional<DeviceInfo> device = device_titled(log.device);
  if (!device) return fmt::format("{} is not in the table of devices", log.device);
  try {
    const auto view = registry();
    const OpEntry& entry = view->find(log.variant.op);
    const Variant& variant = view->find_variant(entry, log.variant.name());
    for (versions::DevlogRow& row : log.rows) {
      row.occupancy = occupancy_text(entry, variant, row.now, *device);
    }
  } catch (const Error& error) {
    const std::string reason = error.what();
    return reason.substr(0, reason.find('\n'));
  }
  return {};
}

}  // namespace einkorn::cli
