#pragma once

// What the decode ops accept.

#include "ops/linear_attention/decode.h"

namespace einkorn::linear_attention {

/// Checks every argument of a call with a delta rule. TypeError: missing tensor, rank, dtype,
/// device. ValueError: sizes, strides, overlap, a scalar, an argument that the call's form does not
/// use.
DecodeProblem match_delta_decode(const DecodeCall& call);

/// The same with a decay alone.
DecodeProblem match_decay_decode(const DecodeCall& call);

}  // namespace einkorn::linear_attention
