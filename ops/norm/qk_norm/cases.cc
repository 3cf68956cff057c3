// The cases of qk_norm and the tensors that stand for them.

#include "ops/norm/qk_norm/contract.h"
#include "ops/rows.h"

namespace einkorn {

std::span<const Case> QkNorm::cases() {
#define EK_CASE(name, level, keys) {#name, level, keys},
  static constexpr Case kCases[] = {
#include "ops/norm/qk_norm/cases.inc"
  };
#undef EK_CASE
  return kCases;
}

Inputs<QkNorm::Args> QkNorm::make_inputs(const Problem& problem, Rng& rng) {
  Inputs<Args> inputs;
  Args& args = inputs.args;
  const cpu::RowPlacement placement{problem.rows, problem.layout == Layout::kRowStrided,
                                    problem.align};
  // Mean squares 1/64 and 1/16 against eps 1e-3: a variant that forgets eps is off by 1 to 3 %, and
  // one that takes a head of q for one of k shows. So do the weights, each drawn for itself.
  const auto heads = [&](std::int64_t count, double deviation) {
    const TensorView tokens =
        cpu::place_rows(placement, count * problem.cols, problem.dtype, inputs.storage);
    if (deviation > 0) cpu::fill_normal(tokens, 0, deviation, rng);
    const std::int64_t shape[] = {problem.rows, count, problem.cols};
    const std::int64_t strides[] = {tokens.stride(0), problem.cols, 1};
    return TensorView(tokens.data(), problem.dtype, shape, strides, kCpuDevice);
  };
  const auto weight = [&] {
    const TensorView vector =
        cpu::place_vector(placement, problem.cols, *problem.weight, inputs.storage);
    cpu::fill_normal(vector, problem.offset == 1 ? 0 : 1, 0.2, rng);
    return vector;
  };
  args.eps = 1e-3;
  args.q = heads(problem.q_heads, 0.125);
  args.k = heads(problem.k_heads, 0.25);
  if (problem.weight) {
    args.q_weight = weight();
    args.k_weight = weight();
  }
  args.q_out = heads(problem.q_heads, 0);
  args.k_out = heads(problem.k_heads, 0);
  args.offset = problem.offset;
  args.rounding = problem.rounding;
  return inputs;
}

}  // namespace einkorn
