// Host side of kda_prefill/smxx/tokens_v1; the idea is told in tokens.cuh.

#include "ops/linear_attention/kda_prefill/contract.h"
#include "ops/linear_attention/tokens_plan.h"

namespace einkorn::kda_prefill::smxx {

struct TokensV1 : linear_attention::Tokens {
  static Plan plan(const KdaPrefill::Problem& problem, const Tiling& tiling,
                   const DeviceInfo& device) {
    return linear_attention::plan_tokens<KdaPrefill>(
        problem, "ops/linear_attention/kda_prefill/smxx/tokens_v1.cu",
        "einkorn::kda_prefill::smxx::tokens_v1", tiling, device);
  }
};

extern const Variant tokens_v1;
constexpr Variant tokens_v1 = make_variant<KdaPrefill, TokensV1>(
    "smxx", "tokens", 1, "cuda", "token by token, rows of a state in the lanes of warps");

}  // namespace einkorn::kda_prefill::smxx
