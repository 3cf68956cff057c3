#pragma once

// Batch-invariant mode: within it only variants serve that declare a row's result to have the same
// bits whatever other rows the call has, each with the tiling of its heuristic, not a tuned one.

namespace einkorn {

namespace detail {

/// Scopes that this thread is in. constinit: read without the guard of a dynamic initialiser.
extern constinit thread_local int batch_invariant_depth;

}  // namespace detail

/// Whether this thread is in the mode. Variants may ask in supports() and tilings(), which run on
/// the calling thread: plans made in the mode are kept apart.
inline bool batch_invariant_mode() noexcept { return detail::batch_invariant_depth > 0; }

/// Enters the mode once more; for bindings that cannot hold a BatchInvariantScope.
void begin_batch_invariant() noexcept;
/// Leaves it once. RuntimeError: this thread is not in it.
void end_batch_invariant();

/// The mode for the length of a scope, of this thread only. Scopes nest. A scope has to end on the
/// thread that it began on.
class BatchInvariantScope {
 public:
  BatchInvariantScope() noexcept { begin_batch_invariant(); }
  BatchInvariantScope(const BatchInvariantScope&) = delete;
  BatchInvariantScope& operator=(const BatchInvariantScope&) = delete;
  ~BatchInvariantScope() { --detail::batch_invariant_depth; }
};

}  // namespace einkorn
