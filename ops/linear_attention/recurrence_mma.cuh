#pragma once

// The recurrence over the chunks of a sequence by products of single warps (sm_80 and newer), from
// the records:
//
//   U = inverse (beta V - keys S)      O = queries S + attention U      S = decay S + updates U
//
// A block has a sequence (or a segment of one) and a value head. As on Hopper
// (ops/linear_attention/recurrence_wgmma.cuh) everything is kept transposed: a warp has 16 rows of
// S^T [V][K], which do not depend on other rows, so the eight of a block only share what they read.
// A result's registers are the next product's left side; the right sides come from shared memory.
// beta V - keys S and U enter as sums of two bf16 numbers each.
//
// Records and V are copied by all threads, with two stages one chunk ahead. A warp's columns of V,
// once read, are the place where its columns of O are turned around.

#include "ops/linear_attention/recurrence_parts.cuh"
#include "ops/linear_attention/triangle.cuh"
#include "src/cuda/device/common/cp_async.cuh"
#include "src/cuda/device/common/mma.cuh"
#include "src/cuda/device/common/pdl.cuh"

namespace einkorn::linear_attention {

inline constexpr int kWarpRecurrenceThreads = 256;

/// Shared memory of a stage: a record, then 64 tokens of V in two tiles of 64 columns.
inline constexpr int kWarpStageValues = Record::kBytes;
inline constexpr int kWarpStage = kWarpStageValues + 2 * kChunkTokens * 128;

namespace recurrence_detail {

/// d += A B^T, of 16 rows and columns of A, `left`, and 16 kPairs rows of B, kRowBytes each.
template <int kPairs, int kRowBytes = 128>
__device__ inline void multiply_step(float* d, const u32 (&left)[4], const char* rows) {
#pragma unroll
  for (int pair = 0; pair < kPairs; ++pair) {
    u32 four[4];
    ldmatrix(four, rows + pair * 16 * kRowBytes);
    const u32 b[2][2] = {{four[0], four[1]}, {four[2], four[3]}};
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      mma_m16n8k16<bf16>(*reinterpret_cast<float (*)[4]>(d + 4 * (2 * pair + i)), left, b[i]);
    }
  }
}

/// This lane's row of B in a tile, for 16 columns from 16 `step` on.
__device__ inline u32 operand_row(int step, int lane) {
  return swizzled(lane % 8 + lane / 16 * 8, step * 2 + lane / 8 % 2);
}

/// d += (A + A low) B^T of 16 columns of A, from 16 `step` on.
template <int kPairs, int kRowBytes = 128>
__device__ inline void multiply_both(float* d, const u32 (&a)[16], const u32 (&a_low)[16], int step,
                                     const char* rows) {
  const auto left = [step](const u32(&all)[16]) -> const u32(&)[4] {
    return *reinterpret_cast<const u32(*)[4]>(all + 4 * step);
  };
  multiply_step<kPairs, kRowBytes>(d, left(a), rows);
  multiply_step<kPairs, kRowBytes>(d, left(a_low), rows);
}

/// Of all 64.
template <int kPairs>
__device__ inline void multiply_parts(float* d, const u32 (&a)[16], const u32 (&a_low)[16],
                                      const char* tile, int lane) {
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    multiply_both<kPairs>(d, a, a_low, step, tile + operand_row(step, lane));
  }
}

/// The same of rows kFirst, 0 or 32, to kEnd of a triangle.
template <int kFirst, int kEnd>
__device__ inline void multiply_triangle(float* d, const u32 (&a)[16], const u32 (&a_low)[16],
                                         const char* triangle, int lane) {
  const auto rows = [&](int first, int step) {
    return triangle + triangle_place(first + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2);
  };
#pragma unroll
  for (int step = 0; step < 2; ++step) {
    multiply_both<(kEnd - kFirst) / 16, 64>(d, a, a_low, step, rows(kFirst, step));
  }
  if constexpr (kEnd > 32) {
#pragma unroll
    for (int step = 2; step < 4; ++step) {
      multiply_both<2, 64>(d + (32 - kFirst) / 2, a, a_low, step, rows(32, step));
    }
  }
}

