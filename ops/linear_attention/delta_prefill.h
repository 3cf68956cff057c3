#pragma once

// What the prefill ops with a delta rule add to the others: the gate in its forms, and beta.

#include "ops/linear_attention/prefill.h"
#include "ops/linear_attention/prefill_match.h"

namespace einkorn::linear_attention {

/// g, beta and what goes with them. TypeError: missing or needless tensor, rank, dtype, device.
/// ValueError: sizes, strides, a scalar.
void match_delta(const PrefillCall& call, PrefillNames& names);

/// ValueError where an output shares memory with one of them.
void check_delta_overlaps(const PrefillCall& call);

/// ValueError for what the contract does not take of a parsed problem's gate and beta.
void check_delta(const PrefillKind& kind, const PrefillProblem& problem);

}  // namespace einkorn::linear_attention
