// lightning_prefill/smxx/chunk_v1: chunks of 64 tokens by products of single warps (sm_80 and
// newer), in one pass over q, k, v and o. With d the decay of a value head and n the tokens of a
// chunk,
//
//   P = scale q k^T d^(i - j), i >= j    O = scale d^(i + 1) q S + P V    S = d^n S + k^T d^(n-1-j)
//   V
//
// A block has a sequence (or a segment of one), a value head, and half of V or all of it. As in
// ops/linear_attention/recurrence_mma.cuh everything is kept transposed: a warp has 16 rows of
// S^T [V][K], which do not depend on other rows, as left sides in its registers; q, k and P are the
// right ones, in shared memory. P is the same for all rows: the warps make a part of it each and
// hand it over there. With two stages, the next chunk is copied meanwhile.

#include "ops/linear_attention/decay.cuh"
#include "ops/linear_attention/recurrence_mma.cuh"
#include "src/cuda/device/common/cp_async.cuh"
#include "src/cuda/device/common/mma.cuh"

namespace einkorn::lightning_prefill::smxx {

using namespace linear_attention;
using namespace linear_attention::decay_detail;
using namespace linear_attention::recurrence_detail;

constexpr int kTile = kChunkTokens * 128;  // bytes of 64 tokens and 64 columns

/// Shared memory of a block that has 1 / kHalves of V: stages, each two tiles of q and k and those
/// of V, then one tile of P, then this.
template <int kHalves, int kStages>
struct Memory {
  static constexpr int kThreads = 256 / kHalves;
  static constexpr int kKeys = 2 * kTile;
  static constexpr int kValues = 4 * kTile;
  static constexpr int kStage = (4 + 2 / kHalves) * kTile;
  static constexpr int kAttention = kStages * kStage;
  static constexpr int kControl = kAttention + kTile;

  DecayTable table;
  float norms[2][kChunkTokens];  // reciprocals, of q and k
};
static_assert(sizeof(Memory<1, 1>) <= 2048);  // what the host side asks for behind the tiles

/// Queues the copies of `kColumns` columns of a chunk's rows; rows from `left` on become zeros.
template <int kThreads, int kColumns>
__device__ inline void copy_rows(char* tiles, const void* tensor, i64 first, i64 token, int left) {
  constexpr int kPieces = kColumns / 8;
  const int thread = static_cast<int>(threadIdx.x);
  const int piece = thread % kPieces;
  const char* rows = static_cast<const char*>(tensor) + 2 * first + piece * 16;
  char* const to = tiles + piece / 8 * kTile;
#pragma unroll 4
  for (int row = thread / kPieces; row < kChunkTokens; row += kThreads / kPieces) {
    const bool there = row < left;
    cp_async_fill<16>(to + swizzled(row, piece % 8), rows + (there ? 2 * row * token : 0),
                      there ? 16 : 0);
  }
}

template <int kHalves, int kStages, Pass kPass>
__device__ inline void copy_chunk(const DecayParams& p, const Job& job, char* stage, int c) {
  using M = Memory<kHalves, kStages>;
  constexpr int kThreads = M::kThreads;
  constexpr int kColumns = kChunkDim / kHalves;
  const i64 first = job.part.token + i64{c} * kChunkTokens;
  const int left = job.part.tokens - c * kChunkTokens;
  const i64 head = job.head / p.group;
  if constexpr (kPass == Pass::kWhole) {
    copy_rows<kThreads, kChunkDim>(stage, p.q, first * p.q_token + head * p.q_head, p.q_token,
                                   left);
  }
  copy_rows<kThreads, kChunkDim>(stage + M::kKeys, p.k, first * p.k_token + head * p.k_head,
                                 p.k_token, left);
  copy_rows<kThreads, kColumns>(
      stage + M::kValues, p.v,
      first * p.v_token + job.head * p.v_head + job.half * (kChunkDim / kHalves), p.v_token, left);
}

/// Reciprocal norms of the rows of k and, kBoth, of q.
template <int kThreads, bool kBoth>
__device__ inline void sum_squares(const char* stage, float (*norms)[kChunkTokens]) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll 1
  for (int i = kBoth ? 0 : kChunkTokens; i < 2 * kChunkTokens; i += kThreads / 8) {
    const int at = i + static_cast<int>(threadIdx.x / 8);
    const int which = at / kChunkTokens;
    const int row = at % kChunkTokens;
    const float norm = reciprocal_norm(stage + which * 2 * kTile, row, lane);
    if (lane % 8 == 0) norms[which][row] = norm;
  }
}

