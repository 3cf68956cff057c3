// The cases of silu_mul and the tensors that stand for them.

#include "ops/activation/gated.h"
#include "ops/activation/silu_mul/contract.h"

namespace einkorn {

std::span<const Case> SiluMul::cases() {
#define EK_CASE(name, level, keys) {#name, level, keys},
  static constexpr Case kCases[] = {
#include "ops/activation/silu_mul/cases.inc"
  };
#undef EK_CASE
  return kCases;
}

Inputs<SiluMul::Args> SiluMul::make_inputs(const Problem& problem, Rng& rng) {
  Inputs<Args> inputs;
  Args& args = inputs.args;
  const gated::Maker make{problem, inputs.storage, rng};
  gated::make_inputs(make, args);
  args.y = make.rows(problem.cols);
  return inputs;
}

}  // namespace einkorn
