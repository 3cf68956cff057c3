#pragma once

// The plan of gated_rms_norm from the plans of its parts, wherever those run.

#include <tuple>

#include <einkorn/compose.h>

#include "ops/composite/gated_rms_norm/contract.h"

namespace einkorn::gated_rms_norm {

struct Sequence {
  using Problem = GatedRmsNorm::Problem;
  static constexpr bool kBatchInvariant = true;  // its parts are asked, too

  /// Each part has a tiling of its own.
  struct Tiling {
    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() { return std::tuple{}; }
  };

  static std::optional<Refusal> supports(const Problem& problem, const DeviceInfo& device);
  static std::vector<Tiling> tilings(const Problem&, const DeviceInfo&) { return {Tiling{}}; }
  static Plan plan(const Problem& problem, const Tiling&, const DeviceInfo& device);
};

}  // namespace einkorn::gated_rms_norm
