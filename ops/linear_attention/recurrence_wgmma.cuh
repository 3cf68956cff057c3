#pragma once

// The recurrence over the chunks of a sequence on Hopper, from their records:
//
//   U = inverse (beta V - keys S)      O = queries S + attention U      S = decay S + updates U
//
// A block has a sequence (or a segment of one), a value head, and half of V, or, with two groups of
// warps, all of it: its columns do not depend on each other. Idea: everything is kept transposed,
// S^T [V][K] first, so that the side that comes from the step before is always the product's left
// one, which the tensor cores take from registers, and the side from the record always the right
// one, which they take from shared memory as the copy engine put it there. A result's registers are
// the next product's left side as they are: in the chain from S to the next S there is no shared
// memory and no barrier, four warps work on one chain, and S itself never leaves their registers,
// in f32.
//
// What enters a product as bf16 and has a rounding of its own at each step, V - keys S and U,
// enters as a sum of two bf16 numbers. The tensor cores have the time: a step waits for its 70 KB
// more than for them.
//
// Two groups share what is fetched, and one multiplies while the other waits for its own results:
// a step of both takes less than two steps, but more than one, so few heads had better have a block
// for each half.
//
// One more warp of each half has the copy engine fetch records, as many ahead as there are stages,
// and fetches V itself, since pieces of 128 bytes are too small for the engine; another takes O,
// which replaces V where it lay, to where it belongs.

#include "ops/linear_attention/chain_parts.cuh"
#include "src/cuda/device/common/pdl.cuh"
#include "src/cuda/device/common/traits.cuh"
#include "src/cuda/device/sm90/registers.cuh"

namespace einkorn::linear_attention {

/// Shared memory of a block, from an address that 1024 divides: records, then tiles of 64 rows of
/// what the block has of V and then of O. The barriers stand in the gap behind the first record.
template <int kStages, int kGroups>
struct RecurrenceMemory {
  static constexpr int kTiles = kGroups == 1 ? 4 : 2;
  static constexpr int kStage = 66560;
  static constexpr int kTile = kGroups * recurrence_detail::kTile;
  static constexpr int kValues = kStages * kStage;
  static constexpr int kBytes = kValues + kTiles * kTile;

