// Host side of kda_prefill/smxx/chunk_v1; the idea is told in chunk_v1.cu.

#include <vector>

#include <fmt/format.h>

#include "ops/linear_attention/chunk_plan.h"
#include "ops/linear_attention/kda_prefill/contract.h"

namespace einkorn::kda_prefill::smxx {

struct ChunkV1 {
  using Problem = KdaPrefill::Problem;

  struct Tiling {
    int resident = 2;  ///< blocks that prepare chunks on each multiprocessor
    int stages = 2;    ///< chunks that a block of the recurrence holds

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{
          field("resident", &Tiling::resident, "preparing blocks on a multiprocessor"),
          field("stages", &Tiling::stages, "chunks that a block holds")};
    }
  };

  static constexpr std::int64_t kStageBytes = 66048 + 16384;  // a record, and V

  static std::optional<Refusal> validate(const Problem&, const Tiling& tiling,
                                         const DeviceInfo& device) {
    if (tiling.resident < 1 || tiling.resident > 2) {
      return Refusal{fmt::format("resident {} is neither 1 nor 2", tiling.resident)};
    }
    if (tiling.stages < 1 || tiling.stages > 2) {
      return Refusal{fmt::format("stages {} is neither 1 nor 2", tiling.stages)};
    }
    const std::int64_t needed = tiling.stages * kStageBytes;
    if (needed <= device.smem_per_block_optin - 1024) return std::nullopt;
    return Refusal{
        fmt::format("{} bytes of shared memory > {}", needed, device.smem_per_block_optin - 1024)};
  }
  static std::optional<Refusal> supports(const Problem& problem, const DeviceInfo& device) {
    if (auto refusal = linear_attention::refuse_chunks(problem)) return refusal;
    if (!tilings(problem, device).empty()) return std::nullopt;
    return validate(problem, {.resident = 1, .stages = 1}, device);
  }
  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo& device) {
    std::vector<Tiling> out;
    for (const int stages : {2, 1}) {
      for (const int resident : {2, 1}) {
        const Tiling one{.resident = resident, .stages = stages};
        if (!validate(problem, one, device)) out.push_back(one);
      }
    }
    return out;
  }
  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo& device) {
    return linear_attention::plan_chunks<KdaPrefill>(
        problem, {.file = "ops/linear_attention/kda_prefill/smxx/chunk_v1.cu",
                  .name = "einkorn::kda_prefill::smxx::chunk_v1",
                  .resident = tiling.resident,
                  .stages = tiling.stages,
                  .halves = 1,
                  .threads = 256,
                  .smem = static_cast<std::uint32_t>(tiling.stages * kStageBytes),
                  .static_smem = 128,
                  .pdl = device.cc >= 90});
  }
};

extern const Variant chunk_v1;
constexpr Variant chunk_v1 = make_variant<KdaPrefill, ChunkV1>(
    "smxx", "chunk", 1, "cuda", "chunks prepared side by side, then one after the other by mma");

}  // namespace einkorn::kda_prefill::smxx
