#pragma once

// Arguments of silu_mul and its gradients that match.

#include "ops/activation/silu_mul/contract.h"
#include "ops/activation/silu_mul_bwd/contract.h"
#include "tests/unit/ops/contract_test.h"

namespace einkorn::test {

struct SiluMulArguments : Arguments<SiluMul> {
  SiluMulArguments() {
    args.gate = make({4, 6}, kBF16);
    args.up = make({4, 6}, kBF16);
    args.y = make({4, 6}, kBF16);
  }
  void pack(SiluMul::Packing packing) {
    args.gate = args.up = {};
    args.packed = make({4, 12}, kBF16);
    args.packing = packing;
  }
};

struct SiluMulBwdArguments : Arguments<SiluMulBwd> {
  SiluMulBwdArguments() {
    args.dy = make({4, 6}, kBF16);
    args.gate = make({4, 6}, kBF16);
    args.up = make({4, 6}, kBF16);
    args.dgate = make({4, 6}, kBF16);
    args.dup = make({4, 6}, kBF16);
  }
  void pack(SiluMulBwd::Packing packing) {
    args.gate = args.up = args.dgate = args.dup = {};
    args.packed = make({4, 12}, kBF16);
    args.dpacked = make({4, 12}, kBF16);
    args.packing = packing;
  }
};

}  // namespace einkorn::test