  u64 full[kStages];   // a record has come
  u64 values[kTiles];  // V has
  u64 empty[kStages];  // the record is used up
  u64 out[kTiles];     // O has taken V's place
  u64 taken[kTiles];   // and has left it
};
static_assert(RecurrenceMemory<3, 1>::kBytes <= kRecurrenceSmem &&
              RecurrenceMemory<3, 2>::kBytes <= kRecurrenceSmem &&
              recurrence_detail::Staged<Record>::kBytes + sizeof(RecurrenceMemory<3, 1>) <=
                  RecurrenceMemory<3, 1>::kStage);

namespace recurrence_detail {

template <int kStages, int kGroups>
__device__ inline auto& barriers_of(char* shared) {
  return *reinterpret_cast<RecurrenceMemory<kStages, kGroups>*>(shared + Staged<Record>::kBytes);
}

/// The warp that fetches a half of V, and the one of the first half the records, too.
template <int kStages, int kGroups, Pass kPass>
__device__ inline void fetch(const RecurrenceParams& p, const Job& job, char* shared, int group,
                             int lane) {
  using Memory = RecurrenceMemory<kStages, kGroups>;
  auto& memory = barriers_of<kStages, kGroups>(shared);
  constexpr int kTiles = Memory::kTiles;
  const bool has_values = kPass == Pass::kWhole || !job.identity;
  const bool has_records = group == 0 && lane == 0;
  const i64 record_stride = i64{p.value_heads} * Record::kBytes;
  const unsigned char* record =
      p.records + (job.part.chunk * p.value_heads + job.head) * Record::kBytes;
  const auto fetch_record = [&](int c) {
    if (has_records && c < job.chunks) {
      Staged<Record>::fetch(shared + c % kStages * Memory::kStage, record,
                            &memory.full[c % kStages]);
    }
    record += record_stride;
  };
  Rows values = value_rows(p, job, Memory::kValues + group * kTile);
  values.from += group * kChunkDim;
  const auto fetch_values = [&](int c) {
    if (!has_values || c >= job.chunks) return;
    // Few at once, and of O's stores below, where registers were given away.
    copy_rows<8, kGroups == 1 ? 16 : 2>(values, shared + c % kTiles * Memory::kTile,
                                        job.part.tokens - c * kChunkTokens, lane);
    barrier_arrive_after_copies(&memory.values[c % kTiles]);
    values.from += kChunkTokens * values.token;
  };
  if (has_records) wait_for_records(p, job);
#pragma unroll 1
  for (int c = 0; c < kStages; ++c) fetch_record(c);
#pragma unroll 1
  for (int c = 0; c < kTiles; ++c) fetch_values(c);
#pragma unroll 1
  for (int c = 0; c < job.chunks; ++c) {
    barrier_wait(&memory.empty[c % kStages], (c / kStages) & 1);
    fetch_record(c + kStages);
    if constexpr (kPass == Pass::kWhole) barrier_wait(&memory.taken[c % kTiles], (c / kTiles) & 1);
    fetch_values(c + kTiles);
  }
}

/// The four warps of a chain, each with 16 rows of V. X and O lie in registers as S does, with
/// tokens for K.
template <int kStages, int kGroups, Pass kPass, class Initial, class Final, class Checkpoint,
          bool kKv>
__device__ inline void run_chain(const RecurrenceParams& p, const Job& job, char* shared) {
  using Memory = RecurrenceMemory<kStages, kGroups>;
  auto& memory = barriers_of<kStages, kGroups>(shared);
  constexpr bool kOutput = kPass == Pass::kWhole;
  const int warp = static_cast<int>(threadIdx.x / 32) % 4;
  const int group = kGroups == 1 ? 0 : static_cast<int>(threadIdx.x / 128);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int t = lane % 4;
  const States<kPass, Initial, Final, Checkpoint, kKv> states{
      p, job, (job.half + group) * (kChunkDim / 2) + warp * 16 + lane / 4, t};
  float s[64];
  states.load(s);

  // Of V and O; what the chunk's tile adds is the same for all.
  char* const tile_row = shared + Memory::kValues + group * kTile + tile_row_of(warp, lane);

  float x[32];
  float o[32];
  RoundedState<kPass == Pass::kPartial> rounded;
  const auto update = [&](const char* stage, const u32(&a)[16]) {
    const u64 b = wgmma_descriptor(stage + Record::kUpdates);
#pragma unroll
    for (int i = 0; i < 4; ++i) wgmma_m64n128k16(s, a + 4 * i, b + 2 * i, true);
  };
  // From keys S of this chunk, which is under way, to that of the next.
  const auto advance = [&](int c) {
    const char* const stage = shared + c % kStages * Memory::kStage;
    char* const tile = tile_row + c % Memory::kTiles * Memory::kTile;
    u32 values[16] = {};
    if (kOutput || !job.identity) {
      barrier_wait(&memory.values[c % Memory::kTiles], (c / Memory::kTiles) & 1);
      load_values(values, tile);
    }
    u32 values_low[16];
    wgmma_wait<0>();
    const auto* betas =
        reinterpret_cast<const float2*>(stage + Record::kBetas + Staged<Record>::kBehind);
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      subtract(values[i], values_low[i], betas[i / 2 * 4 + t], x[2 * i], x[2 * i + 1], {1, 1});
    }
    wgmma_fence();
    multiply_triangle(x, values, stage + Staged<Record>::kInverse, false);
    multiply_triangle(x, values_low, stage + Staged<Record>::kInverse, true);
    wgmma_commit();
    if constexpr (kOutput) multiply<8>(o, rounded.high, stage + Record::kQueries, false);
    wgmma_commit();
    const auto* decay =
        reinterpret_cast<const float2*>(stage + Record::kDecay + Staged<Record>::kBehind);
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      const float2 pair = decay[4 * j + t];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        s[4 * j + 2 * r] *= pair.x;
        s[4 * j + 2 * r + 1] *= pair.y;
      }
    }
    wgmma_wait<1>();
    u32 u[16];
    u32 u_low[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) split(x[2 * i], x[2 * i + 1], u[i], u_low[i]);
    wgmma_fence();
    update(stage, u);
    update(stage, u_low);
    wgmma_commit();
    if constexpr (kOutput) {
      multiply_triangle(o, u, stage + Staged<Record>::kAttention, true);
      multiply_triangle(o, u_low, stage + Staged<Record>::kAttention, true);
    }
    wgmma_commit();
    wgmma_wait<1>();
    rounded.round(s);
    states.store_checkpoint(s, c);
    const int after = (c + 1) % kStages;
    if (c + 1 < job.chunks) barrier_wait(&memory.full[after], ((c + 1) / kStages) & 1);
    // After the last chunk of whatever lies there; nobody looks at the product.
    recall(x, rounded, shared + after * Memory::kStage + Record::kKeys);
    wgmma_wait<1>();
    fence_async_proxy();  // decays were read, and the copy engine will write there
    barrier_arrive(&memory.empty[c % kStages]);
    if constexpr (kOutput) {
      u32 pairs[16];
      round_pairs(o, pairs);
      store_values(tile, pairs);
      barrier_arrive(&memory.out[c % Memory::kTiles]);
    }
  };

  rounded.round(s);
  if (job.chunks > 0) barrier_wait(&memory.full[0], 0);
  recall(x, rounded, shared + Record::kKeys);
  for (int c = 0; c < job.chunks; ++c) advance(c);
  wgmma_wait<0>();

  states.store(s);
}

}  // namespace recurrence_detail

