// lightning_prefill/sm90/chunk_v1: chunks of 64 tokens, in one pass over q, k, v and o. With d the
// decay of a value head and n the tokens of a chunk,
//
//   P = scale q k^T d^(i - j), i >= j    O = scale d^(i + 1) q S + P V    S = d^n S + k^T d^(n-1-j)
//   V
//
// A block has a sequence (or a segment of one), a value head, and half of V, whose columns do not
// depend on each other. Idea: d is one number, so nothing has to be prepared; q and k enter the
// products as they are, and what depends on the token scales V's registers or a product's columns.
// As in ops/linear_attention/recurrence_wgmma.cuh everything is kept transposed, S^T [V][K] first:
// the side that comes from the step before, and V^T, is the products' left one, in registers; q, k
// and P are the right one, in shared memory. k serves in both directions: as rows for q k^T, and
// transposed, by its descriptor, for the state.
//
// All three products that do not wait for P are started at once; while the tensor cores are at the
// second and third, P is masked and written to shared memory, where the fourth takes it from. A
// step costs less of the tensor cores' time than the memory's.
//
// Warps 4 to 6 fetch q, k and V, as many chunks ahead as there are stages. Where q and k are
// normalised they sum the squares of what has come. Warp 7 takes O from shared memory to where it
// belongs.

#include "ops/linear_attention/chain_parts.cuh"
#include "ops/linear_attention/decay.cuh"
#include "src/cuda/device/common/warp.cuh"

namespace einkorn::lightning_prefill::sm90 {

using namespace linear_attention;
using namespace linear_attention::decay_detail;
using namespace linear_attention::recurrence_detail;

constexpr int kThreads = 256;

/// Shared memory of a block, from an address that 1024 divides.
template <int kStages>
struct Memory {
  // A stage: two tiles each of q and k, one of V.
  static constexpr int kQueries = 0;
  static constexpr int kKeys = 2 * kTile;
  static constexpr int kValues = 4 * kTile;
  static constexpr int kStage = 5 * kTile;
  // Two of P, in turn; one of O; then this.
  static constexpr int kAttention = kStages * kStage;
  static constexpr int kOut = kAttention + 2 * kTile;
  static constexpr int kControl = kOut + kTile;

