// gdn_prefill/sm90/chunk_v1: chunks of 64 tokens. What of a chunk does not depend on the state is
// prepared for all chunks at once (ops/linear_attention/prepare_head_gate.cuh); then the chunks of
// a sequence follow each other (ops/linear_attention/recurrence_head_gate.cuh). Where sequences are
// cut, what each segment makes of any state comes first, and a merge carries the states through
// (ops/linear_attention/merge.cuh).

#include "ops/linear_attention/merge.cuh"
#include "ops/linear_attention/prepare_head_gate.cuh"
#include "ops/linear_attention/recurrence_head_gate.cuh"

namespace einkorn::gdn_prefill::sm90 {

using namespace linear_attention;

template <int kStages, class Initial, class Final, class Checkpoint, bool kKv>
__global__ void __launch_bounds__(kHeadRecurrenceThreads, 1)
    chunk_v1(const __grid_constant__ RecurrenceParams p) {
  head_recurrence<kStages, Pass::kWhole, Initial, Final, Checkpoint, kKv>(p);
}

}  // namespace einkorn::gdn_prefill::sm90
