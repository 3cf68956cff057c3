#pragma once

// The variant cpu/heads_v1 of every prefill op.

#include <optional>
#include <tuple>
#include <vector>

#include <einkorn/op.h>

#include "ops/linear_attention/heads.h"

namespace einkorn::linear_attention {

template <class C>
struct HeadsV1 {
  // A sequence's value head is run alone, in an order that follows from its length.
  static constexpr bool kBatchInvariant = true;

  using Problem = typename C::Problem;

  struct Tiling {
    std::int64_t columns = 0;

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("columns", &Tiling::columns,
                              "of a value head that are a task; 0: all of them", 0,
                              double{kMaxHeadDim})};
    }
  };

  static std::optional<Refusal> supports(const Problem&, const DeviceInfo&) { return std::nullopt; }

  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo& device) {
    std::vector<Tiling> out;
    for (const std::int64_t columns : head_columns(problem, device.sm_count)) {
      out.push_back({columns});
    }
    return out;
  }

  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo&) {
    Plan plan;
    if (problem.empty()) return plan;
    plan.stages.emplace_back(host_stage<typename C::Args, Tiling>("heads_v1", tiling, &run));
    return plan;
  }

  static void run(const typename C::Args& args, const Tiling& tiling) {
    run_heads(prefill_call<C>(args), tiling.columns);
  }
};

}  // namespace einkorn::linear_attention
