// The cases of gated_norm_pair and the tensors that stand for them.

#include "ops/composite/gated_norm_pair/contract.h"
#include "ops/composite/parts.h"

namespace einkorn {

std::span<const Case> GatedNormPair::cases() {
#define EK_CASE(name, level, keys) {#name, level, keys},
  static constexpr Case kCases[] = {
#include "ops/composite/gated_norm_pair/cases.inc"
  };
#undef EK_CASE
  return kCases;
}

Inputs<GatedNormPair::Args> GatedNormPair::make_inputs(const Problem& problem, Rng& rng) {
  Inputs<Args> inputs;
  Args& args = inputs.args;
  const composite::Maker make{
      {problem.rows, false, problem.align}, problem.cols, problem.dtype, inputs.storage, rng};
  args.eps = composite::kEps;
  args.gate = make.rows(composite::kDeviation);
  args.up = make.rows(composite::kDeviation);
  args.gate_weight = make.weight();
  args.up_weight = make.weight();
  args.y = make.rows();
  return inputs;
}

}  // namespace einkorn
