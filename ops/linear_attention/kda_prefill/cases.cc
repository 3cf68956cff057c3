// The cases of kda_prefill and the tensors that stand for them.

#include "ops/linear_attention/kda_prefill/contract.h"

namespace einkorn {

std::span<const Case> KdaPrefill::cases() {
#define EK_CASE(name, level, keys) {#name, level, keys},
  static constexpr Case kCases[] = {
#include "ops/linear_attention/kda_prefill/cases.inc"
  };
#undef EK_CASE
  return kCases;
}

Inputs<KdaPrefill::Args> KdaPrefill::make_inputs(const Problem& problem, Rng& rng) {
  return linear_attention::make_prefill_inputs<KdaPrefill>(kKind, problem, rng);
}

}  // namespace einkorn
