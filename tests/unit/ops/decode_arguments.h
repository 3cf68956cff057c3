#pragma once

// Arguments of the decode ops that match: 2 sequences of 3 tokens, 2 value heads a head of q, all
// that may be given, a place in the pool for each token's state.

#include "ops/linear_attention/gdn_decode/contract.h"
#include "ops/linear_attention/kda_decode/contract.h"
#include "ops/linear_attention/lightning_decode/contract.h"
#include "tests/unit/ops/contract_test.h"

namespace einkorn::test {

template <class C>
struct DecodeArguments : Arguments<C> {
  using Arguments<C>::args;
  using Arguments<C>::make;

  DecodeArguments() {
    args.q = make({2, 3, 1, 4}, kBF16);
    args.k = make({2, 3, 1, 4}, kBF16);
    args.v = make({2, 3, 2, 6}, kBF16);
    if constexpr (requires { args.g; }) {
      args.g = kChannel ? make({2, 3, 2, 4}, kF32) : make({2, 3, 2}, kF32);
      args.beta = make({2, 3, 2}, kF16);
      args.a_log = make({2}, kF32);
      args.dt_bias = kChannel ? make({2, 4}, kF32) : make({2}, kF32);
      args.gate = linear_attention::Gate::kSoftplus;
    } else {
      args.decay = make({2}, kF32);
    }
    args.state_indices = make({2, 3}, kI32);
    args.accepted = make({2}, kI32);
    args.state = make({7, 2, 6, 4}, kF32);
    args.o = make({2, 3, 2, 6}, kBF16);
  }

 private:
  static constexpr bool kChannel = C::kUpdate == linear_attention::Update::kChannelDelta;
};

}  // namespace einkorn::test
