#include "ops/norm/rms_norm_bwd/contract.h"

#include <string>

#include <einkorn/dispatch.h>
#include <einkorn/error.h>
#include <einkorn/match.h>
#include <fmt/format.h>

#include "ops/norm/rms.h"
#include "ops/rows.h"

namespace einkorn {
namespace {

using Problem = RmsNormBwd::Problem;
using Args = RmsNormBwd::Args;

void check_overlaps(const Args& args) {
  using cpu::Memory;
  const auto check_apart = [](const Memory& output, const Memory& input,
                              Overlap allowed = Overlap::kNone) {
    cpu::check_apart(RmsNormBwd::kName, output, input, allowed);
  };
  const Memory dy("dy", args.dy);
  const Memory x("x", args.x);
  const Memory weight("weight", args.weight);
  const Memory rstd("rstd", args.rstd);
  const Memory residual("dresidual_out", args.dresidual_out);
  const Memory dx("dx", args.dx);
  check_apart(dx, dy, Overlap::kExactOrNone);
  check_apart(dx, residual, Overlap::kExactOrNone);
  for (const Memory* other : {&x, &weight, &rstd}) check_apart(dx, *other);
  if (!args.dweight.defined()) return;
  const Memory dweight("dweight", args.dweight);
  for (const Memory* other : {&dy, &x, &weight, &rstd, &residual, &dx}) {
    check_apart(dweight, *other);
  }
}

void match_dweight(const Args& args, cpu::RowNames& names) {
  if (!args.dweight.defined()) return;
  EK_CHECK(args.weight.defined(), ErrorKind::kValue,
           fmt::format("rms_norm_bwd: dweight: expected no tensor without a weight, got {}\n"
                       "  hint: pass weight, too; without one there is nothing to differentiate by",
                       to_string(args.dweight)));
  cpu::match_vector(RmsNormBwd::kName, Role::kOutput, "dweight", args.dweight, names,
                    args.weight.dtype(), names.dtype.value() == kF64 ? kF64 : kF32);
}

void check_dtypes(const Problem& problem) {
  rms::check_dtypes(RmsNormBwd::kName, problem, "dresidual_out");
  if (!problem.dweight) return;
  EK_CHECK(problem.weight.has_value(), ErrorKind::kValue,
           fmt::format("rms_norm_bwd: dweight: expected none without a weight, got {}\n"
                       "  hint: give weight=<dtype>, too",
                       name(*problem.dweight)));
  const bool f32 = *problem.dweight == kF32 && problem.dtype != kF64;
  EK_CHECK(f32 || *problem.dweight == *problem.weight, ErrorKind::kValue,
           fmt::format("rms_norm_bwd: dweight: expected {}the weight's dtype, {}, got {}",
                       problem.dtype == kF64 ? "" : "f32 or ", name(*problem.weight),
                       name(*problem.dweight)));
}

/// What parse() gives when only `problem`'s leading fields are given. dweight follows the weight
/// that `problem` has.
Problem completed(const Problem& problem) {
  Problem out;
  out.weight = problem.dtype;
  out.dweight = problem.weight;
  out.align = cpu::natural_align(rms::layout_rules(RmsNormBwd::kName, problem));
  return out;
}

}  // namespace

Problem RmsNormBwd::match(const Args& args) {
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
  problem.dweight.reset();
  match_rows(Role::kInput, "dy", args.dy, names.dtype);
  if (args.dresidual_out.defined()) {
    match_rows(Role::kInput, "dresidual_out", args.dresidual_out, kF32, kF16, kBF16, kF64);
    problem.residual = args.dresidual_out.dtype();
  }
  match_rows(Role::kOutput, "dx", args.dx, names.dtype);
  rms::check_scalars(kName, args.eps, args.offset, args.rounding);
  rms::match_weight(kName, args.weight, names);
  if (args.weight.defined()) problem.weight = args.weight.dtype();
  rms::match_rstd(kName, args.rstd, names);
  match_dweight(args, names);
  if (args.dweight.defined()) problem.dweight = args.dweight.dtype();
  rms::check_all_or_no_f64(kName, problem.dtype, "weight", problem.weight);
  rms::check_all_or_no_f64(kName, problem.dtype, "dresidual_out", problem.residual);
  check_overlaps(args);
  cpu::RowFacts facts(problem.rows);
  for (const TensorView* rows : {&args.dy, &args.x, &args.dx}) facts.add_rows(*rows, problem.cols);
  if (problem.residual) facts.add_rows(args.dresidual_out, problem.cols);
  if (problem.weight) facts.add_address(args.weight);
  rms::complete(args, facts, problem);
  return problem;
}

std::vector<Key> RmsNormBwd::keys() {
  return cpu::with_dtypes(describe_fields<Problem>(), cpu::kDTypeValues);
}

Problem RmsNormBwd::parse(const KeyValues& pairs) {
  auto problem = parse_fields<Problem>(kName, pairs);
  if (!cpu::given(pairs, "weight")) problem.weight = problem.dtype;
  if (!cpu::given(pairs, "dweight")) problem.dweight = problem.weight;
  check_dtypes(problem);
  problem.align = cpu::parsed_align(rms::layout_rules(kName, problem), pairs, problem.align);
  return problem;
}

std::string RmsNormBwd::print(const Problem& problem) {
  return print_fields(problem, 3, completed(problem));
}

std::optional<Refusal> RmsNormBwd::for_reference_only(const Problem& problem) {
  return cpu::f64_refusal(problem.dtype);
}

Work RmsNormBwd::work(const Problem& problem) {
  const auto rows = static_cast<double>(problem.rows);
  const auto cols = static_cast<double>(problem.cols);
  const auto bytes = [](DType dtype) { return bits(dtype) / 8.0; };
  Work work;
  // m * h and its sum; r * m, h * (r^2 c) and their difference.
  int flops = 5;
  flops += problem.rstd ? 0 : 2;      // the squares and their sum
  flops += problem.weight ? 1 : 0;    // dy * s
  flops += problem.residual ? 1 : 0;  // added
  flops += problem.dweight ? 3 : 0;   // h * r, times dy, and its sum
  work.useful_flops = work.executed_flops = rows * cols * flops;
  work.min_bytes =
      rows * cols * (3 * bytes(problem.dtype) + (problem.residual ? bytes(*problem.residual) : 0));
  if (problem.rows > 0 && problem.weight) work.min_bytes += cols * bytes(*problem.weight);
  if (problem.dweight) work.min_bytes += cols * bytes(*problem.dweight);
  if (problem.rstd) work.min_bytes += rows * (problem.dtype == kF64 ? 8 : 4);
  work.est_bytes = work.min_bytes;
  work.launches = (problem.rows > 0 ? 1 : 0) + (problem.dweight ? 1 : 0);
  return work;
}

namespace rms_norm_bwd {

void run(const RmsNormBwd::Args& args, Stream stream, std::string_view variant) {
  dispatch<RmsNormBwd>(args, stream, variant);
}

void prepare(const RmsNormBwd::Args& args, Stream stream, std::string_view variant) {
  einkorn::prepare<RmsNormBwd>(args, stream, variant);
}

// NOLINTNEXTLINE(readability-identifier-naming): the name that ops/variants.inc expands to
extern const OpDef definition;
constexpr OpDef definition =
    make_op<RmsNormBwd>([](const void* args, Stream stream, std::string_view variant) {
      run(*static_cast<const RmsNormBwd::Args*>(args), stream, variant);
    });

}  // namespace rms_norm_bwd
}  // namespace einkorn
