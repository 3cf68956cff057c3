#pragma once

#include <optional>
#include <string_view>

#include <einkorn/registry.h>

namespace einkorn::detail {

/// Why a device cannot run the variant at all, whatever the problem: its arch.
std::optional<Refusal> hardware_refusal(const Variant& variant, const DeviceInfo& device);

/// Why the variant cannot run in this thread's mode, whatever device and problem.
std::optional<Refusal> mode_refusal(const Variant& variant);

/// explain() without the tiling: looks at no trials.
Selection decide(const OpEntry& entry, const void* problem, const DeviceInfo& device,
                 std::string_view choice);

}  // namespace einkorn::detail
