// The cases of silu_mul_bwd and the tensors that stand for them.

#include "ops/activation/silu_mul_bwd/contract.h"
#include "ops/rows.h"

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
  const cpu::RowPlacement placement{problem.rows, problem.layout == Layout::kRowStrided,
                                    problem.align};
  const auto rows = [&](std::int64_t cols, double deviation) {
    const TensorView tensor = cpu::place_rows(placement, cols, problem.dtype, inputs.storage);
    if (deviation > 0) cpu::fill_normal(tensor, 0, deviation, rng);
    return tensor;
  };
  // Gates to ±14 reach both tails of the sigmoid; every clamp is met at limit 2. tolerance() counts
  // on these deviations.
  args.dy = rows(problem.cols, 1);
  if (problem.packing == Packing::kSplit) {
    args.gate = rows(problem.cols, 4);
    args.up = rows(problem.cols, 1);
    args.dgate = rows(problem.cols, 0);
    args.dup = rows(problem.cols, 0);
  } else {
    args.packed = rows(2 * problem.cols, 1.25);
    args.dpacked = rows(2 * problem.cols, 0);
  }
  args.packing = problem.packing;
  args.clamp = problem.clamp;
  args.limit = 2;
  args.alpha = 1.702;
  args.up_offset = 1;
  args.rounding = problem.rounding;
  return inputs;
}

}  // namespace einkorn
