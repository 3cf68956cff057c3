// rms_norm_bwd/sm90/bulk_v1: persistent groups of threads, each with a ring of rows that the copy
// engine fills ahead of the arithmetic; dweight stays in registers from row to row.
//
// Idea: of long rows smxx/rows_v1 has registers for two at most, of which one is on its way, and
// memory idles while a block exchanges sums. Here rows wait in shared memory, several ahead, and
// cost no registers: a row is read there twice, for its sums and for its gradients, and the weight
// is read there, too. Registers hold dweight's sums alone. The barrier of a row's sums is also
// where everyone is done with the row before, whose stage is then filled anew: one barrier a row.
//
// Best: 221 us at 16384 x 8192 bf16, 86 % of a copy, where rows_v1 takes 268; H200, CUDA 13.0,
// 2026-11-29 (docs/devlog/20261128-plans.md).

#include "ops/norm/rms_norm_bwd/device.cuh"
#include "src/cuda/device/sm90/bulk.cuh"

namespace einkorn::rms_norm_bwd::sm90 {

/// Where the rows of x and of dresidual_out begin in a stage, behind that of dy, and the stage's
/// size, in bytes: multiples of 16.
template <class Tr>
struct Stage {
  u32 x;
  u32 residual;
  u32 size;

  __device__ explicit Stage(int cols) {
    x = static_cast<u32>(cols) * sizeof(typename Tr::T);
    residual = 2 * x;
    size = residual;
    if constexpr (Tr::kHasResidual) size += static_cast<u32>(cols) * sizeof(typename Tr::R);
  }
};

/// One thread has a row copied to `stage`; `barrier` completes when it is there.
template <class Tr>
__device__ inline void load_row(const Params& p, i64 row, const Stage<Tr>& at, unsigned char* stage,
                                u64* barrier, u64 policy) {
  using T = typename Tr::T;
  barrier_expect(barrier, at.size);
  bulk_load(stage, static_cast<const T*>(p.dy) + row * p.dy_stride, at.x, barrier, policy);
  bulk_load(stage + at.x, static_cast<const T*>(p.x) + row * p.x_stride, at.x, barrier, policy);
  if constexpr (Tr::kHasResidual) {
    using R = typename Tr::R;
    bulk_load(stage + at.residual, static_cast<const R*>(p.residual) + row * p.residual_stride,
              at.size - at.residual, barrier, policy);
  }
}

/// One thread has the weight copied, which stays in the L2 for other blocks.
template <class Tr>
__device__ inline void load_weight(const Params& p, unsigned char* to, u64* barrier) {
  const u32 bytes = static_cast<u32>(p.cols) * sizeof(typename Tr::W);
  barrier_expect(barrier, bytes);
  bulk_load(to, p.weight, bytes, barrier);
}

/// Sums over a group of kLanes threads; every one of them gets them. `partial` holds a pair for
/// each warp of the group. One barrier; `partial` must not be the last call's, which slower threads
/// may still be reading.
template <int kLanes>
__device__ inline RowSums group_sums(RowSums sums, RowSums* partial, int group) {
  constexpr int kWarps = kLanes / 32;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  sums = warp_sums<32>(sums);
  if (lane % 32 == 0) partial[lane / 32] = sums;
  named_barrier(1 + group, kLanes);
  return warp_sums<kWarps>(partial[lane % kWarps]);
}

/// Adds the block's groups of sums to those of its first group, one group after the other; all
/// threads call it. `shared` holds a row and is nobody's any more once all have come here.
template <int kGroups, int kItems, int kVec, class ColOf, class Inside>
__device__ inline void add_groups(float (&sums)[kItems][kVec], float* shared, int group,
                                  const ColOf& col_of, const Inside& inside) {
  __syncthreads();
#pragma unroll 1
  for (int from = kGroups - 1; from > 0; --from) {
    if (group == from) {
#pragma unroll
      for (int i = 0; i < kItems; ++i) {
        if (inside(i)) Vec<float, kVec>::from(sums[i]).template store<16>(shared + col_of(i));
      }
    }
    __syncthreads();
    if (group == from - 1) {
#pragma unroll
      for (int i = 0; i < kItems; ++i) {
        if (!inside(i)) continue;
        const auto added = Vec<float, kVec>::template load<16>(shared + col_of(i));
#pragma unroll
        for (int j = 0; j < kVec; ++j) sums[i][j] += added.item[j];
      }
    }
  }
}

/// Grid: any number of blocks; groups take rows in turn, and a block writes the row of partial sums
/// of its number. kVec elements are 16 bytes of T; kLanes threads a group, 32 times a power of two;
/// kItems pieces a thread; at most 15 groups. Rows, their strides and the weight are multiples of
/// 16 bytes. kBlocks: blocks a multiprocessor has to have registers for. kExact: kLanes * kItems *
/// kVec == cols. Dynamic shared memory: kGroups * kStages stages, kStages > 1, then the weight.
template <class Tr, int kVec, int kLanes, int kItems, int kGroups, int kStages, int kBlocks,
          bool kExact>
__global__ void __launch_bounds__(kLanes* kGroups, kBlocks)
    bulk_v1(const __grid_constant__ Params p) {
  using T = typename Tr::T;
  using W = typename Tr::W;
  using R = typename Tr::R;
  extern __shared__ __align__(128) unsigned char ring_memory[];
  __shared__ u64 barriers[kGroups][kStages];
  __shared__ u64 weight_barrier;
  // A group's two by turns: one barrier a row is then enough.
  __shared__ RowSums partial[kGroups][2][kLanes / 32];

  const int group = kGroups == 1 ? 0 : static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const Stage<Tr> at(p.cols);
  unsigned char* weight_memory = ring_memory + static_cast<u32>(kGroups * kStages) * at.size;
  unsigned char* ring = ring_memory + static_cast<u32>(group) * kStages * at.size;
  u64* full = barriers[group];
  const u64 policy = evict_first_policy();
  // Fewer rows than groups then go to as many blocks as there are.
  const i64 step = i64{gridDim.x} * kGroups;
  i64 row = i64{blockIdx.x} + i64{group} * gridDim.x;

  if (lane == 0) {
#pragma unroll
    for (int s = 0; s < kStages; ++s) barrier_init(full + s, 1);
    if (group == 0) barrier_init(&weight_barrier, 1);
    fence_barrier_init();
  }
  __syncthreads();
  allow_next_kernel();
  wait_for_previous_kernel();
  if (lane == 0) {
    if (Tr::kHasWeight && group == 0) load_weight<Tr>(p, weight_memory, &weight_barrier);
#pragma unroll
    for (int s = 0; s < kStages - 1; ++s) {
      if (row + s * step < p.rows) {
        load_row<Tr>(p, row + s * step, at, ring + s * at.size, full + s, policy);
      }
    }
  }

  const W* weights = reinterpret_cast<const W*>(weight_memory);
  const auto col_of = [&](int i) { return (i * kLanes + lane) * kVec; };
  const auto inside = [&](int i) { return kExact || col_of(i) < p.cols; };
  const auto rstd_of = [&](i64 which) {
    return Tr::kRstd && which < p.rows ? p.rstd[which] : 0.0f;
  };
  float sums[kItems][kVec] = {};
  float rstd = rstd_of(row);
  int stage = 0;
  u32 phase = 0;  // parity of the stage's current use
  int turn = 0;
  if constexpr (Tr::kHasWeight) barrier_wait(&weight_barrier, 0);
  for (; row < p.rows; row += step) {
    const float next_rstd = rstd_of(row + step);
    const unsigned char* here = ring + static_cast<u32>(stage) * at.size;
    const T* dy_row = reinterpret_cast<const T*>(here);
    const T* x_row = reinterpret_cast<const T*>(here + at.x);
    const R* residual_row = reinterpret_cast<const R*>(here + at.residual);
    barrier_wait(full + stage, phase);

    RowSums of_thread{};
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (!inside(i)) continue;
      add_sums<Tr, kVec>(Vec<T, kVec>::template load<16>(dy_row + col_of(i)),
                         Vec<T, kVec>::template load<16>(x_row + col_of(i)),
                         Vec<W, kVec>::template load<16>(weights + col_of(i)), p.offset, of_thread);
    }
    const RowSums of_row = group_sums<kLanes>(of_thread, partial[group][turn], group);
    turn ^= 1;
    // Everyone has read the row before for the last time; before the first one nothing was there.
    if (lane == 0 && row + (kStages - 1) * step < p.rows) {
      const int before = (stage == 0 ? kStages : stage) - 1;
      load_row<Tr>(p, row + (kStages - 1) * step, at, ring + static_cast<u32>(before) * at.size,
                   full + before, policy);
    }

    const RowFactors factors = row_factors<Tr>(of_row, rstd, p);
    T* dx_row = static_cast<T*>(p.dx) + row * p.dx_stride;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (!inside(i)) continue;
      const auto dy = Vec<T, kVec>::template load<16>(dy_row + col_of(i));
      const auto x = Vec<T, kVec>::template load<16>(x_row + col_of(i));
      const auto weight = Vec<W, kVec>::template load<16>(weights + col_of(i));
      Vec<R, kVec> residual{};
      if constexpr (Tr::kHasResidual) {
        residual = Vec<R, kVec>::template load<16>(residual_row + col_of(i));
      }
      gradients<Tr, kVec>(dy, x, weight, residual, factors, p.offset)
          .template store<16>(dx_row + col_of(i));
      if constexpr (Tr::kDWeight) add_weight_gradients<Tr, kVec>(dy, x, factors.r, sums[i]);
    }
    rstd = next_rstd;
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }

  if constexpr (Tr::kDWeight) {
    // The ring is empty: a group waits for each row that it has asked for.
    if constexpr (kGroups > 1) {
      add_groups<kGroups>(sums, reinterpret_cast<float*>(ring_memory), group, col_of, inside);
    }
    if (group != 0) return;
    float* to = p.partials + blockIdx.x * p.partial_stride;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (!inside(i)) continue;
      Vec<float, kVec>::from(sums[i]).template store<16>(to + col_of(i));
    }
  }
}

}  // namespace einkorn::rms_norm_bwd::sm90
