#pragma once

// What the CUDA variants that go from token to token share on the host: those of a few tokens and
// those of whole sequences. The device's side is token_step.cuh.

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include <einkorn/expression.h>
#include <einkorn/fields.h>
#include <einkorn/op.h>

#include "ops/linear_attention/call.h"
#include "ops/linear_attention/step_params.h"

namespace einkorn::linear_attention {

/// Of kernels that have rows of a state [V, K] in the lanes of warps.
struct RowTiling {
  int lanes = 32;  ///< threads a row
  int rows = 4;    ///< rows a thread takes part in
  int warps = 4;   ///< a block

  bool operator==(const RowTiling&) const = default;
  static constexpr auto fields() {
    return std::tuple{field("lanes", &RowTiling::lanes, "threads a row of the state"),
                      field("rows", &RowTiling::rows, "rows a thread has a part of"),
                      field("warps", &RowTiling::warps, "warps a block")};
  }
  std::int64_t rows_of_block() const { return std::int64_t{32} / lanes * rows * warps; }
};

/// Whether so many lanes divide a warp.
inline bool divides_warp(int lanes) {
  return lanes > 0 && lanes <= 32 && std::has_single_bit(static_cast<unsigned>(lanes));
}

/// Blocks of `of_block` rows or columns that a value head takes.
inline std::int64_t parts_of(std::int64_t value_dim, std::int64_t of_block) {
  return (value_dim + of_block - 1) / of_block;
}

/// Why no grid has so many blocks.
std::optional<Refusal> refuse_blocks(std::int64_t blocks);

/// The name of the kernels' traits. `precise`: gates by the library's functions.
template <class Problem>
std::string step_traits(Update update, const Problem& problem, DType state_dtype, bool precise) {
  const bool delta = update != Update::kDecay;
  return jit::instantiate(
      "einkorn::linear_attention::StepTraits",
      {problem.dtype, delta ? problem.gate_dtype : kF32,
       delta ? std::optional(problem.beta_dtype) : std::nullopt, state_dtype,
       static_cast<int>(update), static_cast<int>(problem.gate), problem.beta_form == Beta::kLogit,
       problem.l2norm, problem.key_dim, precise});
}

/// Writes what depends on the problem alone.
template <class Problem>
void describe_step(const Problem& problem, std::int64_t of_block, StepParams& params) {
  params.tokens = static_cast<int>(problem.tokens);
  params.value_heads = static_cast<int>(problem.value_heads);
  params.group = static_cast<int>(problem.value_heads / problem.heads);
  params.value_dim = static_cast<int>(problem.value_dim);
  params.parts = static_cast<unsigned>(parts_of(problem.value_dim, of_block));
  params.beta_scale = problem.negative_eigenvalues ? 2 : 1;
}

/// Writes what depends on the call: pointers, strides, scalars.
void bind_step(const CallArguments& call, Update update, StepParams& params);

}  // namespace einkorn::linear_attention
