// Host side of lightning_prefill/sm90/chunk_v1; the idea is told in chunk_v1.cu.

#include <vector>

#include <fmt/format.h>

#include "ops/linear_attention/decay_plan.h"
#include "ops/linear_attention/lightning_prefill/contract.h"

namespace einkorn::lightning_prefill::sm90 {

struct ChunkV1 {
  using Problem = LightningPrefill::Problem;

  struct Tiling {
    int stages = 4;  ///< chunks that a block holds

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("stages", &Tiling::stages, "chunks that a block holds")};
    }
  };

  static std::optional<Refusal> validate(const Problem&, const Tiling& tiling, const DeviceInfo&) {
    if (tiling.stages == 3 || tiling.stages == 4) return std::nullopt;
    return Refusal{fmt::format("stages {} is neither 3 nor 4", tiling.stages)};
  }
  static std::optional<Refusal> supports(const Problem& problem, const DeviceInfo&) {
    return linear_attention::refuse_chunks(problem);
  }
  static std::vector<Tiling> tilings(const Problem&, const DeviceInfo&) {
    return {{.stages = 4}, {.stages = 3}};
  }
  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo&) {
    // Stages of five tiles, three tiles, and the barriers, powers and norms.
    constexpr std::uint32_t kTile = 8192;
    constexpr std::uint32_t kControl = 9216;
    const auto stages = static_cast<std::uint32_t>(tiling.stages);
    linear_attention::DecayKernels kernels;
    kernels.file = "ops/linear_attention/lightning_prefill/sm90/chunk_v1.cu";
    kernels.name = "einkorn::lightning_prefill::sm90::chunk_v1";
    kernels.halves = 2;
    kernels.threads = 256;
    kernels.smem = (5 * stages + 3) * kTile + kControl;
    kernels.tiling = {tiling.stages};
    return linear_attention::plan_decay<LightningPrefill>(problem, kernels);
  }
};

extern const Variant chunk_v1;
constexpr Variant chunk_v1 = make_variant<LightningPrefill, ChunkV1>(
    "sm90", "chunk", 1, "cuda", "chunks in one pass over q, k, v and o by wgmma");

}  // namespace einkorn::lightning_prefill::sm90
