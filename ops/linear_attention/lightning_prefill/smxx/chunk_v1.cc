// Host side of lightning_prefill/smxx/chunk_v1; the idea is told in chunk_v1.cu.

#include <vector>

#include <fmt/format.h>

#include "ops/linear_attention/decay_plan.h"
#include "ops/linear_attention/lightning_prefill/contract.h"

namespace einkorn::lightning_prefill::smxx {

struct ChunkV1 {
  using Problem = LightningPrefill::Problem;

  struct Tiling {
    int halves = 2;  ///< blocks for a value head
    int stages = 2;  ///< chunks that a block holds

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{field("halves", &Tiling::halves, "blocks for a value head"),
                        field("stages", &Tiling::stages, "chunks that a block holds")};
    }
  };

  /// Stages of q, k and the block's part of V, then P, then powers and norms.
  static std::int64_t smem_bytes(const Tiling& tiling) {
    constexpr std::int64_t kTile = 8192;
    return (tiling.stages * (4 + 2 / tiling.halves) + 1) * kTile + 2048;
  }
  static std::optional<Refusal> validate(const Problem&, const Tiling& tiling,
                                         const DeviceInfo& device) {
    if (tiling.halves < 1 || tiling.halves > 2) {
      return Refusal{fmt::format("halves {} is neither 1 nor 2", tiling.halves)};
    }
    if (tiling.stages < 1 || tiling.stages > 2) {
      return Refusal{fmt::format("stages {} is neither 1 nor 2", tiling.stages)};
    }
    const std::int64_t most = device.smem_per_block_optin - 1024;
    if (smem_bytes(tiling) <= most) return std::nullopt;
    return Refusal{fmt::format("{} bytes of shared memory > {}", smem_bytes(tiling), most)};
  }
  static std::optional<Refusal> supports(const Problem& problem, const DeviceInfo& device) {
    if (auto refusal = linear_attention::refuse_chunks(problem)) return refusal;
    if (!tilings(problem, device).empty()) return std::nullopt;
    return validate(problem, {.halves = 2, .stages = 1}, device);
  }
  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo& device) {
    std::vector<Tiling> out;
    for (const int stages : {2, 1}) {
      for (const int halves : {2, 1}) {
        const Tiling one{.halves = halves, .stages = stages};
        if (!validate(problem, one, device)) out.push_back(one);
      }
    }
    return out;
  }
  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo& device) {
    linear_attention::DecayKernels kernels;
    kernels.file = "ops/linear_attention/lightning_prefill/smxx/chunk_v1.cu";
    kernels.name = "einkorn::lightning_prefill::smxx::chunk_v1";
    kernels.halves = tiling.halves;
    kernels.threads = 256 / tiling.halves;
    kernels.smem = static_cast<std::uint32_t>(smem_bytes(tiling));
    kernels.static_smem = 128;
    kernels.pdl = device.cc >= 90;
    kernels.tiling = {tiling.halves, tiling.stages};
    return linear_attention::plan_decay<LightningPrefill>(problem, kernels);
  }
};

extern const Variant chunk_v1;
constexpr Variant chunk_v1 = make_variant<LightningPrefill, ChunkV1>(
    "smxx", "chunk", 1, "cuda", "chunks in one pass over q, k, v and o by mma");

}  // namespace einkorn::lightning_prefill::smxx
