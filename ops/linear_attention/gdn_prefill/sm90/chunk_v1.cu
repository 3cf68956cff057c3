// gdn_prefill/sm90/chunk_v1: chunks of 64 tokens. What of a chunk does not depend on the state is
// prepared for all chunks at once (ops/linear_attention/prepare_head_gate.cuh); then the chunks of
// a sequence follow each other (ops/linear_attention/recurrence_wgmma.cuh). Where sequences are
// cut, what each segment makes of any state comes first, and a merge carries the states through
// (ops/linear_attention/merge.cuh).

#include "ops/linear_attention/merge.cuh"
#include "ops/linear_attention/prepare_head_gate.cuh"
#include "ops/linear_attention/recurrence_wgmma.cuh"

namespace einkorn::gdn_prefill::sm90 {

using namespace linear_attention;

__global__ void __launch_bounds__(kStartsThreads)
    chunk_v1_starts(const __grid_constant__ StartsParams p) {
  wait_for_previous_kernel();
  write_starts<kStartsThreads>(p);
}

/// T: of the gate; B: of beta.
template <class T, class B, int kGate, int kBeta, bool kDoubled, bool kL2norm, int kResident>
__global__ void __launch_bounds__(kPrepareThreads, kResident)
    chunk_v1_prepare(const __grid_constant__ PrepareParams p) {
  prepare_head_gate<bf16, T, B, 16, static_cast<Gate>(kGate), static_cast<Beta>(kBeta), kDoubled,
                    kL2norm>(p);
}

template <int kStages>
__global__ void __launch_bounds__(kRecurrenceThreads, 1)
    chunk_v1_partial(const __grid_constant__ RecurrenceParams p) {
  recurrence<kStages, Pass::kPartial, none, none, none, false>(p);
}

template <class Initial, bool kKv>
__global__ void __launch_bounds__(kMergeThreads)
    chunk_v1_merge(const __grid_constant__ RecurrenceParams p) {
  merge<Initial, kKv>(p);
}

template <int kStages, class Initial, class Final, class Checkpoint, bool kKv>
__global__ void __launch_bounds__(kRecurrenceThreads, 1)
    chunk_v1(const __grid_constant__ RecurrenceParams p) {
  recurrence<kStages, Pass::kWhole, Initial, Final, Checkpoint, kKv>(p);
}

}  // namespace einkorn::gdn_prefill::sm90
