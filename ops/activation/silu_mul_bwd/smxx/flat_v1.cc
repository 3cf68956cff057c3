// Host side of silu_mul_bwd/smxx/flat_v1; the idea is told in flat_v1.cu.

#include <einkorn/expression.h>
#include <fmt/format.h>

#include "ops/activation/flat.h"
#include "ops/activation/silu_mul_bwd/contract.h"
#include "ops/activation/silu_mul_bwd/launch.h"

namespace einkorn::silu_mul_bwd::smxx {

struct FlatV1 {
  using Problem = SiluMulBwd::Problem;

  // Each element by the same instructions, wherever it is. (No sum of products is left to the
  // compiler to contract or not.)
  static constexpr bool kBatchInvariant = true;

  using Tiling = gated::FlatTiling;

  static gated::Flat flat(const Problem& problem) {
    return {problem, extent(problem), vector_width(problem), 4};
  }

  static std::optional<Refusal> supports(const Problem& problem, const DeviceInfo&) {
    return flat(problem).supports();
  }

  static std::optional<Refusal> validate(const Problem& problem, const Tiling& tiling,
                                         const DeviceInfo&) {
    if (auto refusal = flat(problem).validate(tiling)) return refusal;
    // Interleaved f32 and f16 pairs double what a vector takes: 12 registers an item at most, and
    // some 40 beside them, under the 64 of 1024 threads.
    if (tiling.threads > 512 && tiling.items > 1) {
      return Refusal{fmt::format("items {} > 1 with threads {} > 512: a thread has 64 registers",
                                 tiling.items, tiling.threads)};
    }
    return std::nullopt;
  }

  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo&) {
    return flat(problem).tilings();
  }

  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo& device) {
    Plan out;
    if (problem.rows == 0) return out;
    LaunchStage stage = launch_stage<SiluMulBwd::Args, Params>(
        "flat_v1", "ops/activation/silu_mul_bwd/smxx/flat_v1.cu",
        jit::instantiate(
            "einkorn::silu_mul_bwd::smxx::flat_v1",
            {traits(problem), vector_width(problem), problem.align, tiling.threads, tiling.items}),
        cuda::line_of_blocks(flat(problem).blocks(tiling), tiling.threads, device),
        make_params(problem), bind);
    stage.needs = {.registers = registers_under_bounds(tiling.threads), .static_smem = 0};
    out.stages.emplace_back(std::move(stage));
    return out;
  }
};

extern const Variant flat_v1;
constexpr Variant flat_v1 = make_variant<SiluMulBwd, FlatV1>(
    "smxx", "flat", 1, "cuda", "all of a thread's loads before its first use, any layout");

}  // namespace einkorn::silu_mul_bwd::smxx
