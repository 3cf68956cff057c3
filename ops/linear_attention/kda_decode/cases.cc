// The cases of kda_decode and the tensors that stand for them.

#include "ops/linear_attention/kda_decode/contract.h"

namespace einkorn {

std::span<const Case> KdaDecode::cases() {
#define EK_CASE(name, level, keys) {#name, level, keys},
  static constexpr Case kCases[] = {
#include "ops/linear_attention/kda_decode/cases.inc"
  };
#undef EK_CASE
  return kCases;
}

Inputs<KdaDecode::Args> KdaDecode::make_inputs(const Problem& problem, Rng& rng) {
  return linear_attention::make_decode_inputs<KdaDecode>(problem, rng);
}

}  // namespace einkorn
