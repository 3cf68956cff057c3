// The cases of lightning_prefill and the tensors that stand for them.

#include "ops/linear_attention/lightning_prefill/contract.h"

namespace einkorn {

std::span<const Case> LightningPrefill::cases() {
#define EK_CASE(name, level, keys) {#name, level, keys},
  static constexpr Case kCases[] = {
#include "ops/linear_attention/lightning_prefill/cases.inc"
  };
#undef EK_CASE
  return kCases;
}

Inputs<LightningPrefill::Args> LightningPrefill::make_inputs(const Problem& problem, Rng& rng) {
  return linear_attention::make_prefill_inputs<LightningPrefill>(kKind, problem, rng);
}

}  // namespace einkorn
