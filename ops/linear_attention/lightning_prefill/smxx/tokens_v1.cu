// lightning_prefill/smxx/tokens_v1: whole sequences token by token, told in tokens.cuh.

#include "ops/linear_attention/tokens.cuh"

namespace einkorn::lightning_prefill::smxx {

/// As prefill_tokens() has them; kWarps warps a block.
template <class Tr, int kAlign, int kLanes, int kRows, int kWarps, class Initial, class Final,
          class Checkpoint>
__global__ void __launch_bounds__(kWarps * 32, 1)
    tokens_v1(const __grid_constant__ linear_attention::TokensParams p) {
  linear_attention::prefill_tokens<Tr, kAlign, kLanes, kRows, kWarps, Initial, Final, Checkpoint>(
      p);
}

}  // namespace einkorn::lightning_prefill::smxx
