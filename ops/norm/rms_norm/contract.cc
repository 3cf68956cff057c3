#include "ops/norm/rms_norm/contract.h"

#include <algorithm>
#include <string>

#include <einkorn/dispatch.h>
#include <einkorn/error.h>
#include <einkorn/match.h>
#include <fmt/format.h>

#include "ops/norm/rms.h"
#include "ops/rows.h"

namespace einkorn {
namespace {

void check_overlaps(const RmsNorm::Args& args) {
  const auto check_apart = [](const cpu::Memory& output, const cpu::Memory& input,
                              Overlap allowed = Overlap::kNone) {
    cpu::check_apart(RmsNorm::kName, output, input, allowed);
  };
  const cpu::Memory x("x", args.x);
  const cpu::Memory weight("weight", args.weight);
  const cpu::Memory residual("residual", args.residual);
  const cpu::Memory y("y", args.y);
  check_apart(y, x, Overlap::kExactOrNone);
  check_apart(y, weight);
  check_apart(y, residual);
  if (!args.residual_out.defined() && !args.rstd.defined()) return;
  const cpu::Memory residual_out("residual_out", args.residual_out);
  check_apart(residual_out, residual, Overlap::kExactOrNone);
  check_apart(residual_out, x);
  check_apart(residual_out, weight);
  check_apart(residual_out, y);
  const cpu::Memory rstd("rstd", args.rstd);
  for (const cpu::Memory* other : {&x, &weight, &residual, &y, &residual_out}) {
    check_apart(rstd, *other);
  }
}

/// What parse() gives when only `problem`'s leading fields are given.
RmsNorm::Problem completed(const RmsNorm::Problem& problem) {
  RmsNorm::Problem out;
  out.weight = problem.dtype;
  out.residual_out = problem.residual.has_value();
  out.align = cpu::natural_align(rms::layout_rules(RmsNorm::kName, problem));
  return out;
}

}  // namespace

RmsNorm::Problem RmsNorm::match(const Args& args) {
  cpu::RowNames names(kMaxCols);
  const auto match_rows = [&](Role role, std::string_view argument, const TensorView& tensor,
                              auto&&... dtypes) {
    cpu::match_rows(kName, role, argument, tensor, names, names.cols, dtypes...);
  };
  match_rows(Role::kInput, "x", args.x, names.dtype);
  Problem problem;
  problem.rows = cpu::matched_rows(kName, "x", args.x, names, kMaxRows);
  problem.cols = names.cols.value();
  problem.dtype = names.dtype.value();
  problem.weight.reset();
  cpu::RowFacts facts(problem.rows);
  facts.add_rows(args.x, problem.cols);
  rms::match_weight(kName, args.weight, names);
  if (args.weight.defined()) {
    problem.weight = args.weight.dtype();
    facts.add_address(args.weight);
  }
  if (args.residual.defined()) {
    match_rows(Role::kInput, "residual", args.residual, kF32, kF16, kBF16, kF64);
    problem.residual = args.residual.dtype();
    facts.add_rows(args.residual, problem.cols);
  }
  match_rows(Role::kOutput, "y", args.y, names.dtype);
  facts.add_rows(args.y, problem.cols);
  rms::check_scalars(kName, args.eps, args.offset, args.rounding);
  EK_CHECK(!args.residual_out.defined() || args.residual.defined(), ErrorKind::kValue,
           fmt::format("rms_norm: residual_out: expected no tensor without a residual, got {}\n"
                       "  hint: pass residual, too; without one h is x",
                       to_string(args.residual_out)));
  if (args.residual_out.defined()) {
    match_rows(Role::kOutput, "residual_out", args.residual_out, args.residual.dtype());
    problem.residual_out = true;
    facts.add_rows(args.residual_out, problem.cols);
  }
  rms::match_rstd(kName, args.rstd, names);
  rms::check_all_or_no_f64(kName, problem.dtype, "weight", problem.weight);
  rms::check_all_or_no_f64(kName, problem.dtype, "residual", problem.residual);
  check_overlaps(args);
  rms::complete(args, facts, problem);
  return problem;
}

std::vector<Key> RmsNorm::keys() {
  return cpu::with_dtypes(describe_fields<Problem>(), cpu::kDTypeValues);
}

RmsNorm::Problem RmsNorm::parse(const KeyValues& pairs) {
  auto problem = parse_fields<Problem>(kName, pairs);
  const Problem defaults = completed(problem);
  if (!cpu::given(pairs, "weight")) problem.weight = defaults.weight;
  if (!cpu::given(pairs, "residual_out")) problem.residual_out = defaults.residual_out;
  rms::check_dtypes(kName, problem, "residual");
  EK_CHECK(!problem.residual_out || problem.residual, ErrorKind::kValue,
           "rms_norm: residual_out: expected false without a residual, got true\n"
           "  hint: give residual=<dtype>, too");
  problem.align = cpu::parsed_align(rms::layout_rules(kName, problem), pairs, problem.align);
  return problem;
}

std::string RmsNorm::print(const Problem& problem) {
  return print_fields(problem, 3, completed(problem));
}

std::optional<Refusal> RmsNorm::for_reference_only(const Problem& problem) {
  return cpu::f64_refusal(problem.dtype);
}

Work RmsNorm::work(const Problem& problem) {
  const auto elements = static_cast<double>(problem.rows) * static_cast<double>(problem.cols);
  const auto bytes = [](DType dtype) { return bits(dtype) / 8.0; };
  Work work;
  // Square and add; times r; times the weight (its offset is once a column, not counted).
  const int flops = 3 + (problem.weight ? 1 : 0) + (problem.residual ? 1 : 0);
  work.useful_flops = work.executed_flops = elements * flops;
  double per_element = 2 * bytes(problem.dtype);
  if (problem.residual) per_element += bytes(*problem.residual) * (problem.residual_out ? 2 : 1);
  work.min_bytes = elements * per_element;
  if (problem.rows > 0 && problem.weight) {
    work.min_bytes += static_cast<double>(problem.cols) * bytes(*problem.weight);
  }
  if (problem.rstd) {
    work.min_bytes += static_cast<double>(problem.rows) * (problem.dtype == kF64 ? 8 : 4);
  }
  work.est_bytes = work.min_bytes;
  work.launches = problem.rows > 0 ? 1 : 0;
  return work;
}

// Bounds of |got - want| for a variant that keeps the contract; want is the reference's result with
// all rounding points of the contract but the last, in double. u is the unit roundoff of y's dtype,
// e = 2^-24 that of f32.
//
// Arithmetic in f32, relative to the result: r's (ops/norm/rms.h), then 3 e for h * r, w + offset
// and their product. With a residual h = x + residual has 1 e of its own, in the sum and in h: 2 e.
//
// Roundings to the dtype: those of h * r (ops/norm/rms.h); w + offset is one f32 addition and one
// rounding on both sides and does not differ. The last rounding, which only the variant makes, is
// u.
//
// Absolutely: below the normal range of f16 one ulp is 2^-24 whatever the value: one for a flip of
// h * r times a weight below 3, one for the last rounding. In f32 and bf16 a variant may flush
// subnormal results to 0.
Tolerance RmsNorm::tolerance(const Problem& problem) {
  const double f32_part =
      (rms::reciprocal_error(problem.cols) + 3 + (problem.residual ? 2 : 0)) * rms::kF32Roundoff;
  const double u = unit_roundoff(problem.dtype);
  double relative = (rms::flips(problem.rounding) + 1) * u + f32_part;
  bool has_f16 = problem.dtype == kF16;
  if (problem.residual && problem.residual_out) {
    // Its own rounding and that of the sum.
    relative = std::max(relative, unit_roundoff(*problem.residual) + rms::kF32Roundoff);
    has_f16 |= *problem.residual == kF16;
  }
  return {relative, has_f16 ? 0x1p-22 : 0x1p-126};
}

namespace rms_norm {

void run(const RmsNorm::Args& args, Stream stream, std::string_view variant) {
  dispatch<RmsNorm>(args, stream, variant);
}

void prepare(const RmsNorm::Args& args, Stream stream, std::string_view variant) {
  einkorn::prepare<RmsNorm>(args, stream, variant);
}

// NOLINTNEXTLINE(readability-identifier-naming): the name that ops/variants.inc expands to
extern const OpDef definition;
constexpr OpDef definition =
    make_op<RmsNorm>([](const void* args, Stream stream, std::string_view variant) {
      run(*static_cast<const RmsNorm::Args*>(args), stream, variant);
    });

}  // namespace rms_norm
}  // namespace einkorn