/// This warp's part of P, 16 tokens of q and those of k from a 16 kPairs-th on, decayed and masked.
template <int kPairs, bool kL2norm>
__device__ inline void attend(const DecayTable& table, const float (*norms)[kChunkTokens],
                              const char* queries, const char* keys, char* attention, int warp,
                              int lane) {
  const int first = warp % 4 * 16;
  const int column = warp / 4 * (16 * kPairs);
  float x[8 * kPairs] = {};
#pragma unroll 2
  for (int step = 0; step < 8; ++step) {
    u32 left[4];
    ldmatrix(left,
             queries + step / 4 * kTile + swizzled(first + lane % 16, step % 4 * 2 + lane / 16));
    multiply_step<kPairs>(x, left,
                          keys + step / 4 * kTile + column * 128 + operand_row(step % 4, lane));
  }
  const int g = lane / 4;
  const int t = lane % 4;
#pragma unroll
  for (int i = 0; i < 4 * kPairs; ++i) {
    const int row = first + g + i % 2 * 8;
    const int j = column + i / 2 * 8 + 2 * t;
    const int apart = row - j;
    float2 scale{table.attention[kChunkTokens + apart], table.attention[kChunkTokens + apart - 1]};
    if constexpr (kL2norm) {
      scale.x *= norms[0][row] * norms[1][j];
      scale.y *= norms[0][row] * norms[1][j + 1];
    }
    // Chosen, not multiplied by 0: a later token may be infinite.
    const float a = x[2 * i] * scale.x;
    const float b = x[2 * i + 1] * scale.y;
    *reinterpret_cast<u32*>(attention + swizzled(row, j / 8) + 4 * t) =
        pack2<bf16>(apart >= 0 ? a : 0, apart >= 1 ? b : 0);
  }
}

/// A block's work. Grid: kHalves blocks of each value head; segments.
template <int kHalves, int kStages, Pass kPass, bool kL2norm, class Initial, class Final,
          class Checkpoint, bool kKv>
