// Host side of gdn_decode/smxx/rows_v1; the idea is told in decode.cuh.

#include "ops/linear_attention/decode_launch.h"
#include "ops/linear_attention/gdn_decode/contract.h"

namespace einkorn::gdn_decode::smxx {

struct RowsV1 : linear_attention::DecodeRows {
  using Problem = GdnDecode::Problem;
  /// A head is computed alone, in an order and by tilings that follow from its sizes.
  static constexpr bool kBatchInvariant = true;

  static std::optional<Refusal> supports(const Problem& problem, const DeviceInfo& device) {
    return DecodeRows::supports(problem, device);
  }
  static std::optional<Refusal> validate(const Problem& problem, const Tiling& tiling,
                                         const DeviceInfo&) {
    return DecodeRows::validate(problem, tiling);
  }
  static std::vector<Tiling> tilings(const Problem& problem, const DeviceInfo& device) {
    return DecodeRows::tilings(problem, device);
  }

  static Plan plan(const Problem& problem, const Tiling& tiling, const DeviceInfo& device) {
    Plan out;
    if (problem.seqs == 0) return out;
    const linear_attention::DecodeLaunch launch =
        launch_of(GdnDecode::kUpdate, problem, tiling, device);
    LaunchStage stage = launch_stage<GdnDecode::Args, linear_attention::DecodeParams>(
        "rows_v1", "ops/linear_attention/gdn_decode/smxx/rows_v1.cu",
        launch.instantiate("einkorn::gdn_decode::smxx::rows_v1"), launch.launch, launch.params,
        [](const GdnDecode::Args& args, linear_attention::DecodeParams& params) {
          linear_attention::bind_decode(call_of(args), params);
        });
    stage.needs = launch.needs;
    out.stages.emplace_back(std::move(stage));
    return out;
  }
};

extern const Variant rows_v1;
constexpr Variant rows_v1 = make_variant<GdnDecode, RowsV1>(
    "smxx", "rows", 1, "cuda",
    "rows of a state [V, K] in the lanes of warps, read and written once");

}  // namespace einkorn::gdn_decode::smxx
