// Host side of silu_mul/smxx/flat_v1; the idea is told in flat_v1.cu.

#include <einkorn/expression.h>

#include "ops/activation/flat.h"
#include "ops/activation/silu_mul/contract.h"
#include "ops/activation/silu_mul/launch.h"

namespace einkorn::silu_mul::smxx {

struct FlatV1 {
  using Problem = SiluMul::Problem;

  static constexpr bool kBatchInvariant = true;  // element by element

  using Tiling = gated::FlatTiling;

  static gated::Flat flat(const Problem& problem) {
    return {problem, extent(problem), vector_width(problem), 8};
  }

  static std::optional<Refusal> supports(const Problem& problem, const DeviceInfo&) {
    return flat(problem).supports();
  }

  static std::optional<Refusal> validate(const Problem& problem, const Tiling& tiling,
                                         const DeviceInfo&) {
    return flat(problem).validate(tiling);
  }

  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo&) {
    return flat(problem).tilings();
  }

  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo& device) {
    Plan out;
    if (problem.rows == 0) return out;
    LaunchStage stage = launch_stage<SiluMul::Args, Params>(
        "flat_v1", "ops/activation/silu_mul/smxx/flat_v1.cu",
        jit::instantiate(
            "einkorn::silu_mul::smxx::flat_v1",
            {traits(problem), vector_width(problem), problem.align, tiling.threads, tiling.items}),
        cuda::line_of_blocks(flat(problem).blocks(tiling), tiling.threads, device),
        make_params(problem), bind);
    stage.needs = {.registers = registers_under_bounds(tiling.threads), .static_smem = 0};
    out.stages.emplace_back(std::move(stage));
    return out;
  }
};

extern const Variant flat_v1;
constexpr Variant flat_v1 = make_variant<SiluMul, FlatV1>(
    "smxx", "flat", 1, "cuda", "all of a thread's loads before its first use, any layout");

}  // namespace einkorn::silu_mul::smxx
