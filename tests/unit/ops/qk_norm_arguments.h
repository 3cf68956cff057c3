#pragma once

// Arguments of qk_norm that match.

#include "ops/norm/qk_norm/contract.h"
#include "tests/unit/ops/contract_test.h"

namespace einkorn::test {

struct QkNormArguments : Arguments<QkNorm> {
  QkNormArguments() {
    args.q = make({4, 3, 6}, kBF16);
    args.k = make({4, 2, 6}, kBF16);
    args.q_weight = make({6}, kBF16);
    args.k_weight = make({6}, kBF16);
    args.q_out = make({4, 3, 6}, kBF16);
    args.k_out = make({4, 2, 6}, kBF16);
  }

  /// q and k as two column slices of one buffer of `dtype`, as a projection of q, k and v gives
  /// them, normalised in place.
  void slice_qkv(DType dtype, std::int64_t rows, std::int64_t q_heads, std::int64_t k_heads,
                 std::int64_t cols) {
    const TensorView qkv = make({rows, q_heads + 2 * k_heads, cols}, dtype);
    args.q = args.q_out = qkv.slice(1, 0, q_heads);
    args.k = args.k_out = qkv.slice(1, q_heads, q_heads + k_heads);
    args.q_weight = args.k_weight = {};
  }
};

}  // namespace einkorn::test
