#pragma once

// The prefill ops on a CPU: what their variants cpu/heads_v1 run.

#include "ops/linear_attention/prefill.h"

namespace einkorn::linear_attention {

/// Runs a matched call on all threads. A task is a value head of a sequence and `columns` of its
/// value dimension (0: all), whose states do not depend on each other; results have the same bits
/// whatever `columns` is. No scratch memory but the threads' own, which grows with K times columns.
void run_heads(const PrefillCall& call, std::int64_t columns);

/// Tilings of `columns` worth a try on a device of so many threads, the best guess first.
std::vector<std::int64_t> head_columns(const PrefillProblem& problem, int threads);

}  // namespace einkorn::linear_attention