/// d += S^T B^T of 32 rows of B, which lie in two tiles of 64 columns. S enters as bf16, or kExact
/// as the sum of two; it is rounded again at each use, since there are no registers to keep it in.
template <bool kExact>
__device__ inline void multiply_state(float (&d)[16], const float (&s)[64], const char* tile,
                                      int lane) {
#pragma unroll
  for (int step = 0; step < 8; ++step) {
    const char* rows = tile + step / 4 * (kChunkTokens * 128) + operand_row(step % 4, lane);
    u32 high[4];
    u32 low[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      split(s[8 * step + 2 * i], s[8 * step + 2 * i + 1], high[i], low[i]);
    }
    multiply_step<2>(d, high, rows);
    if constexpr (kExact) multiply_step<2>(d, low, rows);
  }
}

/// Queues the copies of chunk c into a stage; rows past the end become zeros.
template <Pass kPass>
__device__ inline void copy_chunk(const RecurrenceParams& p, const Job& job, char* stage, int c) {
  const int thread = static_cast<int>(threadIdx.x);
  const unsigned char* record =
      p.records + ((job.part.chunk + c) * p.value_heads + job.head) * Record::kBytes;
#pragma unroll 1
  for (int i = thread * 16; i < Record::kBytes; i += kWarpRecurrenceThreads * 16) {
    cp_async<16>(stage + i, record + i);
  }
  if (kPass == Pass::kPartial && job.identity) return;
  const int left = job.part.tokens - c * kChunkTokens;
  const char* values =
      static_cast<const char*>(p.v) +
      2 * ((job.part.token + i64{c} * kChunkTokens) * p.v_token + job.head * p.v_head);
#pragma unroll
  for (int i = 0; i < kChunkTokens * 16 / kWarpRecurrenceThreads; ++i) {
    const int row = i * (kWarpRecurrenceThreads / 16) + thread / 16;
    const int piece = thread % 16;
    const bool there = row < left;
    cp_async_fill<16>(
        stage + kWarpStageValues + piece / 8 * (kChunkTokens * 128) + swizzled(row, piece % 8),
        values + (there ? 2 * row * p.v_token : 0) + piece * 16, there ? 16 : 0);
  }
}

/// 32 tokens of a warp's 16 columns of O, from token `first` of the part on, by way of its columns
/// of V in `rows`.
__device__ inline void store_columns(const RecurrenceParams& p, const Job& job, char* rows,
                                     const float (&o)[16], int first, int warp, int lane) {
  const int g = lane / 4;
  const int t = lane % 4;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    // O's registers are those of its transpose: rows of V, tokens.
    const int token = 8 * (i / 4) + 2 * t + i % 2;
    const u32 place = swizzled(token, warp % 4 * 2 + i / 2 % 2) + g * 2;
    *reinterpret_cast<u16*>(rows + place) = from_float<bf16>(o[i]).bits;
  }
  __syncwarp();
  const int left = job.part.tokens - first;
  char* out = static_cast<char*>(p.o) +
              2 * ((job.part.token + first) * p.o_token + job.head * p.o_head + warp * 16);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row = 16 * i + lane / 2;
    if (row < left) {
      *reinterpret_cast<uint4*>(out + 2 * row * p.o_token + lane % 2 * 16) =
          *reinterpret_cast<const uint4*>(rows + swizzled(row, warp % 4 * 2 + lane % 2));
    }
  }
}

}  // namespace recurrence_detail

