#pragma once

// The recurrence over the chunks of a sequence on Hopper where a token's decay is one number a
// head, from q, k and V as they came and a small record of each chunk (HeadRecord). With factors of
// tokens a (of keys, with beta), b (of queries) and c (of updates),
//
//   U = inverse (beta V - a k S)      O = b q S + attention U      S = decay S + (c k)^T U
//
// It is laid out as recurrence_wgmma.cuh, whose chain it is: S^T [V][K] in registers, always the
// products' left side, q, k and the triangles the right one in shared memory. Idea: factors scale
// columns of products, or U's registers, so that k serves as rows for the first product and
// transposed, by its descriptor, for the last, and neither k nor q is written anew: 13 KB a chunk
// go to memory and back for 62.
//
// Warps 4 to 6 fetch q, k (and the record) and V; warp 7 takes O to where it belongs.

#include "ops/linear_attention/chain_parts.cuh"
#include "src/cuda/device/common/pdl.cuh"
#include "src/cuda/device/common/traits.cuh"

namespace einkorn::linear_attention {

/// Shared memory of a block, from an address that 1024 divides.
template <int kStages>
struct HeadRecurrenceMemory {
  // A stage: the record, two tiles each of q and k, one of V.
  static constexpr int kQueries = 18432;
  static constexpr int kKeys = kQueries + 2 * recurrence_detail::kTile;
  static constexpr int kValues = kKeys + 2 * recurrence_detail::kTile;
  static constexpr int kStage = kValues + recurrence_detail::kTile;
  // One tile of O; then this.
  static constexpr int kOut = kStages * kStage;
  static constexpr int kControl = kOut + recurrence_detail::kTile;

  u64 full[kStages];   // a stage has been filled
  u64 empty[kStages];  // it may be filled again
  u64 out_full, out_empty;
};
static_assert(HeadRecurrenceMemory<3>::kControl + sizeof(HeadRecurrenceMemory<3>) <=
                  kHeadRecurrenceSmem &&
              recurrence_detail::Staged<HeadRecord>::kBytes <= HeadRecurrenceMemory<3>::kQueries);

namespace recurrence_detail {

/// Warp `which` of those that load: 0 q, 1 k and records, 2 V.
template <int kStages, Pass kPass>
__device__ inline void load_tokens(const RecurrenceParams& p, const Job& job, char* shared,
                                   int which, int lane) {
  using M = HeadRecurrenceMemory<kStages>;
  auto& memory = *reinterpret_cast<M*>(shared + M::kControl);
  Rows rows = token_rows<M>(p, job, which);
  const bool has_values = kPass == Pass::kWhole || !job.identity;
  const i64 record_stride = i64{p.value_heads} * HeadRecord::kBytes;
  const unsigned char* record =
      p.records + (job.part.chunk * p.value_heads + job.head) * HeadRecord::kBytes;
  if (which == 1 && lane == 0) wait_for_records(p, job);
#pragma unroll 1
  for (int c = 0; c < job.chunks; ++c) {
    const int stage = c % kStages;
    u64* const full = &memory.full[stage];
    if (c >= kStages) barrier_wait(&memory.empty[stage], (c / kStages - 1) & 1);
    char* const to = shared + stage * M::kStage;
    const int left = job.part.tokens - c * kChunkTokens;
    if (which == 1 && lane == 0) Staged<HeadRecord>::fetch(to, record, full);
    if (which < 2) {
      copy_rows<16>(rows, to, left, lane);
    } else if (has_values) {
      copy_rows<8>(rows, to, left, lane);
    }
    barrier_arrive_after_copies(full);
    rows.from += kChunkTokens * rows.token;
    record += record_stride;
  }
}

/// The four warps of the chain, each with 16 rows of V. X and O lie in registers as S does, with
/// tokens for K.
template <int kStages, Pass kPass, class Initial, class Final, class Checkpoint, bool kKv>
__device__ inline void run_head_chain(const RecurrenceParams& p, const Job& job, char* shared) {
  using M = HeadRecurrenceMemory<kStages>;
  auto& memory = *reinterpret_cast<M*>(shared + M::kControl);
  constexpr bool kOutput = kPass == Pass::kWhole;
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int t = lane % 4;
  const States<kPass, Initial, Final, Checkpoint, kKv> states{
      p, job, job.half * (kChunkDim / 2) + warp * 16 + lane / 4, t};
  float s[64];
  states.load(s);

  const u32 tile_row = tile_row_of(warp, lane);

  float x[32];
  float o[32];
  RoundedState<kPass == Pass::kPartial> rounded;
  const auto update = [&](const char* stage, const u32(&a)[16]) {
    const u64 b = wgmma_descriptor_transposed(stage + M::kKeys, kTile);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      wgmma_m64n128k16<true>(s, a + 4 * i, b + i * (16 * 128 >> 4), true);
    }
  };
  const auto factors_of = [&](const char* stage, int part, int j) {
    return *reinterpret_cast<const float2*>(stage + part + Staged<HeadRecord>::kBehind +
                                            (8 * j + 2 * t) * 4);
  };
  const auto wait_for_stage = [&](int c) {
    barrier_wait(&memory.full[c % kStages], (c / kStages) & 1);
    fence_async_proxy();  // pieces of 16 bytes come as ordinary writes
  };
  // From k S of this chunk, which is under way, to that of the next.
  const auto advance = [&](int c) {
    const char* const stage = shared + c % kStages * M::kStage;
    u32 values[16] = {};
    if (kOutput || !job.identity) load_values(values, stage + M::kValues + tile_row);
    u32 values_low[16];
    wgmma_wait<0>();
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float2 factor = factors_of(stage, HeadRecord::kKeys, j);
      const float2 beta = factors_of(stage, HeadRecord::kBetas, j);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int i = 2 * j + r;
        subtract(values[i], values_low[i], beta, x[2 * i], x[2 * i + 1], factor);
      }
    }
    wgmma_fence();
    multiply_triangle(x, values, stage + Staged<HeadRecord>::kInverse, false);
    multiply_triangle(x, values_low, stage + Staged<HeadRecord>::kInverse, true);
    wgmma_commit();
    if constexpr (kOutput) multiply<8>(o, rounded.high, stage + M::kQueries, false);
    wgmma_commit();
    const float decay =
        *reinterpret_cast<const float*>(stage + HeadRecord::kDecay + Staged<HeadRecord>::kBehind);
#pragma unroll
    for (int i = 0; i < 64; ++i) s[i] *= decay;
    // For the queries' product as well: what S was in bf16 takes registers until it is done.
    wgmma_wait<0>();
    u32 u[16];
    u32 u_low[16];
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float2 factor = factors_of(stage, HeadRecord::kUpdates, j);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int i = 2 * j + r;
        split(x[2 * i] * factor.x, x[2 * i + 1] * factor.y, u[i], u_low[i]);
      }
    }
    wgmma_fence();
    update(stage, u);
    update(stage, u_low);
    wgmma_commit();
    if constexpr (kOutput) {
      // Meanwhile, of the same U without factors, O.
#pragma unroll
      for (int i = 0; i < 16; ++i) split(x[2 * i], x[2 * i + 1], values[i], values_low[i]);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float2 factor = factors_of(stage, HeadRecord::kQueries, j);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          o[4 * j + 2 * r] *= factor.x;
          o[4 * j + 2 * r + 1] *= factor.y;
        }
      }
      wgmma_fence();
      multiply_triangle(o, values, stage + Staged<HeadRecord>::kAttention, true);
      multiply_triangle(o, values_low, stage + Staged<HeadRecord>::kAttention, true);
    }
    wgmma_commit();
    wgmma_wait<1>();
    rounded.round(s);
    states.store_checkpoint(s, c);
    if (c + 1 < job.chunks) wait_for_stage(c + 1);
    // After the last chunk of whatever lies there; nobody looks at the product.
    recall(x, rounded, shared + (c + 1) % kStages * M::kStage + M::kKeys);
    wgmma_wait<1>();
    fence_async_proxy();  // factors were read, and the copy engine will write there
    barrier_arrive(&memory.empty[c % kStages]);
    if constexpr (kOutput) hand_out(memory, shared + M::kOut + tile_row, o, c);
  };

  rounded.round(s);
  if (job.chunks > 0) wait_for_stage(0);
  recall(x, rounded, shared + M::kKeys);
  for (int c = 0; c < job.chunks; ++c) advance(c);
  wgmma_wait<0>();

  states.store(s);
}

}  // namespace recurrence_detail

