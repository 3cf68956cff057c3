// gdn_prefill/cpu/heads_v1: a value head at a time, token by token; ops/linear_attention/heads.cc.

#include "ops/linear_attention/gdn_prefill/contract.h"
#include "ops/linear_attention/heads_variant.h"

namespace einkorn::gdn_prefill::cpu {

using HeadsV1 = linear_attention::HeadsV1<GdnPrefill>;

extern const Variant heads_v1;
constexpr Variant heads_v1 = make_variant<GdnPrefill, HeadsV1>(
    "cpu", "heads", 1, "cpp",
    "token by token, blocks of a state's columns in the first cache, all threads");

}  // namespace einkorn::gdn_prefill::cpu
