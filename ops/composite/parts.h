#pragma once

// What the contracts of composite ops share: rows of one dtype, contiguous, with one alignment.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <einkorn/op.h>
#include <einkorn/tensor.h>

#include "ops/activation/silu_mul/contract.h"
#include "ops/norm/rms_norm/contract.h"
#include "ops/rows.h"

namespace einkorn::composite {

/// ValueError unless f32, f16 or bf16.
void check_dtype(std::string_view op, DType dtype);

/// The largest power of two up to 16 that divides all addresses and rows, bytes.
int align_of(std::int64_t rows, std::int64_t cols, std::initializer_list<TensorView> tensors,
             std::initializer_list<TensorView> vectors);

/// describe_fields() with the dtypes that these ops take.
template <class Problem>
std::vector<Key> keys() {
  return cpu::with_dtypes(describe_fields<Problem>(), "f32|f16|bf16");
}

/// What has to hold of the layout of C's problem.
template <class C>
cpu::LayoutRules layout_rules(const typename C::Problem& problem) {
  cpu::LayoutRules rules{.op = C::kName, .rows = problem.rows};
  rules.add_rows(problem.cols, problem.dtype);
  return rules;
}

/// C::parse and C::print of a problem of rows, cols, dtype and align.
template <class C>
typename C::Problem parse(const KeyValues& pairs) {
  auto problem = parse_fields<typename C::Problem>(C::kName, pairs);
  check_dtype(C::kName, problem.dtype);
  problem.align = cpu::parsed_align(layout_rules<C>(problem), pairs, problem.align);
  return problem;
}
template <class C>
std::string print(const typename C::Problem& problem) {
  typename C::Problem defaults;
  defaults.align = cpu::natural_align(layout_rules<C>(problem));
  return print_fields(problem, 3, defaults);
}

/// The parts' problems of the same rows.
template <class Problem>
RmsNorm::Problem norm_of(const Problem& p) {
  return {.rows = p.rows,
          .cols = p.cols,
          .dtype = p.dtype,
          .weight = p.dtype,
          .residual = {},
          .align = p.align};
}
template <class Problem>
SiluMul::Problem product_of(const Problem& p) {
  return {.rows = p.rows, .cols = p.cols, .dtype = p.dtype, .align = p.align};
}

/// Bytes of a tensor [rows, cols] in a workspace, the next part behind it aligned.
std::size_t rows_bytes(std::int64_t rows, std::int64_t cols, DType dtype);

/// A contiguous tensor like `model`, elsewhere.
TensorView like(const TensorView& model, std::byte* data);

/// Parts' work without what they hand to each other: each pair of parts saves writing and reading
/// one tensor [rows, cols].
Work fused_work(std::initializer_list<Work> parts, std::int64_t rows, std::int64_t cols,
                DType dtype);

/// The tolerance of an intermediate result that the reference rounds to the dtype, too.
Tolerance rounded(Tolerance part, DType dtype);

// As rms_norm's own inputs: a variant that forgets eps is off by 3 %.
inline constexpr double kEps = 1e-3;
inline constexpr double kDeviation = 0.125;

/// Tensors of a case.
struct Maker {
  cpu::RowPlacement placement;
  std::int64_t cols;
  DType dtype;
  std::vector<Tensor>& storage;
  Rng& rng;

  /// Filled nearly normal around 0; 0 leaves it as it is, for outputs.
  TensorView rows(double deviation = 0) const;
  TensorView weight() const;
};

}  // namespace einkorn::composite
