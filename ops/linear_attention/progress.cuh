#pragma once

// What a slice's kernels wait for: not for the kernels before them, whose ends are seen late and in
// order, but for words that these write. The recurrence over a slice begins beside that over the
// one before, each warp waiting for the state that the warp of the same rows of V leaves, and for
// the slice's records to be counted.
//
// That cannot block: a kernel comes to wait only when all blocks of those before have their places
// or are through (programmatic launches: preparing follows a recurrence, and the next recurrence
// preparing).

#include "ops/linear_attention/chunk_params.h"
#include "src/cuda/device/common/memory.cuh"
#include "src/cuda/device/common/pdl.cuh"
#include "src/cuda/device/common/types.cuh"

namespace einkorn::linear_attention {

/// The words of a sequence and value head. P: the parameters of preparing or of the recurrence.
template <class P>
__device__ inline u32* progress_words(const P& p, i64 sequence, int head) {
  return p.progress + (sequence * p.value_heads + head) * kProgressWords;
}

/// Blocks of a value head that have prepared, of all sequences together.
template <class P>
__device__ inline u32* prepared_word(const P& p, int head) {
  return progress_words(p, 0, head) + kProgressPrepared;
}

__device__ inline void wait_for_chunks(const u32* word, int chunks) {
  while (load_acquire(word) < static_cast<u32>(chunks)) {
  }
}

/// Chunks of a value head that a slice's kernel prepares.
__device__ inline int prepared_by(const PrepareParams& p) {
  return p.sequences.count * p.slice.chunks;
}

/// Sets a head's words to what is true when the first slice has been prepared: what comes next
/// waits for all of this kernel.
__device__ inline void begin_progress(const PrepareParams& p) {
  if (blockIdx.y != 0 || blockIdx.z != 0) return;
  const int head = static_cast<int>(blockIdx.x);
  const int words = p.sequences.count * kProgressWords;
  for (int i = static_cast<int>(threadIdx.x); i < words; i += kPrepareThreads) {
    progress_words(p, i / kProgressWords, head)[i % kProgressWords] = 0;
  }
  __syncthreads();
  if (threadIdx.x == 0) *prepared_word(p, head) = static_cast<u32>(prepared_by(p));
}

/// A slice but the first reads only what has been there since before the recurrence over the one
/// before began, and runs beside that, on the multiprocessors that it leaves.
__device__ inline void begin_preparing(const PrepareParams& p) {
  allow_next_kernel();
  if (p.slice.first > 0) return;
  wait_for_previous_kernel();
  if (p.slice.chunks > 0) begin_progress(p);
}

/// Counts the block's chunk. What comes after all slices waits for the last kernel alone, which
/// waits for this one, and this one's last block for the recurrence before. Not inlined: ptxas then
/// spills a register or two in the middle of preparing.
__device__ __noinline__ void end_slice(const PrepareParams& p) {
  __syncthreads();
  const u32 index = blockIdx.z * gridDim.y + blockIdx.y;
  if (threadIdx.x == 0 && index < static_cast<u32>(prepared_by(p))) {
    add_release(prepared_word(p, static_cast<int>(blockIdx.x)), 1);
  }
  const bool last = index + 1 == gridDim.y * gridDim.z && blockIdx.x + 1 == gridDim.x;
  if (last) wait_for_previous_kernel();
}
__device__ inline void end_preparing(const PrepareParams& p) {
  if (p.slice.first > 0) end_slice(p);
}

}  // namespace einkorn::linear_attention
