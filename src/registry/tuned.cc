#include "src/registry/tuned.h"

#include <string>
#include <variant>
#include <vector>

#include <einkorn/error.h>

#include "src/trials/source.h"

namespace einkorn::detail {
namespace {

std::vector<std::string> device_files(const Plan& plan) {
  std::vector<std::string> out;
  for (const Leaf& leaf : leaves(plan)) {
    if (const auto* launch = std::get_if<LaunchStage>(&leaf.stage->node)) {
      out.push_back(launch->file);
    }
  }
  return out;
}

bool accepts(const Variant& variant, const void* problem, const DeviceInfo& device,
             std::string_view tiling) {
  try {
    return !variant.validate(problem, device, tiling);
  } catch (const Error&) {
    return false;  // written by another version of the variant, or by hand
  }
}

}  // namespace

trials::Query tuning_query(const OpEntry& entry, const Variant& variant, const void* problem,
                           const DeviceInfo& device) {
  const bool gpu = device.device.kind == DeviceKind::kCuda;
  trials::Query out{.op = std::string(entry.op->name),
                    .variant = variant.id(),
                    .problem = entry.op->print(problem),
                    .keys = {},
                    .device = device.name,
                    .cc = device.cc,
                    .sm_count = device.sm_count,
                    .source = {},
                    .mode = gpu ? "graph" : "eager",
                    .l2 = "cold"};
  for (const Key& key : entry.op->keys()) {
    out.keys.push_back({key.name, key.type == "int", key.default_value});
  }
  const auto files = device_files(variant.plan(problem, device, {}));
  // A function of the variant's own translation unit.
  out.source =
      trials::source_digest(out.variant, files, reinterpret_cast<const void*>(variant.plan));
  return out;
}

trials::Found tuned(const OpEntry& entry, const Variant& variant, const void* problem,
                    const DeviceInfo& device) {
  if (variant.tilings(problem, device).size() < 2) return {};
  return trials::tuned(tuning_query(entry, variant, problem, device), [&](std::string_view tiling) {
    return accepts(variant, problem, device, tiling);
  });
}

}  // namespace einkorn::detail