  u64 full[kStages];    // a stage has been filled
  u64 normed[kStages];  // its norms are there
  u64 empty[kStages];   // it may be filled again
  u64 out_full, out_empty;
  DecayTable table;
  float norms[kStages][2][kChunkTokens];  // reciprocals, of q and k
};
static_assert(sizeof(Memory<4>) <= 9216);  // what the host side asks for behind the tiles

/// Warp `which` of those that load: 0 q, 1 k, 2 V.
template <int kStages, Pass kPass, bool kL2norm>
__device__ inline void load_loop(const DecayParams& p, const Job& job, char* shared, int which,
                                 int lane) {
  using M = Memory<kStages>;
  auto& memory = *reinterpret_cast<M*>(shared + M::kControl);
  Rows rows = token_rows<M>(p, job, which);
  // Norms follow the copies at a distance, so that the copies of a chunk are under way while the
  // squares of one before it are summed.
  constexpr int kBehind = kL2norm ? 2 : 0;
  static_assert(kBehind < kStages);
  const int steps = kL2norm && which < 2 ? job.chunks + kBehind : job.chunks;
#pragma unroll 1
  for (int c = 0; c < steps; ++c) {
    if (c < job.chunks) {
      const int stage = c % kStages;
      if (c >= kStages) barrier_wait(&memory.empty[stage], (c / kStages - 1) & 1);
      char* const to = shared + stage * M::kStage;
      const int left = job.part.tokens - c * kChunkTokens;
      if (which < 2) {
        copy_rows<16>(rows, to, left, lane);
      } else {
        copy_rows<8>(rows, to, left, lane);
      }
      barrier_arrive_after_copies(&memory.full[stage]);
      rows.from += kChunkTokens * rows.token;
    }
    if constexpr (kL2norm) {
      const int done = c - kBehind;
      if (which < 2 && done >= 0) {
        const int stage = done % kStages;
        barrier_wait(&memory.full[stage], (done / kStages) & 1);
        const char* tiles = shared + stage * M::kStage + rows.to;
#pragma unroll 4
        for (int i = 0; i < kChunkTokens / 4; ++i) {
          const int row = 4 * i + lane / 8;
          const float norm = reciprocal_norm(tiles, row, lane);
          if (lane % 8 == 0) memory.norms[stage][which][row] = norm;
        }
        barrier_arrive(&memory.normed[stage]);
      }
    }
  }
}

/// The four warps of the chain. Registers of S: 4j + 2r + i is V's row 16 warp + g + 8r (of the
/// block's half) and K's 8j + 2t + i, g = lane / 4, t = lane % 4; of O likewise with tokens for K;
/// of P tokens of q for V's rows, tokens of k for K.
template <int kStages, Pass kPass, bool kL2norm, class Initial, class Final, class Checkpoint,
          bool kKv>
__device__ inline void run_chain(const DecayParams& p, const Job& job, char* shared) {
  using M = Memory<kStages>;
  auto& memory = *reinterpret_cast<M*>(shared + M::kControl);
  constexpr bool kOutput = kPass == Pass::kWhole;
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int g = lane / 4;
  const int t = lane % 4;
  const States<kPass, Initial, Final, Checkpoint, kKv> states{
      p, job, job.half * (kChunkDim / 2) + warp * 16 + g, t};
  float s[64];
  states.load(s);

  const u32 tile_row = tile_row_of(warp, lane);
  const int matrix = lane / 8;
  // This lane's row in P, of 16 rows of q and 16 of k: two more pieces on are an exclusive or away.
  const u32 attention_row = swizzled(warp * 16 + matrix % 2 * 8 + lane % 8, matrix / 2);
  // Of this lane's first element of P, i - j.
  const int apart = warp * 16 + g - 2 * t;

  float o[32];
  u32 high[32];  // S in bf16
  // For chunk c, where there is one. Here rather than before the product that adds to S: where
  // nothing was waited for in between, ptxas lets no two products overlap (C7518).
  const auto decay_state = [&](int c) {
    const float decay = c < job.chunks ? memory.table.state[c + 1 == job.chunks ? 1 : 0] : 1.0f;
#pragma unroll
    for (int i = 0; i < 64; ++i) s[i] *= decay;
  };
  u32 done[16] = {};  // O of the chunk before in bf16
  const auto wait_for_tile = [&](int c) {
    if (kOutput && c > 0) barrier_wait(&memory.out_empty, (c - 1) & 1);
  };
  // After the last product of chunk c: its stage is free, and O is handed on. Before the first
  // chunk O goes nowhere.
  const auto hand_out = [&](int c) {
    if (c >= 0) barrier_arrive(&memory.empty[c % kStages]);
    if constexpr (kOutput) {
      store_values(shared + M::kOut + tile_row, done);
      if (c >= 0) barrier_arrive(&memory.out_full);
    }
  };

  // P, decayed and masked, to where the tensor cores take it from.
  const auto hand_over = [&](const float (&x)[32], char* tile, const float (*norms)[kChunkTokens]) {
    const float* powers = memory.table.attention + kChunkTokens + apart;
    float q_norm[2] = {1, 1};
    if constexpr (kL2norm) {
#pragma unroll
      for (int r = 0; r < 2; ++r) q_norm[r] = norms[0][warp * 16 + g + 8 * r];
    }
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      u32 four[4];
#pragma unroll
      for (int m = 0; m < 4; ++m) {
        const int j = 2 * pair + m / 2;
        const int r = m % 2;
        const int more = 8 * (r - j);
        float2 scale{powers[more], powers[more - 1]};
        if constexpr (kL2norm) {
          const float2 norm = *reinterpret_cast<const float2*>(&norms[1][8 * j + 2 * t]);
          scale.x *= norm.x * q_norm[r];
          scale.y *= norm.y * q_norm[r];
        }
        // Chosen, not multiplied by 0: a later token may be infinite.
        const float first = x[4 * j + 2 * r] * scale.x;
        const float second = x[4 * j + 2 * r + 1] * scale.y;
        four[m] = pack2<bf16>(apart + more >= 0 ? first : 0, apart + more >= 1 ? second : 0);
      }
      stmatrix(tile + (attention_row ^ static_cast<u32>(pair * 32)), four);
    }
  };

  const auto advance = [&](int c) {
    const int stage = c % kStages;
    char* const at = shared + stage * M::kStage;
    char* const attention = shared + M::kAttention + c % 2 * kTile;
    const int last = c + 1 == job.chunks ? 1 : 0;
    const auto* norms = memory.norms[stage];
    const u64 queries = wgmma_descriptor(at);
    const u64 keys = wgmma_descriptor(at + M::kKeys);
    barrier_wait(&memory.full[stage], (c / kStages) & 1);
    if constexpr (kL2norm) barrier_wait(&memory.normed[stage], (c / kStages) & 1);
    wait_for_tile(c - 1);
    fence_async_proxy();  // pieces of 16 bytes come as ordinary writes
    float x[32];
    if constexpr (kOutput) {
      wgmma_fence();
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        wgmma_m64n64k16(x, columns_of(queries, i), columns_of(keys, i), i > 0);
      }
      wgmma_commit();
      multiply<8>(o, high, at + M::kQueries, false);
      wgmma_commit();
    }
    hand_out(c - 1);  // while those are under way

