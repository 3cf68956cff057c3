#pragma once

// What rms_norm and its gradients share: the rules of their scalars, dtypes and vectors, and bounds
// of errors.

#include <cstdint>
#include <optional>
#include <string_view>

#include <einkorn/match.h>
#include <einkorn/op.h>

#include "ops/norm/rms_norm/contract.h"
#include "ops/rows.h"

namespace einkorn::rms {

using Rounding = RmsNorm::Rounding;

/// ValueError: out of range in f32; no rounding.
void check_scalars(std::string_view op, double eps, int offset, Rounding rounding);

/// A vector [cols], or one number a row in f32 (f64 beside f64), if it is there. Errors as
/// TensorMatcher::verify().
void match_weight(std::string_view op, const TensorView& weight, cpu::RowNames& names);
void match_rstd(std::string_view op, const TensorView& rstd, cpu::RowNames& names);

/// TypeError: f64 goes with f64 only; no model mixes it, and no kernel would read it.
void check_all_or_no_f64(std::string_view op, DType x, std::string_view argument,
                         std::optional<DType> dtype);

/// The dtypes of a parsed problem; `residual` names the argument whose dtype that key is.
template <class Problem>
void check_dtypes(std::string_view op, const Problem& problem, std::string_view residual) {
  cpu::check_dtype(op, "dtype", problem.dtype);
  if (problem.weight) cpu::check_dtype(op, "weight", *problem.weight);
  if (problem.residual) cpu::check_dtype(op, "residual", *problem.residual);
  check_all_or_no_f64(op, problem.dtype, "weight", problem.weight);
  check_all_or_no_f64(op, problem.dtype, residual, problem.residual);
}

template <class Problem>
cpu::LayoutRules layout_rules(std::string_view op, const Problem& problem) {
  cpu::LayoutRules rules{
      .op = op, .rows = problem.rows, .strided = problem.layout == RmsNorm::Layout::kRowStrided};
  rules.add_rows(problem.cols, problem.dtype);
  if (problem.weight) rules.add_vector(*problem.weight);
  if (problem.residual) rules.add_rows(problem.cols, *problem.residual);
  return rules;
}

/// What is known of a matched call's form, in `problem`.
template <class Args, class Problem>
void complete(const Args& args, const cpu::RowFacts& facts, Problem& problem) {
  problem.rstd = args.rstd.defined();
  problem.offset = args.offset;
  problem.rounding = args.rounding;
  problem.layout = facts.strided() ? RmsNorm::Layout::kRowStrided : RmsNorm::Layout::kContiguous;
  problem.align = facts.align();
}

/// Bounds of errors in f32, relative, in units of its roundoff e = 2^-24. Squares are summed in
/// chains of at most 128 terms, the partial sums as a tree, so the (all positive) sum is off by
/// 128 + log2(cols), and 1 each for square, mean and eps; its reciprocal root by half of that, and
/// by 4 for a hardware rsqrt (2 ulp).
inline constexpr double kF32Roundoff = 0x1p-24;
double sum_error(std::int64_t cols);
double reciprocal_error(std::int64_t cols);

/// How far the product h * r may be off by its roundings to x's dtype, in units u of its roundoff.
/// Where the reference rounds, the variant's value, off by some e, may fall on the other side of a
/// tie and come out one ulp away: 2 u. llama rounds once. none rounds r (2 u), then the product,
/// each side within u of values that are themselves apart (2 u). Such flips are rare, but legal.
double flips(Rounding rounding);

}  // namespace einkorn::rms
