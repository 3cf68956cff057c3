#include <einkorn/batch_invariant.h>
#include <einkorn/error.h>

namespace einkorn {

constinit thread_local int detail::batch_invariant_depth = 0;

void begin_batch_invariant() noexcept { ++detail::batch_invariant_depth; }

void end_batch_invariant() {
  EK_CHECK(
      batch_invariant_mode(), ErrorKind::kRuntime,
      "end_batch_invariant: thread: expected one in batch-invariant mode, got one that is not\n"
      "  hint: end it once for each begin_batch_invariant(), on the same thread");
  --detail::batch_invariant_depth;
}

}  // namespace einkorn