    u32 values[16];
    u32 scaled[16];
    load_values(values, at + M::kValues + tile_row);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      float2 scale = *reinterpret_cast<const float2*>(&memory.table.updates[last][8 * j + 2 * t]);
      if constexpr (kL2norm) {
        const float2 norm = *reinterpret_cast<const float2*>(&norms[1][8 * j + 2 * t]);
        scale.x *= norm.x;
        scale.y *= norm.y;
      }
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float2 pair = unpack2<bf16>(values[2 * j + r]);
        scaled[2 * j + r] = pack2<bf16>(pair.x * scale.x, pair.y * scale.y);
      }
    }
    wgmma_fence();
    const u64 updates = wgmma_descriptor_transposed(at + M::kKeys, kTile);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      wgmma_m64n128k16<true>(s, scaled + 4 * i, updates + i * (16 * 128 >> 4), true);
    }
    wgmma_commit();

    if constexpr (kOutput) {
      wgmma_wait<2>();
      hand_over(x, attention, norms);
      fence_async_proxy();
      wgmma_wait<1>();
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        float2 scale = *reinterpret_cast<const float2*>(&memory.table.queries[8 * j + 2 * t]);
        if constexpr (kL2norm) {
          const float2 norm = *reinterpret_cast<const float2*>(&norms[0][8 * j + 2 * t]);
          scale.x *= norm.x;
          scale.y *= norm.y;
        }
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          o[4 * j + 2 * r] *= scale.x;
          o[4 * j + 2 * r + 1] *= scale.y;
        }
      }
      named_barrier(1, 128);
      wgmma_fence();
      multiply<4>(o, values, attention, true);
      wgmma_commit();
      wgmma_wait<1>();
      round_pairs(s, high);
    }
    if constexpr (!kOutput) wgmma_wait<0>();
    states.store_checkpoint(s, c);
    decay_state(c + 1);
    if constexpr (kOutput) {
      wgmma_wait<0>();
      round_pairs(o, done);
    }
  };

  if constexpr (kOutput) round_pairs(s, high);
  decay_state(0);
#pragma unroll 1
  for (int c = 0; c < job.chunks; ++c) advance(c);
  if (job.chunks > 0) {
    wait_for_tile(job.chunks - 1);
    hand_out(job.chunks - 1);
  }
  if constexpr (kOutput) {
    states.store(s);
  } else {
    states.template store_all<float, false>(state_after(p, job), s);
  }
}

/// A block's work. Grid: 2 halves of V of each value head; segments.
template <int kStages, Pass kPass, bool kL2norm, class Initial, class Final, class Checkpoint,
          bool kKv>
__device__ inline void run_chunks(const DecayParams& p) {
  using M = Memory<kStages>;
  constexpr bool kOutput = kPass == Pass::kWhole;
  extern __shared__ __align__(1024) char shared[];
  auto& memory = *reinterpret_cast<M*>(shared + M::kControl);
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) barrier_init(&memory.normed[i], kOutput ? 2 * 32 : 32);
    init_barriers<kStages>(memory, kOutput ? 3 * 32 : 2 * 32);
  }
  wait_for_previous_kernel();
  const Job job = find_decay_job<kPass, 2>(p);
  if (job.idle) return;
  fill_table<kThreads>(memory.table, p, job.head,
                       job.part.tokens - (job.chunks - 1) * kChunkTokens);
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (warp < 4) {
    run_chain<kStages, kPass, kL2norm, Initial, Final, Checkpoint, kKv>(p, job, shared);
  } else if (warp < 7) {
    if (kOutput || warp > 4) load_loop<kStages, kPass, kL2norm>(p, job, shared, warp - 4, lane);
  } else if constexpr (kOutput) {
    store_loop(p, job, shared + M::kOut, memory, lane);
  }
}

template <int kStages, bool kL2norm>
__global__ void __launch_bounds__(kThreads, 1)
    chunk_v1_partial(const __grid_constant__ DecayParams p) {
  run_chunks<kStages, Pass::kPartial, kL2norm, none, none, none, false>(p);
}

template <int kStages, bool kL2norm, class Initial, class Final, class Checkpoint, bool kKv>
__global__ void __launch_bounds__(kThreads, 1) chunk_v1(const __grid_constant__ DecayParams p) {
  run_chunks<kStages, Pass::kWhole, kL2norm, Initial, Final, Checkpoint, kKv>(p);
}

}  // namespace einkorn::lightning_prefill::sm90