/// A block's work. Grid: each value head (kPartial: twice, then of the identity); segments.
template <int kStages, Pass kPass, class Initial, class Final, class Checkpoint, bool kKv>
__device__ inline void warp_recurrence(const RecurrenceParams& p) {
  using namespace recurrence_detail;
  static_assert(kStages == 1 || kStages == 2);
  extern __shared__ __align__(128) char shared[];
  wait_for_previous_kernel();
  // Where it costs no registers between uses.
  __shared__ Job job;
  if (threadIdx.x == 0) job = find_job<kPass, 1>(p);
  __syncthreads();
  if (job.idle) return;
  constexpr bool kOutput = kPass == Pass::kWhole;
  constexpr bool kExact = kPass == Pass::kPartial;
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int t = lane % 4;
  const States<kPass, Initial, Final, Checkpoint, kKv> states{p, job, warp * 16 + lane / 4, t};
  float s[64];
  states.load(s);
  if (kStages == 2 && job.chunks > 0) copy_chunk<kPass>(p, job, shared, 0);
  for (int c = 0; c < job.chunks; ++c) {
    // With one stage all have to be done with it before it is filled, with two before the other is.
    if constexpr (kStages == 1) {
      __syncthreads();
      copy_chunk<kPass>(p, job, shared, c);
    }
    cp_async_wait_all();
    __syncthreads();
    // Of one stage addresses never change; the compiler would work them all out before the loop,
    // and spill.
    int at = c % kStages * kWarpStage;
    if constexpr (kStages == 1) asm volatile("" : "+r"(at));
    char* const stage = shared + at;
    if (kStages == 2 && c + 1 < job.chunks) {
      copy_chunk<kPass>(p, job, shared + (c + 1) % kStages * kWarpStage, c + 1);
    }

    // beta V - keys S, in two parts.
    char* const tile = stage + kWarpStageValues + warp / 4 * (kChunkTokens * 128);
    const auto* betas = reinterpret_cast<const float2*>(stage + Record::kBetas);
    u32 left[16] = {};
    u32 left_low[16];
    if (kOutput || !job.identity) {
      const int matrix = lane / 8;
      const char* from = tile + swizzled(matrix / 2 * 8 + lane % 8, warp % 4 * 2 + matrix % 2);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        u32 four[4];
        ldmatrix_transposed(four, from + j * 16 * 128);
#pragma unroll
        for (int i = 0; i < 4; ++i) left[4 * j + i] = four[i];
      }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const char* keys = stage + half * 32 * 128 + Record::kKeys;
      float x[16] = {};
      multiply_state<kExact>(x, s, keys, lane);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float2 value = unpack2<bf16>(left[8 * half + i]);
        const float2 beta = betas[16 * half + i / 2 * 4 + t];
        split(beta.x * value.x - x[2 * i], beta.y * value.y - x[2 * i + 1], left[8 * half + i],
              left_low[8 * half + i]);
      }
    }
    float u[32] = {};
    multiply_triangle<0, 64>(u, left, left_low, stage + Record::kInverse, lane);
#pragma unroll
    for (int i = 0; i < 16; ++i) split(u[2 * i], u[2 * i + 1], left[i], left_low[i]);
    if constexpr (kOutput) {
      __syncwarp();  // all lanes have their values
                     // By halves of the tokens, for want of registers.
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float o[16] = {};
        multiply_state<false>(o, s, stage + half * 32 * 128 + Record::kQueries, lane);
        const char* const attention = stage + Record::kAttention;
        if (half == 0) {
          multiply_triangle<0, 32>(o, left, left_low, attention, lane);
        } else {
          multiply_triangle<32, 64>(o, left, left_low, attention, lane);
        }
        store_columns(p, job, tile + half * 32 * 128, o, c * kChunkTokens + half * 32, warp, lane);
      }
    }
    const auto* decay = reinterpret_cast<const float2*>(stage + Record::kDecay);
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const float2 pair = decay[4 * (i / 2) + t];
      s[2 * i] *= pair.x;
      s[2 * i + 1] *= pair.y;
    }
    multiply_parts<8>(s, left, left_low, stage + Record::kUpdates, lane);
    states.store_checkpoint(s, c);
  }
  states.store(s);
}

/// What segments make of no state, and of the identity.
template <int kStages>
__global__ void __launch_bounds__(kWarpRecurrenceThreads, 1)
    partial_states(const __grid_constant__ RecurrenceParams p) {
  warp_recurrence<kStages, Pass::kPartial, none, none, none, false>(p);
}

}  // namespace einkorn::linear_attention
