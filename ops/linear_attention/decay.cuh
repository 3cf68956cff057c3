#pragma once

// What the kernels over chunks share whose decay d is a number a head: the powers of d that a chunk
// takes, the norms of its rows, and the states of cut sequences carried from segment to segment.
//
// Only powers with exponents from 0 to 64 occur, so that nothing overflows that the recurrence over
// tokens would not overflow, and d may be 0.

#include "ops/linear_attention/decay_params.h"
#include "ops/linear_attention/recurrence_parts.cuh"
#include "src/cuda/device/common/math.cuh"
#include "src/cuda/device/common/pdl.cuh"
#include "src/cuda/device/common/types.cuh"

namespace einkorn::linear_attention {

/// Powers of a head's d, in shared memory. A chunk of `n` tokens, of which only a part's last has
/// fewer than 64, takes them at its tokens i and j.
struct DecayTable {
  float attention[2 * kChunkTokens];  ///< at 64 + i - j: scale d^(i - j), 0 where i < j
  float queries[kChunkTokens];        ///< at i: scale d^(i + 1)
  float updates[2][kChunkTokens];     ///< at j: d^(n - 1 - j), 0 from n on; whole chunk, last chunk
  float state[2];                     ///< d^n; whole chunk, last chunk
};

namespace decay_detail {

/// log2 of d, minus infinity of 0.
__device__ inline float log2_decay(const DecayParams& p, int head) {
  const float decay = p.decay[head];
  return p.factor != 0 ? log2f(decay) : decay * 1.44269504f;
}

/// d^n; n = 0: 1, whatever d is.
__device__ inline float power(float log2, int n) {
  return n == 0 ? 1.0f : exp2f(log2 * static_cast<float>(n));
}

/// Fills the table; a block barrier must follow. `last`: tokens of the part's last chunk.
template <int kThreads>
__device__ inline void fill_table(DecayTable& table, const DecayParams& p, int head, int last) {
  const float log2 = log2_decay(p, head);
  for (int i = static_cast<int>(threadIdx.x); i < 2 * kChunkTokens; i += kThreads) {
    const int n = i - kChunkTokens;
    table.attention[i] = n < 0 ? 0.0f : p.scale * power(log2, n);
    const int token = i % kChunkTokens;
    const int tokens = n < 0 ? kChunkTokens : last;
    const int after = tokens - 1 - token;
    table.updates[i / kChunkTokens][token] = after < 0 ? 0.0f : power(log2, after);
    if (n < 0) table.queries[i] = p.scale * power(log2, i + 1);
    if (token == 0) table.state[i / kChunkTokens] = power(log2, tokens);
  }
}

/// 1 / sqrt(sum of squares + 1e-6) of a row of 128 elements, which lies in two tiles of 64 columns.
/// Eight lanes that follow each other have a row and all get its result.
__device__ inline float reciprocal_norm(const char* tiles, int row, int lane) {
  float sum = 0;
#pragma unroll
  for (int tile = 0; tile < 2; ++tile) {
    const uint4 piece = *reinterpret_cast<const uint4*>(tiles + tile * (kChunkTokens * 128) +
                                                        recurrence_detail::swizzled(row, lane % 8));
    const u32 pairs[4] = {piece.x, piece.y, piece.z, piece.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 pair = unpack2<bf16>(pairs[i]);
      sum += pair.x * pair.x;
      sum += pair.y * pair.y;
    }
  }
#pragma unroll
  for (int step = 1; step < 8; step *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  return rsqrt_approx(sum + 1e-6f);
}

/// The block's part. x of the grid: kHalves blocks of each value head; y: segments.
template <Pass kPass, int kHalves>
__device__ inline recurrence_detail::Job find_decay_job(const DecayParams& p) {
  recurrence_detail::Job job{};
  job.segment = blockIdx.y;
  job.part = find_segment(p.sequences, static_cast<int>(blockIdx.y));
  job.head = static_cast<int>(blockIdx.x) / kHalves;
  job.half = static_cast<int>(blockIdx.x) % kHalves;
  job.chunks = chunks_of(job.part.tokens);
  job.first_chunk = job.part.done;
  // Nobody asks what the last segment leaves behind.
  job.idle = job.part.sequence < 0 || (kPass == Pass::kPartial && job.part.last);
  return job;
}

/// Where a partial pass leaves what a segment makes of no state.
__device__ inline float* state_after(const DecayParams& p, const recurrence_detail::Job& job) {
  return p.carried + ((job.segment + 1) * p.value_heads + job.head) * (kChunkDim * kChunkDim);
}

}  // namespace decay_detail

/// States carried through the segments of cut sequences, in f32: a segment of n tokens that makes E
/// of no state makes d^n S + E of S; the sum takes the place of E. Grid: kCarryBlocks of each value
/// head; sequences. `initial` are states of T, [V][K] or, kKv, [K][V]; T none: zeros.
template <class T, bool kKv>
__global__ void __launch_bounds__(kCarryThreads)
    carry_states(const __grid_constant__ DecayParams p) {
  using namespace decay_detail;
  constexpr i64 kState = kChunkDim * kChunkDim;
  constexpr int kPairs = kState / 2 / (kCarryBlocks * kCarryThreads);
  static_assert(kPairs * 2 * kCarryBlocks * kCarryThreads == kState);
  const int head = static_cast<int>(blockIdx.x) / kCarryBlocks;
  const int first =
      static_cast<int>(blockIdx.x) % kCarryBlocks * kCarryThreads + static_cast<int>(threadIdx.x);
  const int sequence = static_cast<int>(blockIdx.y);
  wait_for_previous_kernel();
  const auto [segment, segments] = find_segments(p.sequences, sequence);
  const float factor = power(log2_decay(p, head), p.sequences.segment_chunks * kChunkTokens);
  float2 sum[kPairs] = {};
  if constexpr (!is_none<T>) {
    const T* state =
        static_cast<const T*>(p.initial) + (i64{sequence} * p.value_heads + head) * kState;
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      const int at = 2 * (first + i * kCarryBlocks * kCarryThreads);
      sum[i] = recurrence_detail::load_pair<T, kKv>(state, at / kChunkDim, at % kChunkDim);
    }
  }
  auto* made =
      reinterpret_cast<float2*>(p.carried + (i64{segment} * p.value_heads + head) * kState);
  if (segments > 1) {
#pragma unroll
    for (int i = 0; i < kPairs; ++i) made[first + i * kCarryBlocks * kCarryThreads] = sum[i];
  }
  made += i64{p.value_heads} * (kState / 2);
  for (int left = segments - 1; left > 0; --left) {
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      float2& at = made[first + i * kCarryBlocks * kCarryThreads];
      const float2 own = at;
      sum[i] = {own.x + factor * sum[i].x, own.y + factor * sum[i].y};
      at = sum[i];
    }
    made += i64{p.value_heads} * (kState / 2);
  }
}

}  // namespace einkorn::linear_attention