__device__ inline void run_chunks(const DecayParams& p) {
  using M = Memory<kHalves, kStages>;
  static_assert(kStages == 1 || kStages == 2);
  constexpr bool kOutput = kPass == Pass::kWhole;
  extern __shared__ __align__(128) char shared[];
  auto& memory = *reinterpret_cast<M*>(shared + M::kControl);
  wait_for_previous_kernel();
  // Where it costs no registers between uses.
  __shared__ Job job;
  if (threadIdx.x == 0) job = find_decay_job<kPass, kHalves>(p);
  __syncthreads();
  if (job.idle) return;
  fill_table<M::kThreads>(memory.table, p, job.head,
                          job.part.tokens - (job.chunks - 1) * kChunkTokens);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int t = lane % 4;
  // Of all rows of V, the block's and others': the warp's are the 16 from 16 times this on.
  const int rows = job.half * (8 / kHalves) + warp;
  const States<kPass, Initial, Final, Checkpoint, kKv> states{p, job, rows * 16 + lane / 4, t};
  float s[64];
  states.load(s);
  if (kStages == 2 && job.chunks > 0) copy_chunk<kHalves, kStages, kPass>(p, job, shared, 0);
#pragma unroll 1
  for (int c = 0; c < job.chunks; ++c) {
    // With one stage all have to be done with it before it is filled, with two before the other is.
    if constexpr (kStages == 1) {
      __syncthreads();
      copy_chunk<kHalves, kStages, kPass>(p, job, shared, c);
    }
    cp_async_wait_all();
    __syncthreads();
    char* const stage = shared + c % kStages * M::kStage;
    const char* const keys = stage + M::kKeys;
    char* const attention = shared + M::kAttention;
    if (kStages == 2 && c + 1 < job.chunks) {
      copy_chunk<kHalves, kStages, kPass>(p, job, shared + (c + 1) % kStages * M::kStage, c + 1);
    }
    if constexpr (kL2norm) {
      sum_squares<M::kThreads, kOutput>(stage, memory.norms);
      __syncthreads();
    }
    if constexpr (kOutput) {
      attend<2 * kHalves, kL2norm>(memory.table, memory.norms, stage, keys, attention, warp, lane);
      __syncthreads();
    }

    // V as it is, and with what is left of each token at the chunk's end.
    char* const tile = stage + M::kValues + warp / 4 * kTile;
    const int last = c + 1 == job.chunks ? 1 : 0;
    const int matrix = lane / 8;
    const char* from = tile + swizzled(matrix / 2 * 8 + lane % 8, warp % 4 * 2 + matrix % 2);
    u32 values[16];
    u32 scaled[16];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      u32 four[4];
      ldmatrix_transposed(four, from + j * 16 * 128);
#pragma unroll
      for (int i = 0; i < 4; ++i) values[4 * j + i] = four[i];
    }
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const int token = i / 2 * 8 + 2 * t;
      const float2 pair = unpack2<bf16>(values[i]);
      float2 scale{memory.table.updates[last][token], memory.table.updates[last][token + 1]};
      if constexpr (kL2norm) {
        scale.x *= memory.norms[1][token];
        scale.y *= memory.norms[1][token + 1];
      }
      scaled[i] = pack2<bf16>(pair.x * scale.x, pair.y * scale.y);
    }

    if constexpr (kOutput) {
      __syncwarp();  // all lanes have their values
                     // By halves of the tokens, for want of registers.
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float o[16] = {};
        multiply_state<false>(o, s, stage + half * 32 * 128, lane);
#pragma unroll
        for (int i = 0; i < 16; ++i) {
          const int token = half * 32 + 8 * (i / 4) + 2 * t + i % 2;
          float scale = memory.table.queries[token];
          if constexpr (kL2norm) scale *= memory.norms[0][token];
          o[i] *= scale;
        }
        // Tokens of the first half see no others.
#pragma unroll
        for (int step = 0; step < 2 + 2 * half; ++step) {
          const u32 left[4] = {values[4 * step], values[4 * step + 1], values[4 * step + 2],
                               values[4 * step + 3]};
          multiply_step<2>(o, left, attention + half * 32 * 128 + operand_row(step, lane));
        }
        store_columns(p, job, tile + half * 32 * 128, o, c * kChunkTokens + half * 32, rows, lane);
      }
    }

    const float decay = memory.table.state[last];
#pragma unroll
    for (int i = 0; i < 64; ++i) s[i] *= decay;
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      const u32 left[4] = {scaled[4 * step], scaled[4 * step + 1], scaled[4 * step + 2],
                           scaled[4 * step + 3]};
#pragma unroll
      for (int pair = 0; pair < 8; ++pair) {
        u32 four[4];
        ldmatrix_transposed(four, keys + pair / 4 * kTile +
                                      swizzled(step * 16 + lane % 16, pair % 4 * 2 + lane / 16));
        const u32 b[2][2] = {{four[0], four[1]}, {four[2], four[3]}};
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          mma_m16n8k16<bf16>(*reinterpret_cast<float (*)[4]>(s + 4 * (2 * pair + i)), left, b[i]);
        }
      }
    }
    states.store_checkpoint(s, c);
  }
  if constexpr (kOutput) {
    states.store(s);
  } else {
    states.template store_all<float, false>(state_after(p, job), s);
  }
}

template <int kHalves, int kStages, bool kL2norm>
__global__ void __launch_bounds__(256 / kHalves, kHalves)
    chunk_v1_partial(const __grid_constant__ DecayParams p) {
  run_chunks<kHalves, kStages, Pass::kPartial, kL2norm, none, none, none, false>(p);
}

template <int kHalves, int kStages, bool kL2norm, class Initial, class Final, class Checkpoint,
          bool kKv>
__global__ void __launch_bounds__(256 / kHalves, kHalves)
    chunk_v1(const __grid_constant__ DecayParams p) {
  run_chunks<kHalves, kStages, Pass::kWhole, kL2norm, Initial, Final, Checkpoint, kKv>(p);
}

}  // namespace einkorn::lightning_prefill::smxx
