#include "ops/norm/rms_norm/contract.h"

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

constexpr DTypeSet kDTypes{kF32, kF16, kBF16, kF64};
// The smallest normal f32: variants add eps in f32, and with 0 a row of zeros would give NaN.
constexpr double kMinEps = 0x1p-126;
constexpr double kMaxEps = std::numeric_limits<float>::max();

void check_scalars(const RmsNorm::Args& args) {
  // Written so that NaN fails, too.
  EK_CHECK(args.eps >= kMinEps && args.eps <= kMaxEps, ErrorKind::kValue,
           fmt::format("rms_norm: eps value: expected a positive finite f32 number, got {}\n"
                       "  hint: models use 1e-6 or 1e-5",
                       args.eps));
  EK_CHECK(args.offset == 0 || args.offset == 1, ErrorKind::kValue,
           fmt::format("rms_norm: offset value: expected 0 or 1, got {}\n"
                       "  hint: 1 is for weights that start from zero (gemma), 0 for all others",
                       args.offset));
  EK_CHECK(static_cast<unsigned>(args.rounding) < EnumNames<RmsNorm::Rounding>::kNames.size(),
           ErrorKind::kValue,
           fmt::format("rms_norm: rounding value: expected llama, gemma or none, got the number {}",
                       static_cast<unsigned>(args.rounding)));
  EK_CHECK(!args.residual_out.defined() || args.residual.defined(), ErrorKind::kValue,
           fmt::format("rms_norm: residual_out: expected no tensor without a residual, got {}\n"
                       "  hint: pass residual, too; without one h is x",
                       to_string(args.residual_out)));
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
  check_overlap(RmsNorm::kName, output.name, *output.tensor, input.name, *input.tensor, allowed);
}

void check_overlaps(const RmsNorm::Args& args) {
  const Memory x("x", args.x);
  const Memory weight("weight", args.weight);
  const Memory residual("residual", args.residual);
  const Memory y("y", args.y);
  check_apart(y, x, Overlap::kExactOrNone);
  check_apart(y, weight);
  check_apart(y, residual);
  if (!args.residual_out.defined() && !args.rstd.defined()) return;
  const Memory residual_out("residual_out", args.residual_out);
  check_apart(residual_out, residual, Overlap::kExactOrNone);
  check_apart(residual_out, x);
  check_apart(residual_out, weight);
  check_apart(residual_out, y);
  const Memory rstd("rstd", args.rstd);
  for (const Memory* other : {&x, &weight, &residual, &y, &residual_out}) check_apart(rstd, *other);
}

/// What the tensors of one call share.
struct Names {
  Leading lead;
  Dim cols{"cols", Range{1, RmsNorm::kMaxCols}};
  DTypeVar dtype{"dtype", kDTypes};
  DeviceVar device;
};

template <bool kOutput, class... Dtypes>
void match_rows(std::string_view argument, const TensorView& tensor, Names& names,
                Dtypes&&... dtypes) {
  ArgumentMatcher rows(RmsNorm::kName, argument, tensor);
  if constexpr (kOutput) static_cast<void>(rows.writable());
  rows.shape(names.lead, names.cols)
      .dtype(dtypes...)
      .on(names.device)
      .last_contiguous()
      .collapsible_rows()
      .verify();
}

cpu::LayoutRules layout_rules(const RmsNorm::Problem& problem) {
  cpu::LayoutRules rules{
      RmsNorm::kName, problem.rows, problem.layout == RmsNorm::Layout::kRowStrided, 8, {}};
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
  EK_CHECK(kDTypes.has(dtype), ErrorKind::kValue,
           fmt::format("rms_norm: {}: expected f32, f16, bf16 or f64, got {}", key, name(dtype)));
}

/// f64 goes with f64 only: no model mixes it, and no kernel would read it.
void check_all_or_no_f64(const RmsNorm::Problem& problem) {
  for (const auto& [argument, dtype] :
       {std::pair{"weight", problem.weight}, std::pair{"residual", problem.residual}}) {
    EK_CHECK(
        !dtype || (*dtype == kF64) == (problem.dtype == kF64), ErrorKind::kType,
        fmt::format("rms_norm: {} dtype: expected f64 for all tensors or for none, got {} with "
                    "x in {}",
                    argument, name(*dtype), name(problem.dtype)));
  }
}

/// What parse() gives when only `problem`'s leading fields are given.
RmsNorm::Problem completed(const RmsNorm::Problem& problem) {
  RmsNorm::Problem out;
  out.weight = problem.dtype;
  out.residual_out = problem.residual.has_value();
  out.align = cpu::natural_align(layout_rules(problem));
  return out;
}

}  // namespace

