// How far a variant's gradients may be from the reference, and the inputs that make the bound mean
// something: the two belong together, for sums of mixed signs have no useful relative bound.

#include <algorithm>

#include "ops/norm/rms.h"
#include "ops/norm/rms_norm_bwd/contract.h"
#include "ops/rows.h"

namespace einkorn {
namespace {

// Inputs as mean and deviation; fill_normal keeps within 3.47 deviations (4 uniforms' sum). All but
// dresidual_out are positive, so that no sum over rows or columns cancels:
//   x in [0.257, 0.743], dy in [0.153, 0.847] * g, s = w + offset in [0.653, 1.347], m < 1.15 * g.
struct Normal {
  double mean, deviation;
};
constexpr Normal kX{0.5, 0.07};
constexpr Normal kDy{0.5, 0.1};
constexpr Normal kResidual{0, 0.2};
// Mean square 0.255: a variant that forgets eps, or adds it outside the root, is off by 3 % in r.
constexpr double kEps = 1.0 / 64;
// Not the rows' own reciprocal rms, which is near 1.9: a variant that computes it instead shows.
constexpr Normal kRstd{2, 0.1};

/// Bounds of the magnitudes that these inputs give, without g: r <= 1 / sqrt(0.257^2 + 1/64) = 3.5,
/// h * r <= 0.743 * 3.5 = 2.6, and mean(m * h * r) <= 1.15 * mean(h * r) <= 1.15 * 1 by
/// Cauchy-Schwarz; with a given rstd r <= 2.35, h * r <= 1.75, mean(m * h * r) <= 1.15 * 1.75.
struct Magnitudes {
  double first;   ///< |r * m|
  double second;  ///< |r * (h * r) * mean(m * h * r)|
};
constexpr Magnitudes kComputed{3.5 * 1.15, 3.5 * 2.6 * 1.15};
constexpr Magnitudes kGiven{2.35 * 1.15, 2.35 * 1.75 * 2.02};

}  // namespace

// Bounds of |got - want| for a variant that keeps the contract, to first order; want is the
// reference's result in double with all rounding points but the last. u is the unit roundoff of an
// output's dtype, e = 2^-24 that of f32.
//
// r is off by R e, where its sum is by C e (ops/norm/rms.h). A given rstd is exact.
//
// dx, relative to the terms of r * m - (h * r) * (r * (r * mean(m * h))): m has 2 e (w + offset,
// product), so the first term R + 3; the sum of m * h, of positive terms here, C + 3, times r
// R + 1 more, times r again R + 1, h * r R + 1, and their product 1: the second term C + 3 R + 7.
// The difference and the residual's addition have 1 e each, of at most both terms and 0.7. This
// part is absolute, by the magnitudes of make_inputs; the last rounding is u, relative.
//
// dweight, relative to the result because its terms are positive: h * r is R + 1, dy times it 1,
// and the contract asks of a variant that no term passes through more than rows / 64 + 512
// additions (64 partial sums or more, 512 steps in the second stage). The roundings of x^ to x's
// dtype may flip (ops/norm/rms.h). Then the last rounding, u of dweight's dtype. s is one addition
// and one rounding on both sides and does not differ.
//
// Below the normal range of f16 a rounding is 2^-25 whatever the value; in f32 and bf16 a variant
// may flush subnormal results to 0.
Tolerance RmsNormBwd::tolerance(const Problem& problem) {
  const double chain = rms::sum_error(problem.cols);
  const double reciprocal = problem.rstd ? 0 : rms::reciprocal_error(problem.cols);
  const auto [first, second] = problem.rstd ? kGiven : kComputed;
  const double in_f32 =
      first * (reciprocal + 3) + second * (chain + 3 * reciprocal + 7) + 2 * (first + second + 0.7);
  const bool has_f16 = problem.dtype == kF16 || problem.dweight == kF16;
  Tolerance out;
  out.absolute =
      gradient_scale(problem) * in_f32 * rms::kF32Roundoff + (has_f16 ? 0x1p-24 : 0x1p-126);
  out.relative = unit_roundoff(problem.dtype);
  if (!problem.dweight) return out;
  const double additions = static_cast<double>(problem.rows) / 64 + 512;
  out.relative =
      std::max(out.relative, rms::flips(problem.rounding) * unit_roundoff(problem.dtype) +
                                 unit_roundoff(*problem.dweight) +
                                 (reciprocal + 2 + additions) * rms::kF32Roundoff);
  return out;
}

double RmsNormBwd::gradient_scale(const Problem& problem) {
  // A column's sum is near rows / 2 and below 0.85 * 2.6 * rows; the largest f16 is 65504.
  constexpr double kRows = 16384;
  if (problem.dweight != kF16) return 1;
  return kRows / std::max(kRows, static_cast<double>(problem.rows));
}

Inputs<RmsNormBwd::Args> RmsNormBwd::make_inputs(const Problem& problem, Rng& rng) {
  Inputs<Args> inputs;
  Args& args = inputs.args;
  const cpu::RowPlacement placement{problem.rows, problem.layout == Layout::kRowStrided,
                                    problem.align};
  const double scale = gradient_scale(problem);
  const auto rows = [&](DType dtype) {
    return cpu::place_rows(placement, problem.cols, dtype, inputs.storage);
  };
  const auto vector = [&](std::int64_t size, DType dtype) {
    inputs.storage.push_back(Tensor::empty({size}, dtype, kCpuDevice));
    return inputs.storage.back().view();
  };
  args.dy = rows(problem.dtype);
  cpu::fill_normal(args.dy, scale * kDy.mean, scale * kDy.deviation, rng);
  args.x = rows(problem.dtype);
  cpu::fill_normal(args.x, kX.mean, kX.deviation, rng);
  if (problem.weight) {
    args.weight = cpu::place_vector(placement, problem.cols, *problem.weight, inputs.storage);
    cpu::fill_normal(args.weight, problem.offset == 1 ? 0 : 1, 0.1, rng);
  }
  if (problem.rstd) {
    args.rstd = vector(problem.rows, problem.dtype == kF64 ? kF64 : kF32);
    cpu::fill_normal(args.rstd, kRstd.mean, kRstd.deviation, rng);
  }
  if (problem.residual) {
    args.dresidual_out = rows(*problem.residual);
    cpu::fill_normal(args.dresidual_out, scale * kResidual.mean, scale * kResidual.deviation, rng);
  }
  args.dx = rows(problem.dtype);
  if (problem.dweight) args.dweight = vector(problem.cols, *problem.dweight);
  args.eps = kEps;
  args.offset = problem.offset;
  args.rounding = problem.rounding;
  return inputs;
}

}  // namespace einkorn
