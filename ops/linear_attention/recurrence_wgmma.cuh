#pragma once

// The recurrence over the chunks of a sequence on Hopper, from their records:
//
//   U = inverse (beta V - keys S)      O = queries S + attention U      S = decay S + updates U
//
// A block has a sequence (or a segment of one), a value head, and half of V, whose columns do not
// depend on each other. Idea: everything is kept transposed, S^T [V][K] first, so that the side
// that comes from the step before is always the product's left one, which the tensor cores take
// from registers, and the side from the record always the right one, which they take from shared
// memory as the copy engine put it there. A result's registers are the next product's left side as
// they are: in the chain from S to the next S there is no shared memory and no barrier, four warps
// work on one chain, and S itself never leaves their registers, in f32.
//
// What enters a product as bf16 and has a rounding of its own at each step, V - keys S and U,
// enters as a sum of two bf16 numbers. The tensor cores have the time: a step waits for its 74 KB
// more than for them.
//
// One more warp has the copy engine fetch records, as many ahead as there are stages, and fetches V
// itself, since pieces of 128 bytes are too small for the engine; a sixth takes the results from
// shared memory to where they belong.

#include "ops/linear_attention/chain_parts.cuh"
#include "src/cuda/device/common/pdl.cuh"
#include "src/cuda/device/common/traits.cuh"

namespace einkorn::linear_attention {

inline constexpr int kRecurrenceThreads = 192;

/// Shared memory of a block, from an address that 1024 divides: stages, each a record and 64 rows
/// of half of V, then one tile like these for O. The barriers stand in the gap behind the first
/// record.
template <int kStages>
struct RecurrenceMemory {
  static constexpr int kValues = 66560;  // of V in a stage
  static constexpr int kStage = kValues + recurrence_detail::kTile;
  static constexpr int kOut = kStages * kStage;
  static constexpr int kBytes = kOut + recurrence_detail::kTile;

  u64 full[kStages];   // a stage has been filled
  u64 empty[kStages];  // it may be filled again
  u64 out_full, out_empty;
};
static_assert(RecurrenceMemory<3>::kBytes <= 232448 &&
              Record::kBytes + sizeof(RecurrenceMemory<3>) <= RecurrenceMemory<3>::kValues);

namespace recurrence_detail {

template <int kStages, Pass kPass>
__device__ inline void load_loop(const RecurrenceParams& p, const Job& job, char* shared,
                                 int lane) {
  using Memory = RecurrenceMemory<kStages>;
  auto& memory = *reinterpret_cast<Memory*>(shared + Record::kBytes);
  const bool has_values = kPass == Pass::kWhole || !job.identity;
  Rows values = value_rows(p, job, Memory::kValues);
  const i64 record_stride = i64{p.value_heads} * Record::kBytes;
  const unsigned char* record =
      p.records + (job.part.chunk * p.value_heads + job.head) * Record::kBytes;
  for (int c = 0; c < job.chunks; ++c) {
    const int stage = c % kStages;
    u64* const full = &memory.full[stage];
    if (c >= kStages) barrier_wait(&memory.empty[stage], (c / kStages - 1) & 1);
    char* const to = shared + stage * Memory::kStage;
    if (lane == 0) {
      barrier_expect(full, Record::kBytes);
      bulk_load(to, record, Record::kBytes, full);
    }
    if (has_values) copy_rows<8>(values, to, job.part.tokens - c * kChunkTokens, lane);
    barrier_arrive_after_copies(full);
    values.from += kChunkTokens * values.token;
    record += record_stride;
  }
}

/// The four warps of the chain, each with 16 rows of V. X and O lie in registers as S does, with
/// tokens for K.
template <int kStages, Pass kPass, class Initial, class Final, class Checkpoint, bool kKv>
__device__ inline void run_chain(const RecurrenceParams& p, const Job& job, char* shared) {
  using Memory = RecurrenceMemory<kStages>;
  auto& memory = *reinterpret_cast<Memory*>(shared + Record::kBytes);
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
    const u64 b = wgmma_descriptor(stage + Record::kUpdates);
#pragma unroll
    for (int i = 0; i < 4; ++i) wgmma_m64n128k16(s, a + 4 * i, b + 2 * i, true);
  };
  // After the last product that reads a stage.
  const auto release = [&](int c) {
    fence_async_proxy();  // decays were read, and the copy engine will write there
    barrier_arrive(&memory.empty[c % kStages]);
  };
  // From keys S of this chunk, which is under way, to that of the next.
  const auto advance = [&](int c) {
    const char* const stage = shared + c % kStages * Memory::kStage;
    u32 values[16] = {};
    if (kOutput || !job.identity) load_values(values, stage + Memory::kValues + tile_row);
    u32 values_low[16];
    wgmma_wait<0>();
    const auto* betas = reinterpret_cast<const float2*>(stage + Record::kBetas);
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      subtract(values[i], values_low[i], betas[i / 2 * 4 + t], x[2 * i], x[2 * i + 1], {1, 1});
    }
    wgmma_fence();
    multiply<4>(x, values, stage + Record::kInverse, false);
    multiply<4>(x, values_low, stage + Record::kInverse, true);
    wgmma_commit();
    if constexpr (kOutput) multiply<8>(o, rounded.high, stage + Record::kQueries, false);
    wgmma_commit();
    const auto* decay = reinterpret_cast<const float2*>(stage + Record::kDecay);
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
      multiply<4>(o, u, stage + Record::kAttention, true);
      multiply<4>(o, u_low, stage + Record::kAttention, true);
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
    release(c);
    if constexpr (kOutput) hand_out(memory, shared + Memory::kOut + tile_row, o, c);
  };

  rounded.round(s);
  if (job.chunks > 0) barrier_wait(&memory.full[0], 0);
  recall(x, rounded, shared + Record::kKeys);
  for (int c = 0; c < job.chunks; ++c) advance(c);
  wgmma_wait<0>();

  states.store(s);
}

}  // namespace recurrence_detail

/// A block's work. Grid: 2 halves of V (kPartial: and of the identity) of each value head;
/// segments.
template <int kStages, Pass kPass, class Initial, class Final, class Checkpoint, bool kKv>
__device__ inline void recurrence(const RecurrenceParams& p) {
  using namespace recurrence_detail;
  using Memory = RecurrenceMemory<kStages>;
  extern __shared__ __align__(1024) char shared[];
  auto& memory = *reinterpret_cast<Memory*>(shared + Record::kBytes);
  if (threadIdx.x == 0) init_barriers<kStages>(memory, 1 + 32);
  __syncthreads();
  wait_for_previous_kernel();
  // What prepares the next slice begins once all blocks of this kernel have their places.
  if (p.slice.count > 1) allow_next_kernel();
  const Job job = find_job<kPass, 2>(p);
  if (job.idle) return;
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (warp < 4) {
    run_chain<kStages, kPass, Initial, Final, Checkpoint, kKv>(p, job, shared);
  } else if (warp == 4) {
    load_loop<kStages, kPass>(p, job, shared, lane);
  } else if constexpr (kPass == Pass::kWhole) {
    store_loop(p, job, shared + Memory::kOut, memory, lane);
  }
}

/// What segments make of no state, and of the identity.
template <int kStages>
__global__ void __launch_bounds__(kRecurrenceThreads, 1)
    partial_states(const __grid_constant__ RecurrenceParams p) {
  recurrence<kStages, Pass::kPartial, none, none, none, false>(p);
}

}  // namespace einkorn::linear_attention
