#pragma once

// Arguments of the composite ops that match.

#include "ops/composite/gated_norm_pair/contract.h"
#include "ops/composite/gated_rms_norm/contract.h"
#include "tests/unit/ops/contract_test.h"

namespace einkorn::test {

struct GatedRmsNormArguments : Arguments<GatedRmsNorm> {
  GatedRmsNormArguments() {
    args.x = make({4, 6}, kBF16);
    args.gate = make({4, 6}, kBF16);
    args.weight = make({6}, kBF16);
    args.y = make({4, 6}, kBF16);
  }
};

struct GatedNormPairArguments : Arguments<GatedNormPair> {
  GatedNormPairArguments() {
    args.gate = make({4, 6}, kBF16);
    args.up = make({4, 6}, kBF16);
    args.gate_weight = make({6}, kBF16);
    args.up_weight = make({6}, kBF16);
    args.y = make({4, 6}, kBF16);
  }
};

}  // namespace einkorn::test
