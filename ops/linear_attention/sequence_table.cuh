#pragma once

// Which sequence a chunk or a segment is of. Sequences of one length are counted out; of packed
// ones the starts are looked up, so that nothing has to be known on the host.

#include "ops/linear_attention/chunk_params.h"
#include "src/cuda/device/common/pdl.cuh"
#include "src/cuda/device/common/types.cuh"

namespace einkorn::linear_attention {

/// Tokens that belong together: a chunk, or a segment's worth of them.
struct Part {
  i64 token;       ///< its first, among all
  i64 chunk;       ///< likewise
  i64 checkpoint;  ///< the row of its sequence's first checkpoint
  int tokens;
  int sequence;
  int done;          ///< chunks of the sequence before it
  bool first, last;  ///< of its sequence
};

__device__ inline int chunks_of(int tokens) { return (tokens + kChunkTokens - 1) / kChunkTokens; }

/// Segments of a sequence, at least one, so that the state of an empty one is passed on.
__device__ inline int segments_of(int tokens, int segment_chunks) {
  const int chunks = chunks_of(tokens);
  return chunks <= segment_chunks ? 1 : (chunks + segment_chunks - 1) / segment_chunks;
}

/// The last sequence whose start, as `of` tells it, is not behind `index`.
template <class Of>
__device__ inline int find_start(const SequenceTable& table, int index, Of of) {
  int low = 0;
  int high = table.count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (of(table.starts[middle]) <= index ? low : high) = middle;
  }
  return low;
}

/// Chunk `index` among all; no tokens: there is no such chunk.
__device__ inline Part find_chunk(const SequenceTable& table, int index) {
  Part part{};
  int done;
  int tokens = table.tokens;
  if (table.starts != nullptr) {
    part.sequence =
        find_start(table, index, [](const SequenceStart& start) { return start.chunk; });
    const SequenceStart start = table.starts[part.sequence];
    tokens = table.starts[part.sequence + 1].token - start.token;
    part.token = start.token;
    done = index - start.chunk;
  } else {
    const int chunks = chunks_of(tokens);
    part.sequence = index / chunks;
    part.token = i64{part.sequence} * tokens;
    done = index - part.sequence * chunks;
  }
  const int left = tokens - done * kChunkTokens;
  part.token += i64{done} * kChunkTokens;
  part.chunk = index;
  part.tokens = left < 0 ? 0 : left < kChunkTokens ? left : kChunkTokens;
  return part;
}

/// The chunk among all that block `index` of `blocks` of a launch has; past the last: none. Chunks
/// come last first, of all sequences side by side: the recurrence begins with what has just been
/// written, and much of it is still in the L2 cache.
__device__ inline int find_chunk_of_block(const SequenceTable& table, Slice slice, int index,
                                          int blocks) {
  if (table.starts != nullptr) return blocks - 1 - index;
  const int all = chunks_of(table.tokens);
  const int first = slice.chunks > 0 ? slice.first : 0;
  const int chunks = slice.chunks > 0 ? slice.chunks : all;
  const int row = table.count == 1 ? index : index / table.count;
  if (row >= chunks) return table.count * all;
  return (index - row * table.count) * all + first + chunks - 1 - row;
}

