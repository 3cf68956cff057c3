// The cases of gdn_decode and the tensors that stand for them.

#include "ops/linear_attention/gdn_decode/contract.h"

namespace einkorn {

std::span<const Case> GdnDecode::cases() {
#define EK_CASE(name, level, keys) {#name, level, keys},
  static constexpr Case kCases[] = {
#include "ops/linear_attention/gdn_decode/cases.inc"
  };
#undef EK_CASE
  return kCases;
}

Inputs<GdnDecode::Args> GdnDecode::make_inputs(const Problem& problem, Rng& rng) {
  return linear_attention::make_decode_inputs<GdnDecode>(problem, rng);
}

}  // namespace einkorn
