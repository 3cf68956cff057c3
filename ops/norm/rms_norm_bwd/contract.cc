#include "ops/norm/rms_norm_bwd/contract.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <einkorn/dispatch.h>
#include <einkorn/error.h>
#include <einkorn/match.h>
#include <fmt/format.h>

#include "ops/rows.h"

namespace einkorn {
namespace {

using Problem = RmsNormBwd::Problem;
using Args = RmsNormBwd::Args;

constexpr DTypeSet kDTypes{kF32, kF16, kBF16, kF64};
// The smallest normal f32: variants add eps in f32, and with 0 a row of zeros would give NaN.
constexpr double kMinEps = 0x1p-126;
constexpr double kMaxEps = std::numeric_limits<float>::max();

void check_scalars(const Args& args) {
  // Written so that NaN fails, too.
  EK_CHECK(args.eps >= kMinEps && args.eps <= kMaxEps, ErrorKind::kValue,
           fmt::format("rms_norm_bwd: eps value: expected a positive finite f32 number, got {}\n"
                       "  hint: the forward's, 1e-6 or 1e-5 in models",
                       args.eps));
  EK_CHECK(args.offset == 0 || args.offset == 1, ErrorKind::kValue,
           fmt::format("rms_norm_bwd: offset value: expected 0 or 1, got {}\n"
                       "  hint: 1 is for weights that start from zero (gemma), 0 for all others",
                       args.offset));
  EK_CHECK(
      static_cast<unsigned>(args.rounding) < EnumNames<RmsNorm::Rounding>::kNames.size(),
      ErrorKind::kValue,
      fmt::format("rms_norm_bwd: rounding value: expected llama, gemma or none, got the number {}",
                  static_cast<unsigned>(args.rounding)));
  EK_CHECK(!args.dweight.defined() || args.weight.defined(), ErrorKind::kValue,
           fmt::format("rms_norm_bwd: dweight: expected no tensor without a weight, got {}\n"
                       "  hint: pass weight, too; without one there is nothing to differentiate by",
                       to_string(args.dweight)));
}

/// An argument with its extent, which is compared first: that settles all sane calls at the price
/// of a few comparisons.
struct Memory {
  std::string_view name;
  const TensorView* tensor;
  TensorView::Extent extent;

