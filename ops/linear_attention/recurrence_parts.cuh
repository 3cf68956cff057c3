#pragma once

// What the recurrences over chunks share, whichever instructions multiply: which part a block has,
// and the state's elements in memory and in registers.

#include "ops/linear_attention/chunk_params.h"
#include "ops/linear_attention/progress.cuh"
#include "ops/linear_attention/sequence_table.cuh"
#include "src/cuda/device/common/types.cuh"
#include "src/cuda/device/sm90/bulk.cuh"

namespace einkorn::linear_attention {

/// What a run over segments is for.
enum class Pass {
  kWhole,    ///< O, the last state, checkpoints
  kPartial,  ///< what a segment makes of no state, and of the identity: for merging
};

namespace recurrence_detail {

/// What is known of the block's part.
struct Job {
  Part part;
  i64 segment;
  int head;
  int half;  // of V
  bool identity;
  int chunks;
  int first_chunk;  // of the sequence's, the part's first
  bool idle;        // there is nothing to do
};

__device__ inline u32 swizzled(int row, int piece) {
  return static_cast<u32>(row * 128 + (piece ^ row % 8) * 16);
}

/// Two bf16 numbers, as far as they go, and what is missing of each.
__device__ inline void split(float x, float y, u32& high, u32& low) {
  high = pack2<bf16>(x, y);
  const float2 rounded = unpack2<bf16>(high);
  low = pack2<bf16>(x - rounded.x, y - rounded.y);
}

/// A state [V][K] (kKv: [K][V]) of T; v and k of a lane's pair of elements, next to each other in
/// K.
template <class T, bool kKv>
__device__ inline float2 load_pair(const void* state, int v, int k) {
  const T* from = static_cast<const T*>(state);
  if constexpr (kKv) {
    return {to_float(from[k * kChunkDim + v]), to_float(from[(k + 1) * kChunkDim + v])};
  } else if constexpr (sizeof(T) == 4) {
    return *reinterpret_cast<const float2*>(from + v * kChunkDim + k);
  } else {
    const u32 pair = *reinterpret_cast<const u32*>(from + v * kChunkDim + k);
    return {__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u)};
  }
}
template <class T, bool kKv>
__device__ inline void store_pair(void* state, int v, int k, float2 value) {
  T* to = static_cast<T*>(state);
  if constexpr (kKv) {
    to[k * kChunkDim + v] = from_float<T>(value.x);
    to[(k + 1) * kChunkDim + v] = from_float<T>(value.y);
  } else if constexpr (sizeof(T) == 4) {
    *reinterpret_cast<float2*>(to + v * kChunkDim + k) = value;
  } else {
    *reinterpret_cast<u32*>(to + v * kChunkDim + k) = pack2<bf16>(value.x, value.y);
  }
}

/// The chain's state at its begin and end. Its registers: 4j + 2r + i of S is V's row v0 + 8r and
/// K's 8j + 2t + i, t = lane % 4.
template <Pass kPass, class Initial, class Final, class Checkpoint, bool kKv>
struct States {
  static constexpr i64 kState = kChunkDim * kChunkDim;

  const RecurrenceParams& p;
  const Job& job;
  int v0;
  int t;

  __device__ i64 of_sequence() const {
    return (i64{job.part.sequence} * p.value_heads + job.head) * kState;
  }
  __device__ i64 of_segment() const { return (job.segment * p.value_heads + job.head) * kState; }

  /// Of slices: the word about what this warp's rows of V have come to.
  __device__ u32* progress() const {
    return progress_words(p, job.part.sequence, job.head) + v0 / 16;
  }

  __device__ void load(float (&s)[64]) const {
    if (kPass == Pass::kWhole && p.slice.first > 0) wait_for_chunks(progress(), p.slice.first);
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const int v = v0 + 8 * (i % 2);
      const int k = 8 * (i / 2) + 2 * t;
      float2 pair{0, 0};
      if constexpr (kPass == Pass::kPartial) {
        if (job.identity) pair = {v == k ? 1.0f : 0.0f, v == k + 1 ? 1.0f : 0.0f};
      } else if (p.slice.chunks > 0 ? !job.part.first : !(job.part.first && job.part.last)) {
        // Also the first of a cut sequence: `final`, which another block writes, may be `initial`.
        pair = load_pair<float, false>(p.carried + of_segment(), v, k);
      } else if constexpr (!is_none<Initial>) {
        pair =
            load_pair<Initial, kKv>(static_cast<const Initial*>(p.initial) + of_sequence(), v, k);
      }
      s[2 * i] = pair.x;
      s[2 * i + 1] = pair.y;
    }
  }