RmsNorm::Problem RmsNorm::match(const Args& args) {
  Names names;
  match_rows<false>("x", args.x, names, names.dtype);
  Problem problem;
  problem.rows = names.lead.rows();
  problem.cols = names.cols.value();
  problem.dtype = names.dtype.value();
  problem.weight.reset();
  EK_CHECK(problem.rows <= kMaxRows, ErrorKind::kValue,
           fmt::format("rms_norm: x rows: expected at most {}, got {}\n  x: {}", kMaxRows,
                       problem.rows, to_string(args.x)));
  cpu::RowFacts facts(problem.rows);
  facts.add_rows(args.x, problem.cols);
  if (args.weight.defined()) {
    einkorn::match(kName, "weight", args.weight)
        .shape(names.cols)
        .dtype(kF32, kF16, kBF16, kF64)
        .on(names.device)
        .contiguous()
        .verify();
    problem.weight = args.weight.dtype();
    facts.add_address(args.weight);
  }
  if (args.residual.defined()) {
    match_rows<false>("residual", args.residual, names, kF32, kF16, kBF16, kF64);
    problem.residual = args.residual.dtype();
    facts.add_rows(args.residual, problem.cols);
  }
  match_rows<true>("y", args.y, names, names.dtype);
  facts.add_rows(args.y, problem.cols);
  check_scalars(args);
  if (args.residual_out.defined()) {
    match_rows<true>("residual_out", args.residual_out, names, args.residual.dtype());
    problem.residual_out = true;
    facts.add_rows(args.residual_out, problem.cols);
  }
  if (args.rstd.defined()) {
    einkorn::match(kName, "rstd", args.rstd)
        .shape(names.lead)
        .dtype(problem.dtype == kF64 ? kF64 : kF32)
        .on(names.device)
        .contiguous()
        .verify();
    problem.rstd = true;
  }
  check_all_or_no_f64(problem);
  check_overlaps(args);
  problem.offset = args.offset;
  problem.rounding = args.rounding;
  problem.layout = facts.strided() ? Layout::kRowStrided : Layout::kContiguous;
  problem.align = facts.align();
  return problem;
}

std::vector<Key> RmsNorm::keys() {
  std::vector<Key> keys = describe_fields<Problem>();
  for (Key& key : keys) {
    if (key.name == "dtype") key.allowed = "f32|f16|bf16|f64";
    if (key.name == "weight" || key.name == "residual") key.allowed = "none|f32|f16|bf16|f64";
    if (key.name == "align") key.doc += " (default: the largest that cols allows)";
  }
  return keys;
}

RmsNorm::Problem RmsNorm::parse(const KeyValues& pairs) {
  auto problem = parse_fields<Problem>(kName, pairs);
  const Problem defaults = completed(problem);
  if (!cpu::given(pairs, "weight")) problem.weight = defaults.weight;
  if (!cpu::given(pairs, "residual_out")) problem.residual_out = defaults.residual_out;
  check_dtype("dtype", problem.dtype);
  if (problem.weight) check_dtype("weight", *problem.weight);
  if (problem.residual) check_dtype("residual", *problem.residual);
  check_all_or_no_f64(problem);
  EK_CHECK(!problem.residual_out || problem.residual, ErrorKind::kValue,
           "rms_norm: residual_out: expected false without a residual, got true\n"
           "  hint: give residual=<dtype>, too");
  // Last, because it follows from all dtypes.
  const cpu::LayoutRules rules = layout_rules(problem);
  if (!cpu::given(pairs, "align")) problem.align = cpu::natural_align(rules);
  cpu::check_layout(rules, problem.align);
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
// Arithmetic in f32, relative to the result: variants sum the squares in chains of at most 128
// terms and add the partial sums as a tree, so the (all positive) sum is off by at most
// (128 + log2(cols)) e, plus 1 e for the square and 1 e each for mean and eps; its reciprocal root
// by half of that, and by 4 e more for a hardware rsqrt (2 ulp). Then 3 e for h * r, w + offset and
// their product. With a residual h = x + residual has 1 e of its own, in the sum and in h: 2 e.
//
// Roundings to the dtype: where the reference rounds an intermediate value, the variant's, off by
// some e, may fall on the other side of a tie and come out one ulp away: 2 u. llama rounds h * r so
// (2 u). none rounds r (2 u), then their product, each side within u of values that are themselves
// apart (2 u); w + offset is one f32 addition and one rounding on both sides and does not differ.
// The last rounding, which only the variant makes, is u. One ulp flips are rare, but legal.
//
// Absolutely: below the normal range of f16 one ulp is 2^-24 whatever the value: one for a flip of
// h * r times a weight below 3, one for the last rounding. In f32 and bf16 a variant may flush
// subnormal results to 0.
Tolerance RmsNorm::tolerance(const Problem& problem) {
  constexpr double kF32Roundoff = 0x1p-24;
  const double chain = 128 + std::log2(static_cast<double>(problem.cols)) + 3;
  const double f32_part = (chain / 2 + 4 + 3 + (problem.residual ? 2 : 0)) * kF32Roundoff;
  const double flips = problem.rounding == Rounding::kLlama  ? 2
                       : problem.rounding == Rounding::kNone ? 4
                                                             : 0;
  const double u = unit_roundoff(problem.dtype);
  double relative = (flips + 1) * u + f32_part;
  bool has_f16 = problem.dtype == kF16;
  if (problem.residual && problem.residual_out) {
    // Its own rounding and that of the sum.
    relative = std::max(relative, unit_roundoff(*problem.residual) + kF32Roundoff);
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
