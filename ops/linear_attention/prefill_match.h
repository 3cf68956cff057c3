#pragma once

// What the prefill ops accept: an op's match() takes the three steps in order, its gate and what
// else is its own between the first two.

#include <cstddef>
#include <string_view>

#include <einkorn/error.h>
#include <fmt/format.h>

#include "ops/linear_attention/match_call.h"
#include "ops/linear_attention/prefill.h"
#include "ops/rows.h"

namespace einkorn::linear_attention {

/// The names that the tensors of one call share; a row is one of the batch.
struct PrefillNames : CallNames {
  PrefillNames() : CallNames("batch", Range{1, kMaxPrefillBatch}, Range{0, kMaxPrefillTokens}) {}

  Dim sequences{"sequences"};
};

/// ValueError for a number that is none of an enum's values.
template <class Choice>
void check_choice(std::string_view op, std::string_view argument, Choice value) {
  EK_CHECK(static_cast<std::size_t>(value) < EnumNames<Choice>::kNames.size(), ErrorKind::kValue,
           fmt::format("{}: {}: expected one of its {} choices, got number {}", op, argument,
                       EnumNames<Choice>::kNames.size(), static_cast<int>(value)));
}

/// q, k and v. TypeError: missing, rank, dtype, device. ValueError: sizes, strides.
void match_prefill_inputs(const PrefillCall& call, PrefillNames& names);

/// Everything but the gate, and what the call is. Errors beside those: bounds, states, overlap of
/// outputs with each other and with what all ops have, scalars, NotSplittable. Nothing is read from
/// a GPU but cu_seqlens where cu_seqlens_cpu was left out.
PrefillProblem match_prefill(const PrefillCall& call, PrefillNames& names);

/// ValueError where an output shares memory with `input`.
void check_outputs_apart(const PrefillCall& call, const cpu::Memory& input);

}  // namespace einkorn::linear_attention
