#pragma once

#include <string>

#include <einkorn/registry.h>

#include "src/trials/lookup.h"

namespace einkorn::detail {

/// What is asked of the trials about a variant and a problem.
trials::Query tuning_query(const OpEntry& entry, const Variant& variant, const void* problem,
                           const DeviceInfo& device);

/// The tiling that trials know to be best, as long as it is valid for the problem. Missing: the
/// heuristic's is to be taken.
trials::Found tuned_tiling(const OpEntry& entry, const Variant& variant, const void* problem,
                           const DeviceInfo& device);

/// That tiling, or the heuristic's, printed.
std::string chosen_tiling(const OpEntry& entry, const Variant& variant, const void* problem,
                          const DeviceInfo& device);

/// The variant's plan with that tiling, or the heuristic's.
Plan planned(const OpEntry& entry, const Variant& variant, const void* problem,
             const DeviceInfo& device);

}  // namespace einkorn::detail
