#pragma once

#include <einkorn/registry.h>

namespace einkorn::detail {

/// The variant's plan with the tiling that is known to be best for the problem on the device, or
/// the heuristic's.
Plan planned(const OpEntry& entry, const Variant& variant, const void* problem,
             const DeviceInfo& device);

}  // namespace einkorn::detail
