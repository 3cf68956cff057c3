// The cases of silu_mul and the tensors that stand for them.

#include "ops/activation/silu_mul/contract.h"
#include "ops/rows.h"

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
  const cpu::RowPlacement placement{problem.rows, problem.layout == Layout::kRowStrided,
                                    problem.align};
  const auto rows = [&](std::int64_t cols, double deviation) {
    const TensorView tensor = cpu::place_rows(placement, cols, problem.dtype, inputs.storage);
    if (deviation > 0) cpu::fill_normal(tensor, 0, deviation, rng);
    return tensor;
  };
  // Gates to ±14 reach both tails of the sigmoid; every clamp is met at limit 2.
  if (problem.packing == Packing::kSplit) {
    args.gate = rows(problem.cols, 4);
    args.up = rows(problem.cols, 1);
  } else {
    args.packed = rows(2 * problem.cols, 1.25);
  }
  args.y = rows(problem.cols, 0);
  args.packing = problem.packing;
  args.clamp = problem.clamp;
  args.limit = 2;
  args.alpha = 1.702;
  args.up_offset = 1;
  args.rounding = problem.rounding;
  return inputs;
}

}  // namespace einkorn