/// Segment `index` among all; no sequence (-1): there is no such segment.
__device__ inline Part find_segment(const SequenceTable& table, int index) {
  Part part{};
  int done;
  int tokens = table.tokens;
  if (table.starts != nullptr) {
    part.sequence =
        find_start(table, index, [](const SequenceStart& start) { return start.segment; });
    const SequenceStart start = table.starts[part.sequence];
    tokens = table.starts[part.sequence + 1].token - start.token;
    part.token = start.token;
    part.chunk = start.chunk;
    part.checkpoint = start.checkpoint;
    done = index - start.segment;
  } else {
    const int segments = segments_of(tokens, table.segment_chunks);
    part.sequence = index / segments;
    part.token = i64{part.sequence} * tokens;
    part.chunk = i64{part.sequence} * chunks_of(tokens);
    if (table.checkpoint_chunks > 0) {
      part.checkpoint = i64{part.sequence} * (tokens / (kChunkTokens * table.checkpoint_chunks));
    }
    done = index - part.sequence * segments;
  }
  const int segments = segments_of(tokens, table.segment_chunks);
  if (part.sequence >= table.count || done >= segments) {
    part.sequence = -1;
    return part;
  }
  const int chunk = done * table.segment_chunks;
  const int left = tokens - chunk * kChunkTokens;
  const int most = table.segment_chunks * kChunkTokens;
  part.token += i64{chunk} * kChunkTokens;
  part.chunk += chunk;
  part.done = chunk;
  part.tokens = left < most ? left : most;
  part.first = done == 0;
  part.last = done + 1 == segments;
  return part;
}

/// What a launch about a slice has of a sequence that is one segment.
__device__ inline Part find_slice(const SequenceTable& table, Slice slice, int sequence) {
  Part part = find_segment(table, sequence);
  const int left = part.tokens - slice.first * kChunkTokens;
  const int most = slice.chunks * kChunkTokens;
  part.token += i64{slice.first} * kChunkTokens;
  part.chunk += slice.first;
  part.done = slice.first;
  part.tokens = left < most ? left : most;
  part.first = slice.first == 0;
  part.last = left <= most;
  return part;
}

/// Segments of a sequence among all.
struct Segments {
  int first;
  int count;
};
__device__ inline Segments find_segments(const SequenceTable& table, int sequence) {
  if (table.starts == nullptr) {
    const int count = segments_of(table.tokens, table.segment_chunks);
    return {sequence * count, count};
  }
  const SequenceStart start = table.starts[sequence];
  return {start.segment,
          segments_of(table.starts[sequence + 1].token - start.token, table.segment_chunks)};
}

/// Fills the starts from the bounds of packed sequences, in one block. A template, or every kernel
/// whose source includes this would be compiled together with it.
template <int kThreads>
__global__ void __launch_bounds__(kThreads) write_starts(const __grid_constant__ StartsParams p) {
  __shared__ int sums[3][kThreads];
  wait_for_previous_kernel();
  const auto bound = [&](int i) {
    return p.wide != 0 ? static_cast<int>(static_cast<const i64*>(p.bounds)[i])
                       : static_cast<const int*>(p.bounds)[i];
  };
  const int thread = static_cast<int>(threadIdx.x);
  int before[3] = {0, 0, 0};
  for (int base = 0; base <= p.count; base += kThreads) {
    const int at = base + thread;
    int own[3] = {0, 0, 0};
    if (at < p.count) {
      const int tokens = bound(at + 1) - bound(at);
      own[0] = chunks_of(tokens);
      own[1] = segments_of(tokens, p.segment_chunks);
      own[2] = p.checkpoint_chunks > 0 ? tokens / (kChunkTokens * p.checkpoint_chunks) : 0;
    }
    for (int i = 0; i < 3; ++i) sums[i][thread] = own[i];
    __syncthreads();
    for (int step = 1; step < kThreads; step *= 2) {
      int add[3] = {0, 0, 0};
      if (thread >= step) {
        for (int i = 0; i < 3; ++i) add[i] = sums[i][thread - step];
      }
      __syncthreads();
      for (int i = 0; i < 3; ++i) sums[i][thread] += add[i];
      __syncthreads();
    }
    if (at <= p.count) {
      p.starts[at] = {bound(at), before[0] + sums[0][thread] - own[0],
                      before[1] + sums[1][thread] - own[1], before[2] + sums[2][thread] - own[2]};
    }
    for (int i = 0; i < 3; ++i) before[i] += sums[i][kThreads - 1];
    __syncthreads();
  }
}

}  // namespace einkorn::linear_attention
