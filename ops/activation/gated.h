#pragma once

// What silu_mul and its gradients share: a problem's rules, and gate and up, or their gradients, as
// two tensors or one packed.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/match.h>
#include <einkorn/op.h>

#include "ops/activation/silu_mul/contract.h"
#include "ops/rows.h"

namespace einkorn::gated {

using Packing = SiluMul::Packing;
using Problem = SiluMul::Problem;
using Rounding = SiluMul::Rounding;

struct Scalars {
  bool clamp;
  double limit, alpha, up_offset;
  Rounding rounding;
};
template <class Args>
Scalars scalars_of(const Args& args) {
  return {args.clamp, args.limit, args.alpha, args.up_offset, args.rounding};
}

/// ValueError: out of range in f32; those of the clamped form are not looked at without it.
void check_scalars(std::string_view op, const Scalars& scalars);

/// Two tensors [..., N] or one [..., 2N], whichever the packing asks for.
struct Pair {
  struct Part {
    std::string_view name;
    const TensorView& tensor;
  };
  Role role;
  Part gate, up, packed;

  /// Errors as TensorMatcher::verify(). ValueError: a part that the packing has no use for, which
  /// would otherwise be ignored, or never written; no packing.
  void match(std::string_view op, Packing packing, cpu::RowNames& names) const;
  void add_to(cpu::RowFacts& facts, Packing packing, std::int64_t cols) const;
};
template <class Args>
Pair inputs_of(const Args& args) {
  return {Role::kInput, {"gate", args.gate}, {"up", args.up}, {"packed", args.packed}};
}
template <class Args>
Pair gradients_of(const Args& args) {
  return {Role::kOutput, {"dgate", args.dgate}, {"dup", args.dup}, {"dpacked", args.dpacked}};
}

/// What is known of a matched call but its sizes and dtype, in `problem`.
template <class Args>
void complete(const Args& args, const cpu::RowFacts& facts, Problem& problem) {
  problem.packing = args.packing;
  problem.clamp = args.clamp;
  problem.rounding = args.rounding;
  problem.layout = facts.strided() ? SiluMul::Layout::kRowStrided : SiluMul::Layout::kContiguous;
  problem.align = facts.align();
}

std::vector<Key> keys();
Problem parse(std::string_view op, const KeyValues& pairs);
std::string print(std::string_view op, const Problem& problem);

/// Makes the tensors of a case.
struct Maker {
  const Problem& problem;
  std::vector<Tensor>& storage;
  Rng& rng;

  /// Filled nearly normal around 0; 0 leaves it as it is, for outputs.
  TensorView rows(std::int64_t cols, double deviation = 0) const;
};

/// Gate and up, and the scalars, of a case. Gates to ±14 reach both tails of the sigmoid; every
/// clamp is met at limit 2. The tolerances count on these deviations.
template <class Args>
void make_inputs(const Maker& make, Args& args) {
  const Problem& problem = make.problem;
  if (problem.packing == Packing::kSplit) {
    args.gate = make.rows(problem.cols, 4);
    args.up = make.rows(problem.cols, 1);
  } else {
    args.packed = make.rows(2 * problem.cols, 1.25);
  }
  args.packing = problem.packing;
  args.clamp = problem.clamp;
  args.limit = 2;
  args.alpha = 1.702;
  args.up_offset = 1;
  args.rounding = problem.rounding;
}

}  // namespace einkorn::gated