/// A block's work. Grid: 2 halves of V (kPartial: and of the identity) of each value head;
/// segments.
template <int kStages, Pass kPass, class Initial, class Final, class Checkpoint, bool kKv>
__device__ inline void head_recurrence(const RecurrenceParams& p) {
  using namespace recurrence_detail;
  using M = HeadRecurrenceMemory<kStages>;
  constexpr bool kOutput = kPass == Pass::kWhole;
  extern __shared__ __align__(1024) char shared[];
  auto& memory = *reinterpret_cast<M*>(shared + M::kControl);
  for (int i = 0; i < kStages; ++i) Staged<HeadRecord>::clear(shared + i * M::kStage);
  if (threadIdx.x == 0) init_barriers<kStages>(memory, 1 + (kOutput ? 3 : 2) * 32);
  __syncthreads();
  begin_recurrence(p);
  const Job job = find_job<kPass, 2>(p);
  if (job.idle) return;
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (warp < 4) {
    run_head_chain<kStages, kPass, Initial, Final, Checkpoint, kKv>(p, job, shared);
  } else if (warp < 7) {
    if (kOutput || warp > 4) load_tokens<kStages, kPass>(p, job, shared, warp - 4, lane);
  } else if constexpr (kOutput) {
    store_loop(p, job, shared + M::kOut, memory, lane);
    end_recurrence(p);
  }
}

/// What segments make of no state, and of the identity.
template <int kStages>
__global__ void __launch_bounds__(kHeadRecurrenceThreads, 1)
    partial_states(const __grid_constant__ RecurrenceParams p) {
  head_recurrence<kStages, Pass::kPartial, none, none, none, false>(p);
}

}  // namespace einkorn::linear_attention
