// The cases of gated_rms_norm and the tensors that stand for them.

#include "ops/composite/gated_rms_norm/contract.h"
#include "ops/composite/parts.h"

namespace einkorn {

std::span<const Case> GatedRmsNorm::cases() {
#define EK_CASE(name, level, keys) {#name, level, keys},
  static constexpr Case kCases[] = {
#include "ops/composite/gated_rms_norm/cases.inc"
  };
#undef EK_CASE
  return kCases;
}

Inputs<GatedRmsNorm::Args> GatedRmsNorm::make_inputs(const Problem& problem, Rng& rng) {
  Inputs<Args> inputs;
  Args& args = inputs.args;
  const composite::Maker make{
      {problem.rows, false, problem.align}, problem.cols, problem.dtype, inputs.storage, rng};
  args.eps = composite::kEps;
  args.x = make.rows(composite::kDeviation);
  args.gate = make.rows(1);
  args.weight = make.weight();
  args.y = make.rows();
  return inputs;
}

}  // namespace einkorn
