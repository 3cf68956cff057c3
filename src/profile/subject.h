#pragma once

#include <cstdint>
#include <string>

#include <einkorn/op.h>
#include <einkorn/registry.h>

namespace einkorn::profile {

/// What a profile is of: one variant with one tiling, for one problem on one device. Refers to the
/// registry, which has to be held.
struct Subject {
  const OpEntry& entry;
  const Variant& variant;
  AnyProblem problem;
  std::string tiling;  ///< printed
  DeviceInfo device;
  std::uint64_t seed = 1;  ///< of the inputs

  Plan plan() const { return variant.plan(problem.get(), device, tiling); }
};

}  // namespace einkorn::profile