/// A block's work. Grid: parts of V, of 64 kGroups columns (kPartial: and of the identity), of each
/// value head; segments.
template <int kStages, Pass kPass, class Initial, class Final, class Checkpoint, bool kKv,
          int kGroups = 1>
__device__ inline void recurrence(const RecurrenceParams& p) {
  using namespace recurrence_detail;
  extern __shared__ __align__(1024) char shared[];
  auto& memory = barriers_of<kStages, kGroups>(shared);
  for (int i = 0; i < kStages; ++i) {
    Staged<Record>::clear(shared + i * RecurrenceMemory<kStages, kGroups>::kStage);
  }
  if (threadIdx.x == 0) {
    for (u64& barrier : memory.full) barrier_init(&barrier, 1);
    for (u64& barrier : memory.values) barrier_init(&barrier, kGroups * 32);
    for (u64& barrier : memory.taken) barrier_init(&barrier, kGroups * 32);
    for (u64& barrier : memory.empty) barrier_init(&barrier, kGroups * 128);
    for (u64& barrier : memory.out) barrier_init(&barrier, kGroups * 128);
    fence_barrier_init();
  }
  __syncthreads();
  begin_recurrence(p);
  const Job job = find_job<kPass, 2 / kGroups>(p);
  if (job.idle) return;
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (warp < 4 * kGroups) {
    if constexpr (kGroups > 1) grow_registers<232>();
    run_chain<kStages, kGroups, kPass, Initial, Final, Checkpoint, kKv>(p, job, shared);
    return;
  }
  if constexpr (kGroups > 1) shrink_registers<40>();
  const int group = warp % kGroups;
  if (warp < 5 * kGroups) {
    fetch<kStages, kGroups, kPass>(p, job, shared, group, lane);
  } else if constexpr (kPass == Pass::kWhole) {
    using Memory = RecurrenceMemory<kStages, kGroups>;
    store_half<kGroups == 1 ? 16 : 2>(
        p, job, job.half + group, lane,
        [&](int c) {
          return shared + Memory::kValues + c % Memory::kTiles * Memory::kTile + group * kTile;
        },
        [&](int c) { barrier_wait(&memory.out[c % Memory::kTiles], (c / Memory::kTiles) & 1); },
        [&](int c) { barrier_arrive(&memory.taken[c % Memory::kTiles]); });
    end_recurrence(p);
  }
}

/// With a block for a value head.
template <int kStages, class Initial, class Final, class Checkpoint, bool kKv>
__global__ void __launch_bounds__(kWholeRecurrenceThreads, 1)
    whole_heads(const __grid_constant__ RecurrenceParams p) {
  recurrence<kStages, Pass::kWhole, Initial, Final, Checkpoint, kKv, 2>(p);
}

/// What segments make of no state, and of the identity.
template <int kStages>
__global__ void __launch_bounds__(kRecurrenceThreads, 1)
    partial_states(const __grid_constant__ RecurrenceParams p) {
  recurrence<kStages, Pass::kPartial, none, none, none, false>(p);
}

}  // namespace einkorn::linear_attention
