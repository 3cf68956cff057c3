#pragma once

// Rows of q, k and V on their way into tiles that the tensor cores of Hopper read, and those of O
// out of one: by pieces of 16 bytes, since heads lie in rows of 256 bytes, too small for the copy
// engine.

#include "ops/linear_attention/recurrence_parts.cuh"
#include "src/cuda/device/common/cp_async.cuh"
#include "src/cuda/device/sm90/bulk.cuh"

namespace einkorn::linear_attention::recurrence_detail {

inline constexpr int kTile = kChunkTokens * 128;  // bytes of 64 tokens and 64 columns

/// What a warp that loads has: pieces of rows of 128 columns, or 64.
struct Rows {
  const char* from;  // the part's first
  i64 token;         // bytes between rows
  int to;            // in a stage
};

/// Rows of 128 columns of q or k, of the head that `group` value heads share.
__device__ inline Rows shared_rows(const void* tensor, i64 token, i64 head, int group,
                                   const Job& job, int to) {
  const char* from = static_cast<const char*>(tensor);
  return {from + 2 * (job.part.token * token + job.head / group * head), 2 * token, to};
}

/// Rows of the block's half of V.
__device__ inline Rows value_rows(const RecurrenceParams& p, const Job& job, int to) {
  const char* from = static_cast<const char*>(p.v);
  return {
      from + 2 * (job.part.token * p.v_token + job.head * p.v_head + job.half * (kChunkDim / 2)),
      2 * p.v_token, to};
}

/// Those of tensor `which` of q, k and V; Memory says where in a stage each lies.
template <class Memory>
__device__ inline Rows token_rows(const RecurrenceParams& p, const Job& job, int which) {
  if (which == 0) return shared_rows(p.q, p.q_token, p.q_head, p.group, job, Memory::kQueries);
  if (which == 1) return shared_rows(p.k, p.k_token, p.k_head, p.group, job, Memory::kKeys);
  return value_rows(p, job, Memory::kValues);
}

/// Copies a chunk's rows into a stage, kAtOnce of a warp's steps unrolled; rows from `left` on
/// become zeros.
template <int kPieces, int kAtOnce = kChunkTokens * kPieces / 32>
__device__ inline void copy_rows(const Rows& rows, char* stage, int left, int lane) {
  constexpr int kRows = 32 / kPieces;  // a step
  const int piece = lane % kPieces;
  char* const to = stage + rows.to + piece / 8 * kTile;
#pragma unroll kAtOnce
  for (int i = 0; i < kChunkTokens / kRows; ++i) {
    const int row = kRows * i + lane / kPieces;
    const bool there = row < left;
    const char* from = rows.from + (there ? row * rows.token : 0) + piece * 16;
    cp_async_fill<16>(to + swizzled(row, piece % 8), from, there ? 16 : 0);
  }
}

/// Takes a half of O, chunk by chunk, from where `tile_of(c)` says, after `wait(c)`, to where it
/// belongs, kAtOnce steps of 4 rows at once; `taken(c)` follows when a tile may be overwritten.
template <int kAtOnce, class TileOf, class Wait, class Taken>
__device__ inline void store_half(const RecurrenceParams& p, const Job& job, int half, int lane,
                                  TileOf tile_of, Wait wait, Taken taken) {
  constexpr int kSteps = kChunkTokens / 4;
  const i64 token = 2 * p.o_token;
  char* out =
      static_cast<char*>(p.o) +
      2 * ((job.part.token + lane / 8) * p.o_token + job.head * p.o_head + half * (kChunkDim / 2)) +
      lane % 8 * 16;
#pragma unroll 1
  for (int c = 0; c < job.chunks; ++c) {
    const int left = job.part.tokens - c * kChunkTokens - lane / 8;
    const char* tile = tile_of(c);
    wait(c);
#pragma unroll 1
    for (int base = 0; base < kSteps; base += kAtOnce) {
      uint4 pieces[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        pieces[i] =
            *reinterpret_cast<const uint4*>(tile + swizzled(4 * (base + i) + lane / 8, lane % 8));
      }
      if (base + kAtOnce == kSteps) taken(c);
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (4 * (base + i) < left) *reinterpret_cast<uint4*>(out + 4 * i * token) = pieces[i];
      }
      out += 4 * kAtOnce * token;
    }
  }
}

/// Takes the block's half of O from the tile at `tile`. Memory has out_full and out_empty.
template <class Memory>
__device__ inline void store_loop(const RecurrenceParams& p, const Job& job, const char* tile,
                                  Memory& memory, int lane) {
  store_half<kChunkTokens / 4>(
      p, job, job.half, lane, [&](int) { return tile; },
      [&](int c) { barrier_wait(&memory.out_full, c & 1); },
      [&](int) { barrier_arrive(&memory.out_empty); });
}

/// Descriptor of 16 columns, from 16 `step` on, of a matrix of two tiles of 64 rows.
__device__ inline u64 columns_of(u64 tiles, int step) {
  return tiles + static_cast<u64>(step / 4 * (kTile >> 4) + step % 4 * 2);
}

}  // namespace einkorn::linear_attention::recurrence_detail
