// lightning_prefill/cpu/heads_v1: a value head at a time, token by token;
// ops/linear_attention/heads.cc.

#include "ops/linear_attention/heads_variant.h"
#include "ops/linear_attention/lightning_prefill/contract.h"

namespace einkorn::lightning_prefill::cpu {

using HeadsV1 = linear_attention::HeadsV1<LightningPrefill>;

extern const Variant heads_v1;
constexpr Variant heads_v1 = make_variant<LightningPrefill, HeadsV1>(
    "cpu", "heads", 1, "cpp",
    "token by token, blocks of a state's columns in the first cache, all threads");

}  // namespace einkorn::lightning_prefill::cpu
