#include "ops/activation/gated.h"

#include <cmath>
#include <limits>

#include <einkorn/error.h>
#include <fmt/format.h>

namespace einkorn::gated {
namespace {

cpu::LayoutRules layout_rules(std::string_view op, const Problem& problem) {
  cpu::LayoutRules rules{
      .op = op, .rows = problem.rows, .strided = problem.layout == SiluMul::Layout::kRowStrided};
  rules.add_rows(problem.cols, problem.dtype);
  if (problem.packing != Packing::kSplit) rules.add_rows(2 * problem.cols, problem.dtype);
  return rules;
}

void check_absent(std::string_view op, const Pair::Part& part, Packing packing) {
  EK_CHECK(!part.tensor.defined(), ErrorKind::kValue,
           fmt::format("{}: {}: expected no tensor with packing = {}, got {}\n"
                       "  hint: {}",
                       op, part.name, name(packing), to_string(part.tensor),
                       packing == Packing::kSplit
                           ? "choose packing halves or interleaved for one packed tensor"
                           : "it is a part of the packed tensor; leave it out"));
}

}  // namespace

void check_scalars(std::string_view op, const Scalars& scalars) {
  constexpr double kMaxF32 = std::numeric_limits<float>::max();
  EK_CHECK(static_cast<unsigned>(scalars.rounding) < EnumNames<Rounding>::kNames.size(),
           ErrorKind::kValue,
           fmt::format("{}: rounding value: expected once or silu, got the number {}", op,
                       static_cast<unsigned>(scalars.rounding)));
  if (!scalars.clamp) return;
  // Variants take the scalars in f32. Written so that NaN fails, too.
  EK_CHECK(scalars.limit >= 0x1p-126, ErrorKind::kValue,
           fmt::format("{}: limit value: expected a positive f32 number, got {}\n"
                       "  hint: for no limit leave clamp out",
                       op, scalars.limit));
  EK_CHECK(std::abs(scalars.alpha) <= kMaxF32, ErrorKind::kValue,
           fmt::format("{}: alpha value: expected a finite f32 number, got {}", op, scalars.alpha));
  EK_CHECK(std::abs(scalars.up_offset) <= kMaxF32, ErrorKind::kValue,
           fmt::format("{}: up_offset value: expected a finite f32 number, got {}", op,
                       scalars.up_offset));
}

void Pair::match(std::string_view op, Packing packing, cpu::RowNames& names) const {
  switch (packing) {
    case Packing::kSplit:
      check_absent(op, packed, packing);
      for (const Part* part : {&gate, &up}) {
        cpu::match_rows(op, role, part->name, part->tensor, names, names.cols, names.dtype);
      }
      return;
    case Packing::kHalves:
    case Packing::kInterleaved:
      check_absent(op, gate, packing);
      check_absent(op, up, packing);
      cpu::match_rows(op, role, packed.name, packed.tensor, names, names.cols * 2, names.dtype);
      return;
  }
  throw_error(ErrorKind::kValue,
              fmt::format("{}: packing value: expected split, halves or interleaved, got the "
                          "number {}",
                          op, static_cast<unsigned>(packing)));
}

void Pair::add_to(cpu::RowFacts& facts, Packing packing, std::int64_t cols) const {
  if (packing == Packing::kSplit) {
    facts.add_rows(gate.tensor, cols);
    facts.add_rows(up.tensor, cols);
  } else {
    facts.add_rows(packed.tensor, 2 * cols);
  }
}

std::vector<Key> keys() { return cpu::with_dtypes(describe_fields<Problem>(), cpu::kDTypeValues); }

Problem parse(std::string_view op, const KeyValues& pairs) {
  auto problem = parse_fields<Problem>(op, pairs);
  cpu::check_dtype(op, "dtype", problem.dtype);
  problem.align = cpu::parsed_align(layout_rules(op, problem), pairs, problem.align);
  return problem;
}

std::string print(std::string_view op, const Problem& problem) {
  Problem completed;
  completed.align = cpu::natural_align(layout_rules(op, problem));
  return print_fields(problem, 3, completed);
}

TensorView Maker::rows(std::int64_t cols, double deviation) const {
  const cpu::RowPlacement placement{problem.rows, problem.layout == SiluMul::Layout::kRowStrided,
                                    problem.align};
  const TensorView out = cpu::place_rows(placement, cols, problem.dtype, storage);
  if (deviation > 0) cpu::fill_normal(out, 0, deviation, rng);
  return out;
}

}  // namespace einkorn::gated
