#include "ops/activation/silu_mul/contract.h"

#include <string>

#include <einkorn/dispatch.h>
#include <einkorn/match.h>

#include "ops/activation/gated.h"
#include "ops/rows.h"

namespace einkorn {

SiluMul::Problem SiluMul::match(const Args& args) {
  cpu::RowNames names(kMaxCols);
  const gated::Pair inputs = gated::inputs_of(args);
  inputs.match(kName, args.packing, names);
  cpu::match_rows(kName, Role::kOutput, "y", args.y, names, names.cols, names.dtype);
  gated::check_scalars(kName, gated::scalars_of(args));

  Problem problem;
  problem.rows = cpu::matched_rows(kName, "y", args.y, names, kMaxRows);
  problem.cols = names.cols.value();
  problem.dtype = names.dtype.value();
  const cpu::Memory y("y", args.y);
  if (args.packing == Packing::kSplit) {
    cpu::check_apart(kName, y, {"gate", args.gate}, Overlap::kExactOrNone);
    cpu::check_apart(kName, y, {"up", args.up}, Overlap::kExactOrNone);
  } else {
    cpu::check_apart(kName, y, {"packed", args.packed});
  }
  cpu::RowFacts facts(problem.rows);
  inputs.add_to(facts, args.packing, problem.cols);
  facts.add_rows(args.y, problem.cols);
  gated::complete(args, facts, problem);
  return problem;
}

std::vector<Key> SiluMul::keys() { return gated::keys(); }

SiluMul::Problem SiluMul::parse(const KeyValues& pairs) { return gated::parse(kName, pairs); }

std::string SiluMul::print(const Problem& problem) { return gated::print(kName, problem); }

std::optional<Refusal> SiluMul::for_reference_only(const Problem& problem) {
  return cpu::f64_refusal(problem.dtype);
}

Work SiluMul::work(const Problem& problem) {
  const auto elements = static_cast<double>(problem.rows) * static_cast<double>(problem.cols);
  Work work;
  // exp counts as one, then add, divide, two products; clamped: three comparisons, alpha, offset.
  const int flops = 5 + (problem.clamp ? 5 : 0);
  work.useful_flops = work.executed_flops = elements * flops;
  work.min_bytes = work.est_bytes = elements * 3 * bits(problem.dtype) / 8;
  work.launches = problem.rows > 0 ? 1 : 0;
  return work;
}

// Bounds of |got - want| for a variant that keeps the contract; want is the reference's result with
// all rounding points of the contract but the last, in double. u is the unit roundoff of the dtype,
// e = 2^-24 that of f32, z = alpha * g.
//
// In f32, t = exp(-z) is off by 1 e * |z| for the rounding of z (clamped form), 2 e * |z| for an
// exp made of exp2(z * log2(e)) (product and constant), and 4 e for the hardware's exp2 (2 ulp).
// sigmoid = 1 / (1 + t) inherits at most all of that and adds 2 e for a fast reciprocal and 1 e for
// the sum; two products and u' + up_offset add 3 e. Relative to the result: (3 |z| + 10) e.
// For |z| <= 16 that is below 64 e = 2^-18. For z > 16, t < 2^-23 is nothing beside 1 and the bound
// holds a fortiori. For z < -16 the value itself is small: |g| sigmoid(z) (3 |z| + 10) e is largest
// at z = -16, where it is 2^-37.2 / alpha for alpha >= 1; |u'| + |up_offset| <= 5 for make_inputs
// gives the absolute part, 2^-34. It also covers t = inf, where f32 has 0 for a value under 2^-120.
//
// Roundings to the dtype: silu rounds g * sigmoid(z) on both sides, which may fall on two sides of
// a tie: one ulp, 2 u. The last rounding, only the variant's, is u. Below the normal range of f16
// one ulp is 2^-24 whatever the value: one times |u'| for the flip and one for the last rounding.
Tolerance SiluMul::tolerance(const Problem& problem) {
  const double u = unit_roundoff(problem.dtype);
  const double flips = problem.rounding == Rounding::kSilu ? 2 : 0;
  return {(flips + 1) * u + 0x1p-18, problem.dtype == kF16 ? 0x1p-21 : 0x1p-34};
}

namespace silu_mul {

void run(const SiluMul::Args& args, Stream stream, std::string_view variant) {
  dispatch<SiluMul>(args, stream, variant);
}

void prepare(const SiluMul::Args& args, Stream stream, std::string_view variant) {
  einkorn::prepare<SiluMul>(args, stream, variant);
}

// NOLINTNEXTLINE(readability-identifier-naming): the name that ops/variants.inc expands to
extern const OpDef definition;
constexpr OpDef definition =
    make_op<SiluMul>([](const void* args, Stream stream, std::string_view variant) {
      run(*static_cast<const SiluMul::Args*>(args), stream, variant);
    });

}  // namespace silu_mul
}  // namespace einkorn
