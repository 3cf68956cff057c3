#include "src/registry/planned.h"

#include <algorithm>

#include <einkorn/batch_invariant.h>
#include <einkorn/error.h>

#include "src/trials/source.h"

namespace einkorn::detail {
namespace {

/// The device sources of a variant for this problem, whatever the tiling: a variant has one file.
std::vector<std::string> device_files(const Variant& variant, const void* problem,
                                      const DeviceInfo& device) {
  std::vector<std::string> files;
  if (device.device.kind == DeviceKind::kCpu) return files;
  for (const jit::Request& request : compile_requests(variant.plan(problem, device, {}), {})) {
    if (std::ranges::find(files, request.file) == files.end()) files.push_back(request.file);
  }
  return files;
}

}  // namespace

trials::Query tuning_query(const OpEntry& entry, const Variant& variant, const void* problem,
                           const DeviceInfo& device) {
  trials::Query query;
  query.op = entry.op->name;
  query.variant = variant.id();
  query.problem = entry.op->print(problem);
  for (const Key& key : entry.op->keys()) {
    query.keys.push_back({key.name, key.type == "int", key.default_value});
  }
  query.device = device.name;
  query.cc = device.cc;
  query.sm_count = device.sm_count;
  // The tuner replays graphs on a GPU, and calls a CPU's functions one after the other.
  if (device.device.kind == DeviceKind::kCpu) query.mode = "eager";
  query.source = variant.source_digest;
  if (query.source.empty()) {
    query.source = trials::source_digest(query.variant, device_files(variant, problem, device),
                                         reinterpret_cast<const void*>(variant.code.plan));
  }
  return query;
}

trials::Found tuned_tiling(const OpEntry& entry, const Variant& variant, const void* problem,
                           const DeviceInfo& device) {
  // A trial of one number of rows would give a row other sums than a trial of another number.
  if (batch_invariant_mode()) return {};
  // One candidate leaves nothing to know, and the reference is not tuned.
  if (variant.tilings(problem, device).size() < 2) return {};
  return trials::tuned(tuning_query(entry, variant, problem, device), [&](std::string_view tiling) {
    try {
      return !variant.validate(problem, device, tiling);
    } catch (const Error&) {
      return false;  // written by a version whose tilings had other fields
    }
  });
}

std::string chosen_tiling(const OpEntry& entry, const Variant& variant, const void* problem,
                          const DeviceInfo& device) {
  const trials::Found found = tuned_tiling(entry, variant, problem, device);
  if (found.quality != trials::Quality::kMissing) return found.tiling;
  return variant.tilings(problem, device).front();
}

Plan planned(const OpEntry& entry, const Variant& variant, const void* problem,
             const DeviceInfo& device) {
  return variant.plan(problem, device, tuned_tiling(entry, variant, problem, device).tiling);
}

}  // namespace einkorn::detail
