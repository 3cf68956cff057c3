#include "ops/activation/silu_mul_bwd/contract.h"

#include <string>

#include <einkorn/dispatch.h>
#include <einkorn/match.h>

#include "ops/activation/gated.h"
#include "ops/rows.h"

namespace einkorn {
namespace {

using Args = SiluMulBwd::Args;
using Packing = SiluMulBwd::Packing;
using Problem = SiluMulBwd::Problem;

constexpr std::string_view kName = SiluMulBwd::kName;

void check_overlaps(const Args& args) {
  using cpu::Memory;
  const Memory dy("dy", args.dy);
  if (args.packing != Packing::kSplit) {
    const Memory dpacked("dpacked", args.dpacked);
    cpu::check_apart(kName, dpacked, {"packed", args.packed}, Overlap::kExactOrNone);
    cpu::check_apart(kName, dpacked, dy);
    return;
  }
  const Memory gate("gate", args.gate);
  const Memory up("up", args.up);
  const Memory dgate("dgate", args.dgate);
  const Memory dup("dup", args.dup);
  for (const Memory* output : {&dgate, &dup}) {
    for (const Memory* input : {&dy, &gate, &up}) {
      cpu::check_apart(kName, *output, *input, Overlap::kExactOrNone);
    }
  }
  cpu::check_apart(kName, dup, dgate);
}

}  // namespace

Problem SiluMulBwd::match(const Args& args) {
  cpu::RowNames names(kMaxCols);
  cpu::match_rows(kName, Role::kInput, "dy", args.dy, names, names.cols, names.dtype);
  const gated::Pair inputs = gated::inputs_of(args);
  const gated::Pair outputs = gated::gradients_of(args);
  inputs.match(kName, args.packing, names);
  outputs.match(kName, args.packing, names);
  gated::check_scalars(kName, gated::scalars_of(args));

  Problem problem;
  problem.rows = cpu::matched_rows(kName, "dy", args.dy, names, kMaxRows);
  problem.cols = names.cols.value();
  problem.dtype = names.dtype.value();
  check_overlaps(args);
  cpu::RowFacts facts(problem.rows);
  facts.add_rows(args.dy, problem.cols);
  inputs.add_to(facts, args.packing, problem.cols);
  outputs.add_to(facts, args.packing, problem.cols);
  gated::complete(args, facts, problem);
  return problem;
}

std::vector<Key> SiluMulBwd::keys() { return gated::keys(); }

Problem SiluMulBwd::parse(const KeyValues& pairs) { return gated::parse(kName, pairs); }

std::string SiluMulBwd::print(const Problem& problem) { return gated::print(kName, problem); }

std::optional<Refusal> SiluMulBwd::for_reference_only(const Problem& problem) {
  return cpu::f64_refusal(problem.dtype);
}

Work SiluMulBwd::work(const Problem& problem) {
  const auto elements = static_cast<double>(problem.rows) * static_cast<double>(problem.cols);
  Work work;
  // The sigmoid: exp counts as one, then add, divide. dup: two products. dgate: 1 - s, two products
  // and a sum for the derivative, two more products. Clamped: three comparisons, alpha, offset.
  const int flops = 3 + 2 + 6 + (problem.clamp ? 5 : 0);
  work.useful_flops = work.executed_flops = elements * flops;
  // dy, gate, up; dgate, dup.
  work.min_bytes = work.est_bytes = elements * 5 * bits(problem.dtype) / 8;
  work.launches = problem.rows > 0 ? 1 : 0;
  return work;
}

// Bounds of |got - want| for a variant that keeps the contract; want is the reference's result with
// all rounding points of the contract but the last, in double. u is the unit roundoff of the dtype,
// e = 2^-24 that of f32 (2^-53 where f64 is computed in itself), z = alpha * g'.
//
// In f32, t = exp(-z) is off by (5 + 2.5 |z|) e: z's own rounding (clamped form), and what
// src/cuda/device/common/math.cuh says of the hardware's. s = 1 / (1 + t) adds 1 e for the sum and
// 3 e for a fast reciprocal: (9 + 2.5 |z|) e for z < 0; for z >= 0 t's part counts t / (1 + t)
// times only, at most 2.5 e, so 6.5 e.
//
// dup: two products more, relative (11 + 2.5 |z|) e; below 64 e = 2^-18 for z >= -16.
//
// dgate = dy * s * q * (u' + up_offset), q = 1 + z (1 - s). With z > 0, 1 - s = t s is off by
// (12.5 + 2.5 z) e of itself, so z (1 - s) absolutely by z e^-z s (13.5 + 2.5 z) e < 4.8 e; q is
// above 1, so dgate is off relatively by 6.5 e + 5.8 e + 4 e. With z <= 0, 1 - s is off absolutely
// by 4.5 e + 1 e, z (1 - s) by 7.5 |z| e and q by that and |q| e: q has a zero, at z = -1.278, so a
// part stays absolute. Of dgate that is 7.5 s |z| e |dy| |u' + up_offset|; s |z| is at most 0.279,
// and make_inputs has |dy| <= 3.47 and |u' + up_offset| <= 4.34, so 31.5 e < 2^-19. The rest is
// relative, (14 + 2.5 |z|) e, below 64 e for z >= -16.
//
// For z < -16 both values are small: |z| s (14 + 2.5 |z|) e |dy| |u'| is largest at z = -16, where
// it is below 2^-36; that also covers t = inf, where f32 has 0 for a value under 2^-120. Both are
// far below what the absolute part has left.
//
// Roundings to the dtype: silu rounds g' * s on both sides, which may fall on two sides of a tie:
// one ulp, 2 u. The last rounding, only the variant's, is u. Below the normal range of f16 one ulp
// is 2^-24 whatever the value: one times |dy| for the flip and half of one for the last rounding,
// 4 e, which with the 31.5 e of above is below 2^-18.
Tolerance SiluMulBwd::tolerance(const Problem& problem) {
  const double u = unit_roundoff(problem.dtype);
  const double e = problem.dtype == kF64 ? 0x1p-53 : 0x1p-24;
  const double flips = problem.rounding == Rounding::kSilu ? 2 : 0;
  return {(flips + 1) * u + 64 * e, (problem.dtype == kF16 ? 64 : 32) * e};
}

namespace silu_mul_bwd {

void run(const SiluMulBwd::Args& args, Stream stream, std::string_view variant) {
  dispatch<SiluMulBwd>(args, stream, variant);
}

void prepare(const SiluMulBwd::Args& args, Stream stream, std::string_view variant) {
  einkorn::prepare<SiluMulBwd>(args, stream, variant);
}

// NOLINTNEXTLINE(readability-identifier-naming): the name that ops/variants.inc expands to
extern const OpDef definition;
constexpr OpDef definition =
    make_op<SiluMulBwd>([](const void* args, Stream stream, std::string_view variant) {
      run(*static_cast<const Args*>(args), stream, variant);
    });

}  // namespace silu_mul_bwd
}  // namespace einkorn
