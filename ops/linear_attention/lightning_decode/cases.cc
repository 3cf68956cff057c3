// The cases of lightning_decode and the tensors that stand for them.

#include "ops/linear_attention/lightning_decode/contract.h"

namespace einkorn {

std::span<const Case> LightningDecode::cases() {
#define EK_CASE(name, level, keys) {#name, level, keys},
  static constexpr Case kCases[] = {
#include "ops/linear_attention/lightning_decode/cases.inc"
  };
#undef EK_CASE
  return kCases;
}

Inputs<LightningDecode::Args> LightningDecode::make_inputs(const Problem& problem, Rng& rng) {
  return linear_attention::make_decode_inputs<LightningDecode>(problem, rng);
}

}  // namespace einkorn
