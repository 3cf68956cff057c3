#include <einkorn/compose.h>

#include <einkorn/registry.h>
#include <fmt/format.h>

#include "src/registry/planned.h"

namespace einkorn::detail {

SubPlan select_sub_plan(std::string name, std::string_view op, const void* problem,
                        const DeviceInfo& device) {
  const auto view = registry();
  const OpEntry& entry = view->find(op);
  const Variant& variant = select(entry, problem, device);
  Plan plan = planned(entry, variant, problem, device);
  SubPlan out;
  out.name = std::move(name);
  out.variant = variant.id();
  out.tiling = std::move(plan.tiling);
  out.stages = std::move(plan.stages);
  out.workspace_bytes = plan.workspace_bytes;
  return out;
}

std::optional<Refusal> sub_plan_refusal(std::string_view op, const void* problem,
                                        const DeviceInfo& device) {
  const auto view = registry();
  const OpEntry& entry = view->find(op);
  for (const Variant* variant : entry.variants) {
    if (!refusal_of(*variant, problem, device)) return std::nullopt;
  }
  return Refusal{fmt::format("no variant of {} serves {}", op, entry.op->print(problem))};
}

}  // namespace einkorn::detail
