// The cases of rms_norm and the tensors that stand for them.

#include "ops/norm/rms_norm/contract.h"
#include "ops/rows.h"

namespace einkorn {

std::span<const Case> RmsNorm::cases() {
#define EK_CASE(name, level, keys) {#name, level, keys},
  static constexpr Case kCases[] = {
#include "ops/norm/rms_norm/cases.inc"
  };
#undef EK_CASE
  return kCases;
}

Inputs<RmsNorm::Args> RmsNorm::make_inputs(const Problem& problem, Rng& rng) {
  Inputs<Args> inputs;
  Args& args = inputs.args;
  const cpu::RowPlacement placement{problem.rows, problem.layout == Layout::kRowStrided,
                                    problem.align};
  const auto rows = [&](DType dtype) {
    return cpu::place_rows(placement, problem.cols, dtype, inputs.storage);
  };
  // Mean square 1/64 against eps 1e-3: a variant that forgets eps, or adds it outside the root, is
  // off by 3 % and fails in every dtype.
  constexpr double kDeviation = 0.125;
  args.eps = 1e-3;
  args.x = rows(problem.dtype);
  cpu::fill_normal(args.x, 0, kDeviation, rng);
  if (problem.weight) {
    args.weight = cpu::place_vector(placement, problem.cols, *problem.weight, inputs.storage);
    cpu::fill_normal(args.weight, problem.offset == 1 ? 0 : 1, 0.2, rng);
  }
  if (problem.residual) {
    args.residual = rows(*problem.residual);
    cpu::fill_normal(args.residual, 0, kDeviation, rng);
  }
  args.y = rows(problem.dtype);
  if (problem.residual && problem.residual_out) args.residual_out = rows(*problem.residual);
  if (problem.rstd) {
    inputs.storage.push_back(
        Tensor::empty({problem.rows}, problem.dtype == kF64 ? kF64 : kF32, kCpuDevice));
    args.rstd = inputs.storage.back();
  }
  args.offset = problem.offset;
  args.rounding = problem.rounding;
  return inputs;
}

}  // namespace einkorn
