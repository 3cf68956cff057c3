#pragma once

// States carried through the segments of cut sequences, in f32: a segment that makes E of no state
// and M of the identity makes S M + E of S (states as [V][K], rows times M). A block has kRows rows
// of V of a value head and goes through its sequence's segments in order. What the first one begins
// with is carried, too.

#include "ops/linear_attention/chunk_params.h"
#include "ops/linear_attention/sequence_table.cuh"
#include "src/cuda/device/common/pdl.cuh"
#include "src/cuda/device/common/types.cuh"

namespace einkorn::linear_attention {

inline constexpr int kMergeThreads = kChunkDim;

/// Grid: blocks of rows of each value head; sequences. `initial` are states of T, [V][K] or, kKv,
/// [K][V]; T none: zeros.
template <class T, bool kKv>
__global__ void __launch_bounds__(kMergeThreads)
    merge_states(const __grid_constant__ RecurrenceParams p) {
  __shared__ __align__(16) float rows[kMergeRows][kChunkDim];
  constexpr int kBlocks = kChunkDim / kMergeRows;
  constexpr i64 kState = kChunkDim * kChunkDim;
  const int k = static_cast<int>(threadIdx.x);
  const int head = static_cast<int>(blockIdx.x) / kBlocks;
  const int v0 = static_cast<int>(blockIdx.x) % kBlocks * kMergeRows;
  const int sequence = static_cast<int>(blockIdx.y);
  wait_for_previous_kernel();
  const auto [segment, segments] = find_segments(p.sequences, sequence);
  float sum[kMergeRows] = {};
  if constexpr (!is_none<T>) {
    const T* state =
        static_cast<const T*>(p.initial) + (i64{sequence} * p.value_heads + head) * kState;
#pragma unroll
    for (int r = 0; r < kMergeRows; ++r) {
      sum[r] = to_float(kKv ? state[k * kChunkDim + v0 + r] : state[(v0 + r) * kChunkDim + k]);
    }
  }
  const auto carry = [&](i64 to) {
    float* carried = p.carried + to * kState;
#pragma unroll
    for (int r = 0; r < kMergeRows; ++r) carried[(v0 + r) * kChunkDim + k] = sum[r];
  };
  if (segments > 1) carry(i64{segment} * p.value_heads + head);
  for (int i = 0; i + 1 < segments; ++i) {
    const i64 at = i64{segment + i} * p.value_heads + head;
    const float* made = p.partial + 2 * at * kState;  // of no state, then of the identity
    const float* column = made + kState + k;
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kMergeRows; ++r) {
      rows[r][k] = sum[r];
      sum[r] = made[(v0 + r) * kChunkDim + k];
    }
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < kChunkDim; j += 4) {
      const float m[4] = {column[j * kChunkDim], column[(j + 1) * kChunkDim],
                          column[(j + 2) * kChunkDim], column[(j + 3) * kChunkDim]};
#pragma unroll
      for (int r = 0; r < kMergeRows; ++r) {
        const float4 row = *reinterpret_cast<const float4*>(&rows[r][j]);
        sum[r] += row.x * m[0];
        sum[r] += row.y * m[1];
        sum[r] += row.z * m[2];
        sum[r] += row.w * m[3];
      }
    }
    carry(at + p.value_heads);
  }
}

}  // namespace einkorn::linear_attention
