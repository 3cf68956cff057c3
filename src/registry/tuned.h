#pragma once

// Known tilings of a variant, by the trials of this machine and the tunings that ship.

#include <einkorn/registry.h>

#include "src/trials/lookup.h"

namespace einkorn::detail {

/// What trials of the variant on this problem and device are found by. The variant serves it.
trials::Query tuning_query(const OpEntry& entry, const Variant& variant, const void* problem,
                           const DeviceInfo& device);

/// The best known tiling that the variant accepts for the problem; missing where none is known, or
/// the heuristic is all there is (fewer than two candidates). ValueError for a variable of the
/// environment that means nothing.
trials::Found tuned(const OpEntry& entry, const Variant& variant, const void* problem,
                    const DeviceInfo& device);

}  // namespace einkorn::detail
