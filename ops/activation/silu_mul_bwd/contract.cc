#include "ops/activation/silu_mul_bwd/contract.h"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>

#include <einkorn/dispatch.h>
#include <einkorn/error.h>
#include <einkorn/match.h>
#include <fmt/format.h>

#include "ops/rows.h"

namespace einkorn {
namespace {

using Args = SiluMulBwd::Args;
using Packing = SiluMulBwd::Packing;
using Problem = SiluMulBwd::Problem;

constexpr std::string_view kName = SiluMulBwd::kName;
constexpr DTypeSet kDTypes{kF32, kF16, kBF16, kF64};
constexpr double kMaxF32 = std::numeric_limits<float>::max();

void check_scalars(const Args& args) {
  EK_CHECK(static_cast<unsigned>(args.rounding) < EnumNames<SiluMul::Rounding>::kNames.size(),
           ErrorKind::kValue,
           fmt::format("{}: rounding value: expected once or silu, got the number {}", kName,
                       static_cast<unsigned>(args.rounding)));
  if (!args.clamp) return;
  // Variants take the scalars in f32. Written so that NaN fails, too.
  EK_CHECK(args.limit >= 0x1p-126, ErrorKind::kValue,
           fmt::format("{}: limit value: expected a positive f32 number, got {}\n"
                       "  hint: for no limit leave clamp out",
                       kName, args.limit));
  EK_CHECK(std::abs(args.alpha) <= kMaxF32, ErrorKind::kValue,
           fmt::format("{}: alpha value: expected a finite f32 number, got {}", kName, args.alpha));
  EK_CHECK(std::abs(args.up_offset) <= kMaxF32, ErrorKind::kValue,
           fmt::format("{}: up_offset value: expected a finite f32 number, got {}", kName,
                       args.up_offset));
}

/// The tensors that a packing has no use for have to be left out: one passed by mistake would
/// otherwise be ignored, or never written.
void check_absent(const Args& args, std::string_view argument, const TensorView& tensor) {
  EK_CHECK(!tensor.defined(), ErrorKind::kValue,
           fmt::format("{}: {}: expected no tensor with packing = {}, got {}\n"
                       "  hint: {}",
                       kName, argument, name(args.packing), to_string(tensor),
                       args.packing == Packing::kSplit
                           ? "choose packing halves or interleaved for one packed tensor"
                           : "with a packed tensor gate, up and their gradients are inside it and "
                             "dpacked; leave them out"));
}

/// The names that the tensors of one call share.
struct Names {
  Leading lead;
  Dim cols{"cols", Range{1, SiluMulBwd::kMaxCols}};
  DTypeVar dtype{"dtype", kDTypes};
  DeviceVar device;
};

/// ... of a call's rows: `width` columns an element of dy, 1 or 2.
void match_rows(std::string_view argument, const TensorView& tensor, int width, bool output,
                Names& names) {
  auto matcher = match(kName, argument, tensor);
  auto& rules = (width == 1 ? matcher.shape(names.lead, names.cols)
                            : matcher.shape(names.lead, names.cols * width))
                    .dtype(names.dtype)
                    .on(names.device)
                    .last_contiguous()
                    .collapsible_rows();
  (output ? rules.writable() : rules).verify();
}

void match_tensors(const Args& args, Names& names) {
  match_rows("dy", args.dy, 1, false, names);
  switch (args.packing) {
    case Packing::kSplit:
      check_absent(args, "packed", args.packed);
      check_absent(args, "dpacked", args.dpacked);
      match_rows("gate", args.gate, 1, false, names);
      match_rows("up", args.up, 1, false, names);
      match_rows("dgate", args.dgate, 1, true, names);
      match_rows("dup", args.dup, 1, true, names);
      return;
    case Packing::kHalves:
    case Packing::kInterleaved:
      check_absent(args, "gate", args.gate);
      check_absent(args, "up", args.up);
      check_absent(args, "dgate", args.dgate);
      check_absent(args, "dup", args.dup);
      match_rows("packed", args.packed, 2, false, names);
      match_rows("dpacked", args.dpacked, 2, true, names);
      return;
  }
  throw_error(ErrorKind::kValue,
              fmt::format("{}: packing value: expected split, halves or interleaved, got the "
                          "number {}",
                          kName, static_cast<unsigned>(args.packing)));
}

void check_overlaps(const Args& args) {
  if (args.packing != Packing::kSplit) {
    check_overlap(kName, "dpacked", args.dpacked, "packed", args.packed, Overlap::kExactOrNone);
    check_overlap(kName, "dpacked", args.dpacked, "dy", args.dy, Overlap::kNone);
    return;
  }
  struct Named {
    std::string_view name;
    const TensorView& tensor;
  };
  for (const Named& output : {Named{"dgate", args.dgate}, Named{"dup", args.dup}}) {
    for (const Named& other :
         {Named{"dy", args.dy}, Named{"gate", args.gate}, Named{"up", args.up}}) {
      check_overlap(kName, output.name, output.tensor, other.name, other.tensor,
                    Overlap::kExactOrNone);
    }
  }
  check_overlap(kName, "dup", args.dup, "dgate", args.dgate, Overlap::kNone);
}

cpu::LayoutRules layout_rules(const Problem& problem) {
  const int element = bits(problem.dtype) / 8;
  cpu::LayoutRules rules{kName,
                         problem.rows,
                         problem.layout == SiluMulBwd::Layout::kRowStrided,
                         element,
                         {problem.cols * element}};
  if (problem.packing != Packing::kSplit) rules.row_bytes.push_back(2 * problem.cols * element);
  return rules;
}

}  // namespace

Problem SiluMulBwd::match(const Args& args) {
  Names names;
  match_tensors(args, names);
  check_scalars(args);

  Problem problem;
  problem.rows = names.lead.rows();
  problem.cols = names.cols.value();
  problem.dtype = names.dtype.value();
  EK_CHECK(problem.rows <= kMaxRows, ErrorKind::kValue,
           fmt::format("{}: dy rows: expected at most {}, got {}\n  dy: {}", kName, kMaxRows,
                       problem.rows, to_string(args.dy)));
  check_overlaps(args);
  cpu::RowFacts facts(problem.rows);
  facts.add_rows(args.dy, problem.cols);
  if (args.packing == Packing::kSplit) {
    facts.add_rows(args.gate, problem.cols);
    facts.add_rows(args.up, problem.cols);
    facts.add_rows(args.dgate, problem.cols);
    facts.add_rows(args.dup, problem.cols);
  } else {
    facts.add_rows(args.packed, 2 * problem.cols);
    facts.add_rows(args.dpacked, 2 * problem.cols);
  }
  problem.packing = args.packing;
  problem.clamp = args.clamp;
  problem.rounding = args.rounding;
  problem.layout = facts.strided() ? Layout::kRowStrided : Layout::kContiguous;
  problem.align = facts.align();
  return problem;
}

std::vector<Key> SiluMulBwd::keys() {
  std::vector<Key> keys = describe_fields<Problem>();
  for (Key& key : keys) {
    if (key.name == "dtype") key.allowed = "f32|f16|bf16|f64";
    if (key.name == "align") key.doc += " (default: the largest that cols allows)";
  }
  return keys;
}

Problem SiluMulBwd::parse(const KeyValues& pairs) {
  auto problem = parse_fields<Problem>(kName, pairs);
  EK_CHECK(kDTypes.has(problem.dtype), ErrorKind::kValue,
           fmt::format("{}: dtype: expected f32, f16, bf16 or f64, got {}", kName,
                       einkorn::name(problem.dtype)));
  const cpu::LayoutRules rules = layout_rules(problem);
  if (!cpu::given(pairs, "align")) problem.align = cpu::natural_align(rules);
  cpu::check_layout(rules, problem.align);
  return problem;
}

std::string SiluMulBwd::print(const Problem& problem) {
  Problem completed;
  completed.align = cpu::natural_align(layout_rules(problem));
  return print_fields(problem, 3, completed);
}

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
