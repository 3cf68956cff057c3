// The cases of silu_mul_bwd and the tensors that stand for them.

#include "ops/activation/gated.h"
#include "ops/activation/silu_mul_bwd/contract.h"

namespace einkorn {

std::span<const Case> SiluMulBwd::cases() {
#define EK_CASE(name, level, keys) {#name, level, keys},
  static constexpr Case kCases[] = {
#include "ops/activation/silu_mul_bwd/cases.inc"
  };
#undef EK_CASE
  return kCases;
}

Inputs<SiluMulBwd::Args> SiluMulBwd::make_inputs(const Problem& problem, Rng& rng) {
  Inputs<Args> inputs;
  Args& args = inputs.args;
  const gated::Maker make{problem, inputs.storage, rng};
  args.dy = make.rows(problem.cols, 1);
  gated::make_inputs(make, args);
  if (problem.packing == Packing::kSplit) {
    args.dgate = make.rows(problem.cols);
    args.dup = make.rows(problem.cols);
  } else {
    args.dpacked = make.rows(2 * problem.cols);
  }
  return inputs;
}

}  // namespace einkorn