  Memory(std::string_view argument, const TensorView& view)
      : name(argument), tensor(&view), extent(view.extent()) {}
};

void check_apart(const Memory& output, const Memory& input, Overlap allowed = Overlap::kNone) {
  if (output.extent.end <= input.extent.begin || input.extent.end <= output.extent.begin) return;
  check_overlap(RmsNormBwd::kName, output.name, *output.tensor, input.name, *input.tensor, allowed);
}

void check_overlaps(const Args& args) {
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

/// What the tensors of one call share.
struct Names {
  Leading lead;
  Dim cols{"cols", Range{1, RmsNormBwd::kMaxCols}};
  DTypeVar dtype{"dtype", kDTypes};
  DeviceVar device;
};

template <bool kOutput, class... Dtypes>
void match_rows(std::string_view argument, const TensorView& tensor, Names& names,
                Dtypes&&... dtypes) {
  ArgumentMatcher rows(RmsNormBwd::kName, argument, tensor);
  if constexpr (kOutput) static_cast<void>(rows.writable());
  rows.shape(names.lead, names.cols)
      .dtype(dtypes...)
      .on(names.device)
      .last_contiguous()
      .collapsible_rows()
      .verify();
}

/// weight, rstd and dweight, those that are there.
void match_vectors(const Args& args, Names& names, Problem& problem) {
  if (args.weight.defined()) {
    match(RmsNormBwd::kName, "weight", args.weight)
        .shape(names.cols)
        .dtype(kF32, kF16, kBF16, kF64)
        .on(names.device)
        .contiguous()
        .verify();
    problem.weight = args.weight.dtype();
  }
  if (args.rstd.defined()) {
    match(RmsNormBwd::kName, "rstd", args.rstd)
        .shape(names.lead)
        .dtype(problem.dtype == kF64 ? kF64 : kF32)
        .on(names.device)
        .contiguous()
        .verify();
    problem.rstd = true;
  }
  if (args.dweight.defined()) {
    match(RmsNormBwd::kName, "dweight", args.dweight)
        .shape(names.cols)
        .dtype(args.weight.dtype(), problem.dtype == kF64 ? kF64 : kF32)
        .on(names.device)
        .contiguous()
        .writable()
        .verify();
    problem.dweight = args.dweight.dtype();
  }
}

cpu::LayoutRules layout_rules(const Problem& problem) {
  cpu::LayoutRules rules{
      RmsNormBwd::kName, problem.rows, problem.layout == RmsNormBwd::Layout::kRowStrided, 8, {}};
  const auto add = [&](DType dtype) {
    rules.smallest_element = std::min(rules.smallest_element, bits(dtype) / 8);
  };
  add(problem.dtype);
  rules.row_bytes.push_back(problem.cols * bits(problem.dtype) / 8);
  if (problem.weight) add(*problem.weight);
  if (problem.residual) {
    add(*problem.residual);
    rules.row_bytes.push_back(problem.cols * bits(*problem.residual) / 8);
  }
  return rules;
}

void check_dtype(std::string_view key, DType dtype) {
  EK_CHECK(
      kDTypes.has(dtype), ErrorKind::kValue,
      fmt::format("rms_norm_bwd: {}: expected f32, f16, bf16 or f64, got {}", key, name(dtype)));
}

/// f64 goes with f64 only: no model mixes it, and no kernel would read it.
void check_all_or_no_f64(const Problem& problem) {
  for (const auto& [argument, dtype] :
       {std::pair{"weight", problem.weight}, std::pair{"dresidual_out", problem.residual}}) {
    EK_CHECK(!dtype || (*dtype == kF64) == (problem.dtype == kF64), ErrorKind::kType,
             fmt::format("rms_norm_bwd: {} dtype: expected f64 for all tensors or for none, got {} "
                         "with x in {}",
                         argument, name(*dtype), name(problem.dtype)));
  }
}

void check_dtypes(const Problem& problem) {
  check_dtype("dtype", problem.dtype);
  if (problem.weight) check_dtype("weight", *problem.weight);
  if (problem.residual) check_dtype("residual", *problem.residual);
  check_all_or_no_f64(problem);
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
  out.align = cpu::natural_align(layout_rules(problem));
  return out;
}

}  // namespace

Problem RmsNormBwd::match(const Args& args) {
  Names names;
  match_rows<false>("x", args.x, names, names.dtype);
  Problem problem;
  problem.rows = names.lead.rows();
  problem.cols = names.cols.value();
  problem.dtype = names.dtype.value();
  problem.weight.reset();
  problem.dweight.reset();
  EK_CHECK(problem.rows <= kMaxRows, ErrorKind::kValue,
           fmt::format("rms_norm_bwd: x rows: expected at most {}, got {}\n  x: {}", kMaxRows,
                       problem.rows, to_string(args.x)));
  match_rows<false>("dy", args.dy, names, names.dtype);
  if (args.dresidual_out.defined()) {
    match_rows<false>("dresidual_out", args.dresidual_out, names, kF32, kF16, kBF16, kF64);
    problem.residual = args.dresidual_out.dtype();
  }
  match_rows<true>("dx", args.dx, names, names.dtype);
  check_scalars(args);
  match_vectors(args, names, problem);
  check_all_or_no_f64(problem);
  check_overlaps(args);
  cpu::RowFacts facts(problem.rows);
  for (const TensorView* rows : {&args.dy, &args.x, &args.dx}) facts.add_rows(*rows, problem.cols);
  if (problem.residual) facts.add_rows(args.dresidual_out, problem.cols);
  if (problem.weight) facts.add_address(args.weight);
  problem.offset = args.offset;
  problem.rounding = args.rounding;
  problem.layout = facts.strided() ? Layout::kRowStrided : Layout::kContiguous;
  problem.align = facts.align();
  return problem;
}

std::vector<Key> RmsNormBwd::keys() {
  std::vector<Key> keys = describe_fields<Problem>();
  for (Key& key : keys) {
    if (key.name == "dtype") key.allowed = "f32|f16|bf16|f64";
    if (key.name == "weight" || key.name == "dweight" || key.name == "residual") {
      key.allowed = "none|f32|f16|bf16|f64";
    }
    if (key.name == "align") key.doc += " (default: the largest that cols allows)";
  }
  return keys;
}

Problem RmsNormBwd::parse(const KeyValues& pairs) {
  auto problem = parse_fields<Problem>(kName, pairs);
  if (!cpu::given(pairs, "weight")) problem.weight = problem.dtype;
  if (!cpu::given(pairs, "dweight")) problem.dweight = problem.weight;
  check_dtypes(problem);
  // Last, because it follows from all dtypes.
  const cpu::LayoutRules rules = layout_rules(problem);
  if (!cpu::given(pairs, "align")) problem.align = cpu::natural_align(rules);
  cpu::check_layout(rules, problem.align);
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
