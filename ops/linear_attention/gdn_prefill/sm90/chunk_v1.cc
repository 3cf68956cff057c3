// Host side of gdn_prefill/sm90/chunk_v1; the idea is told in chunk_v1.cu.

#include "ops/linear_attention/chunk_plan.h"
#include "ops/linear_attention/gdn_prefill/contract.h"

namespace einkorn::gdn_prefill::sm90 {

struct ChunkV1 : linear_attention::ChunkWgmma {
  static std::vector<Tiling> tilings(const GdnPrefill::Problem& problem, const DeviceInfo& device) {
    return head_tilings(problem, device);
  }
  static std::optional<Refusal> validate(const GdnPrefill::Problem& problem, const Tiling& tiling,
                                         const DeviceInfo& device) {
    return validate_head(problem, tiling, device);
  }
  static Plan plan(const GdnPrefill::Problem& problem, const Tiling& tiling, const DeviceInfo&) {
    return linear_attention::plan_chunks<GdnPrefill>(
        problem, head_kernels("ops/linear_attention/gdn_prefill/sm90/chunk_v1.cu",
                              "einkorn::gdn_prefill::sm90::chunk_v1", tiling));
  }
};

extern const Variant chunk_v1;
constexpr Variant chunk_v1 = make_variant<GdnPrefill, ChunkV1>(
    "sm90", "chunk", 1, "cuda", "chunks prepared side by side, then one after the other by wgmma");

}  // namespace einkorn::gdn_prefill::sm90
