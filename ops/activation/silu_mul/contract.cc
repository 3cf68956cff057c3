#include "ops/activation/silu_mul/contract.h"

#include <cmath>
#include <limits>
#include <string>

#include <einkorn/dispatch.h>
#include <einkorn/error.h>
#include <einkorn/match.h>
#include <fmt/format.h>

#include "ops/rows.h"

namespace einkorn {
namespace {

using Args = SiluMul::Args;
using Packing = SiluMul::Packing;
using Problem = SiluMul::Problem;

constexpr DTypeSet kDTypes{kF32, kF16, kBF16, kF64};
constexpr double kMaxF32 = std::numeric_limits<float>::max();

void check_scalars(const Args& args) {
  EK_CHECK(static_cast<unsigned>(args.rounding) < EnumNames<SiluMul::Rounding>::kNames.size(),
           ErrorKind::kValue,
           fmt::format("silu_mul: rounding value: expected once or silu, got the number {}",
                       static_cast<unsigned>(args.rounding)));
  if (!args.clamp) return;
  // Variants take the scalars in f32. Written so that NaN fails, too.
  EK_CHECK(args.limit >= 0x1p-126, ErrorKind::kValue,
           fmt::format("silu_mul: limit value: expected a positive f32 number, got {}\n"
                       "  hint: for no limit leave clamp out",
                       args.limit));
  EK_CHECK(std::abs(args.alpha) <= kMaxF32, ErrorKind::kValue,
           fmt::format("silu_mul: alpha value: expected a finite f32 number, got {}", args.alpha));
  EK_CHECK(std::abs(args.up_offset) <= kMaxF32, ErrorKind::kValue,
           fmt::format("silu_mul: up_offset value: expected a finite f32 number, got {}",
                       args.up_offset));
}

/// The tensors that a packing has no use for have to be left out: one passed by mistake would
/// otherwise be ignored.
void check_absent(const Args& args, std::string_view argument, const TensorView& tensor) {
  EK_CHECK(!tensor.defined(), ErrorKind::kValue,
           fmt::format("silu_mul: {}: expected no tensor with packing = {}, got {}\n"
                       "  hint: {}",
                       argument, name(args.packing), to_string(tensor),
                       args.packing == Packing::kSplit
                           ? "choose packing halves or interleaved for one packed tensor"
                           : "with a packed tensor gate and up are inside it; leave them out"));
}

/// The names that the tensors of one call share.
struct Names {
  Leading lead;
  Dim cols{"cols", Range{1, SiluMul::kMaxCols}};
  DTypeVar dtype{"dtype", kDTypes};
  DeviceVar device;
};

void match_rows(std::string_view argument, const TensorView& tensor, DimSpec cols, Names& names) {
  match(SiluMul::kName, argument, tensor)
      .shape(names.lead, cols)
      .dtype(names.dtype)
      .on(names.device)
      .last_contiguous()
      .collapsible_rows()
      .verify();
}

void match_inputs(const Args& args, Names& names) {
  switch (args.packing) {
    case Packing::kSplit:
      check_absent(args, "packed", args.packed);
      match_rows("gate", args.gate, names.cols, names);
      match_rows("up", args.up, names.cols, names);
      return;
    case Packing::kHalves:
    case Packing::kInterleaved:
      check_absent(args, "gate", args.gate);
      check_absent(args, "up", args.up);
      match_rows("packed", args.packed, names.cols * 2, names);
      return;
  }
  throw_error(ErrorKind::kValue,
              fmt::format("silu_mul: packing value: expected split, halves or interleaved, got the "
                          "number {}",
                          static_cast<unsigned>(args.packing)));
}

cpu::LayoutRules layout_rules(const Problem& problem) {
  const int element = bits(problem.dtype) / 8;
  cpu::LayoutRules rules{SiluMul::kName,
                         problem.rows,
                         problem.layout == SiluMul::Layout::kRowStrided,
                         element,
                         {problem.cols * element}};
  if (problem.packing != Packing::kSplit) rules.row_bytes.push_back(2 * problem.cols * element);
  return rules;
}

}  // namespace

Problem SiluMul::match(const Args& args) {
  Names names;
  match_inputs(args, names);
  einkorn::match(kName, "y", args.y)
      .shape(names.lead, names.cols)
      .dtype(names.dtype)
      .on(names.device)
      .last_contiguous()
      .collapsible_rows()
      .writable()
      .verify();
  check_scalars(args);

  Problem problem;
  problem.rows = names.lead.rows();
  problem.cols = names.cols.value();
  problem.dtype = names.dtype.value();
  EK_CHECK(problem.rows <= kMaxRows, ErrorKind::kValue,
           fmt::format("silu_mul: y rows: expected at most {}, got {}\n  y: {}", kMaxRows,
                       problem.rows, to_string(args.y)));
  cpu::RowFacts facts(problem.rows);
  if (args.packing == Packing::kSplit) {
    check_overlap(kName, "y", args.y, "gate", args.gate, Overlap::kExactOrNone);
    check_overlap(kName, "y", args.y, "up", args.up, Overlap::kExactOrNone);
    facts.add_rows(args.gate, problem.cols);
    facts.add_rows(args.up, problem.cols);
  } else {
    check_overlap(kName, "y", args.y, "packed", args.packed, Overlap::kNone);
    facts.add_rows(args.packed, 2 * problem.cols);
  }
  facts.add_rows(args.y, problem.cols);
  problem.packing = args.packing;
  problem.clamp = args.clamp;
  problem.rounding = args.rounding;
  problem.layout = facts.strided() ? Layout::kRowStrided : Layout::kContiguous;
  problem.align = facts.align();
  return problem;
}

std::vector<Key> SiluMul::keys() {
  std::vector<Key> keys = describe_fields<Problem>();
  for (Key& key : keys) {
    if (key.name == "dtype") key.allowed = "f32|f16|bf16|f64";
    if (key.name == "align") key.doc += " (default: the largest that cols allows)";
  }
  return keys;
}

Problem SiluMul::parse(const KeyValues& pairs) {
  auto problem = parse_fields<Problem>(kName, pairs);
  EK_CHECK(kDTypes.has(problem.dtype), ErrorKind::kValue,
           fmt::format("silu_mul: dtype: expected f32, f16, bf16 or f64, got {}",
                       einkorn::name(problem.dtype)));
  const cpu::LayoutRules rules = layout_rules(problem);
  if (!cpu::given(pairs, "align")) problem.align = cpu::natural_align(rules);
  cpu::check_layout(rules, problem.align);
  return problem;
}

std::string SiluMul::print(const Problem& problem) {
  Problem completed;
  completed.align = cpu::natural_align(layout_rules(problem));
  return print_fields(problem, 3, completed);
}

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
      run(*static_cast<const Args*>(args), stream, variant);
    });

}  // namespace silu_mul
}  // namespace einkorn
