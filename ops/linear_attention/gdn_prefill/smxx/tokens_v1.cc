// Host side of gdn_prefill/smxx/tokens_v1; the idea is told in tokens.cuh.

#include "ops/linear_attention/gdn_prefill/contract.h"
#include "ops/linear_attention/tokens_plan.h"

namespace einkorn::gdn_prefill::smxx {

struct TokensV1 : linear_attention::Tokens {
  static Plan plan(const GdnPrefill::Problem& problem, const Tiling& tiling,
                   const DeviceInfo& device) {
    return linear_attention::plan_tokens<GdnPrefill>(
        problem, "ops/linear_attention/gdn_prefill/smxx/tokens_v1.cu",
        "einkorn::gdn_prefill::smxx::tokens_v1", tiling, device);
  }
};

extern const Variant tokens_v1;
constexpr Variant tokens_v1 = make_variant<GdnPrefill, TokensV1>(
    "smxx", "tokens", 1, "cuda", "token by token, rows of a state in the lanes of warps");

}  // namespace einkorn::gdn_prefill::smxx