  template <class T, bool kLayout>
  __device__ void store_all(T* to, const float (&s)[64]) const {
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      store_pair<T, kLayout>(to, v0 + 8 * (i % 2), 8 * (i / 2) + 2 * t, {s[2 * i], s[2 * i + 1]});
    }
  }

  /// After chunk c of the block's part.
  __device__ void store_checkpoint(const float (&s)[64], int c) const {
    if constexpr (!is_none<Checkpoint>) {
      const int every = p.sequences.checkpoint_chunks;
      const int done = job.first_chunk + c + 1;
      if (done % every != 0 || job.part.tokens < (c + 1) * kChunkTokens) return;
      const i64 row = job.part.checkpoint + done / every - 1;
      store_all<Checkpoint, kKv>(
          static_cast<Checkpoint*>(p.checkpoints) + (row * p.value_heads + job.head) * kState, s);
    }
  }

  __device__ void store(const float (&s)[64]) const {
    if constexpr (kPass == Pass::kPartial) {
      store_all<float, false>(p.partial + 2 * of_segment() + (job.identity ? kState : 0), s);
    } else {
      if (p.slice.chunks > 0 && !job.part.last) {
        store_all<float, false>(p.carried + of_segment(), s);
      }
      if constexpr (!is_none<Final>) {
        if (job.part.last) store_all<Final, kKv>(static_cast<Final*>(p.final) + of_sequence(), s);
      }
      if (p.slice.chunks > 0) {
        __syncwarp();
        if (threadIdx.x % 32 == 0) {
          store_release(progress(), static_cast<u32>(p.slice.first + p.slice.chunks));
        }
      }
    }
  }
};

/// A later slice's kernel waits for records and states by themselves; any other at once for all
/// that comes before. What prepares the next slice may begin when all blocks have their places.
__device__ inline void begin_recurrence(const RecurrenceParams& p) {
  if (p.slice.first > 0) return;
  wait_for_previous_kernel();
  if (p.slice.chunks > 0) allow_next_kernel();
}

/// By a warp when its work is over: what comes next waits for this kernel alone.
__device__ inline void end_recurrence(const RecurrenceParams& p) {
  if (p.slice.first > 0) wait_for_previous_kernel();
}

/// By the thread that has the copy engine fetch records, before the first. Only then may the next
/// slice be prepared: one word counts the chunks of both.
__device__ inline void wait_for_records(const RecurrenceParams& p, const Job& job) {
  if (p.slice.first == 0) return;
  wait_for_chunks(prepared_word(p, job.head), (p.slice.first + p.slice.chunks) * p.sequences.count);
  allow_next_kernel();
  fence_async_proxy_global();
}

/// The block's part. x of the grid: kSides blocks of each value head; y: segments.
template <Pass kPass, int kHalves>
__device__ inline Job find_job(const RecurrenceParams& p) {
  constexpr int kSides = (kPass == Pass::kPartial ? 2 : 1) * kHalves;
  const int side = static_cast<int>(blockIdx.x) % kSides;
  Job job{};
  const int segment = static_cast<int>(blockIdx.y);
  job.segment = segment;
  job.part = p.slice.chunks > 0 ? find_slice(p.sequences, p.slice, segment)
                                : find_segment(p.sequences, segment);
  job.head = static_cast<int>(blockIdx.x) / kSides;
  job.half = side % kHalves;
  job.identity = side >= kHalves;
  job.chunks = chunks_of(job.part.tokens);
  job.first_chunk = job.part.done;
  // Nobody asks what the last segment makes of a state.
  job.idle = job.part.sequence < 0 || (kPass == Pass::kPartial && job.part.last);
  return job;
}

}  // namespace recurrence_detail
}  // namespace einkorn::linear_attention
