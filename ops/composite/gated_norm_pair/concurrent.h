#pragma once

// The plan of gated_norm_pair from the plans of its parts, wherever those run.

#include <tuple>

#include <einkorn/compose.h>

#include "ops/composite/gated_norm_pair/contract.h"

namespace einkorn::gated_norm_pair {

struct ConcurrentNorms {
  using Problem = GatedNormPair::Problem;
  static constexpr bool kBatchInvariant = true;  // its parts are asked, too

  /// Each part has a tiling of its own besides.
  struct Tiling {
    bool together = true;

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("together", &Tiling::together, "the norms side by side")};
    }
  };

  static std::optional<Refusal> supports(const Problem& problem, const DeviceInfo& device);
  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo& device);
  static std::optional<Refusal> validate(const Problem& problem, const Tiling& tiling,
                                         const DeviceInfo& device);
  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo& device);
};

}  // namespace einkorn::gated_norm_pair
