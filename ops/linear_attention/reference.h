#pragma once

// The prefill ops in double, by two algorithms that share nothing but the reading of arguments.

#include "ops/linear_attention/prefill.h"

namespace einkorn::linear_attention {

/// Token by token: the definition, and what every variant is held against. Outputs of the
/// contract's dtypes or f64, which keeps the last rounding out of a comparison. CPU only.
void prefill_recurrent(const PrefillCall& call);

/// In chunks of 64 tokens, as fast kernels do it, with the decay between two tokens as the product
/// of all decays between them: right for any gate, also one that forgets everything.
void prefill_chunked(const PrefillCall& call);

}  // namespace einkorn::linear_attention
