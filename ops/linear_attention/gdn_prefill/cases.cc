// The cases of gdn_prefill and the tensors that stand for them.

#include "ops/linear_attention/gdn_prefill/contract.h"

namespace einkorn {

std::span<const Case> GdnPrefill::cases() {
#define EK_CASE(name, level, keys) {#name, level, keys},
  static constexpr Case kCases[] = {
#include "ops/linear_attention/gdn_prefill/cases.inc"
  };
#undef EK_CASE
  return kCases;
}

Inputs<GdnPrefill::Args> GdnPrefill::make_inputs(const Problem& problem, Rng& rng) {
  return linear_attention::make_prefill_inputs<GdnPrefill>(kKind, problem, rng);
}

}  // namespace einkorn
