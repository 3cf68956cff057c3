// lightning_decode/cpu/heads_v1; the idea is told in decode_cpu.cc.

#include "ops/linear_attention/decode_cpu.h"
#include "ops/linear_attention/lightning_decode/contract.h"

namespace einkorn::lightning_decode::cpu {

struct HeadsV1 : linear_attention::DecodeHeads {
  using Problem = LightningDecode::Problem;
  static constexpr bool kBatchInvariant = true;  // a head is computed alone

  static std::optional<Refusal> supports(const Problem&, const DeviceInfo&) { return std::nullopt; }
  static std::vector<Tiling> tilings(const Problem&, const DeviceInfo&) { return {Tiling{}}; }

  static Plan plan(const Problem& problem, const Tiling&, const DeviceInfo&) {
    Plan out;
    if (problem.seqs == 0) return out;
    out.stages.emplace_back(host_stage<LightningDecode::Args, None>(
        "heads_v1", None{}, [](const LightningDecode::Args& args, const None&) {
          linear_attention::decode_heads(call_of(args));
        }));
    return out;
  }
};

extern const Variant heads_v1;
constexpr Variant heads_v1 = make_variant<LightningDecode, HeadsV1>(
    "cpu", "heads", 1, "cpp", "a value head at a time through the first cache, all threads");

}  // namespace einkorn::lightning_decode::cpu
