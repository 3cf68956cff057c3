// Host side of gdn_prefill/sm90/chunk_v1; the idea is told in chunk_v1.cu.

#include <vector>

#include "ops/linear_attention/chunk_plan.h"
#include "ops/linear_attention/gdn_prefill/contract.h"

namespace einkorn::gdn_prefill::sm90 {

struct ChunkV1 {
  using Problem = GdnPrefill::Problem;

  struct Tiling {
    int resident = 3;  ///< blocks that prepare chunks on each multiprocessor

    bool operator==(const Tiling&) const = default;
    static constexpr auto fields() {
      return std::tuple{
          field("resident", &Tiling::resident, "preparing blocks on a multiprocessor")};
    }
  };

  static std::optional<Refusal> supports(const Problem& problem, const DeviceInfo&) {
    return linear_attention::refuse_chunks(problem);
  }
  static std::vector<Tiling> tilings(const Problem&, const DeviceInfo&) {
    return {{.resident = 3}, {.resident = 2}};
  }
  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo&) {
    return linear_attention::plan_chunks<GdnPrefill>(
        problem, {.file = "ops/linear_attention/gdn_prefill/sm90/chunk_v1.cu",
                  .name = "einkorn::gdn_prefill::sm90::chunk_v1",
                  .resident = tiling.resident,
                  .stages = 3,
                  .halves = 2,
                  .threads = 192,
                  .smem = 232448});
  }
};

extern const Variant chunk_v1;
constexpr Variant chunk_v1 = make_variant<GdnPrefill, ChunkV1>(
    "sm90", "chunk", 1, "cuda", "chunks prepared side by side, then one after the other by wgmma");

}  // namespace einkorn::gdn_prefill::sm90
