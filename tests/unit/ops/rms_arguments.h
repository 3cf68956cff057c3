#pragma once

// Arguments of rms_norm and its gradients that match.

#include "ops/norm/rms_norm/contract.h"
#include "ops/norm/rms_norm_bwd/contract.h"
#include "tests/unit/ops/contract_test.h"

namespace einkorn::test {

struct RmsNormArguments : Arguments<RmsNorm> {
  RmsNormArguments() {
    args.x = make({4, 6}, kBF16);
    args.weight = make({6}, kBF16);
    args.residual = make({4, 6}, kF32);
    args.y = make({4, 6}, kBF16);
    args.residual_out = make({4, 6}, kF32);
    args.rstd = make({4}, kF32);
  }
};

struct RmsNormBwdArguments : Arguments<RmsNormBwd> {
  RmsNormBwdArguments() {
    args.dy = make({4, 6}, kBF16);
    args.x = make({4, 6}, kBF16);
    args.weight = make({6}, kBF16);
    args.rstd = make({4}, kF32);
    args.dresidual_out = make({4, 6}, kF32);
    args.dx = make({4, 6}, kBF16);
    args.dweight = make({6}, kF32);
  }
};

}  // namespace einkorn::test
