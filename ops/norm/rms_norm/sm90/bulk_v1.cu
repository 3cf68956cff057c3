// rms_norm/sm90/bulk_v1: persistent groups of warps, each with a ring of rows that the copy engine
// fills ahead of the arithmetic.
//
// Idea: bytes in flight cost shared memory instead of registers and threads, so the memory system
// is kept full by few threads; the weight is read once a group, not once a row.
//
// Best: 12.5 us at 16384 x 512 bf16, 100.4 % of a copy, but 94 % at 4096 columns; H100, CUDA 13.0,
// 2026-11-27 (docs/devlog/20261127-rms_norm-v1.md).

#include "ops/norm/rms_norm/device.cuh"
#include "src/cuda/device/sm90/bulk.cuh"

namespace einkorn::rms_norm::sm90 {

/// Bytes of shared memory for one row of x (and residual) of a ring.
template <class Tr>
__device__ inline u32 stage_bytes(int cols) {
  u32 bytes = static_cast<u32>(cols) * sizeof(typename Tr::T);
  if constexpr (Tr::kHasResidual) bytes += static_cast<u32>(cols) * sizeof(typename Tr::R);
  return bytes;
}

template <class Tr>
__device__ inline void load_row(const Params& p, i64 row, unsigned char* stage, u64* barrier,
                                u64 policy) {
  using T = typename Tr::T;
  const u32 x_bytes = static_cast<u32>(p.cols) * sizeof(T);
  barrier_expect(barrier, stage_bytes<Tr>(p.cols));
  bulk_load(stage, static_cast<const T*>(p.x) + row * p.x_stride, x_bytes, barrier, policy);
  if constexpr (Tr::kHasResidual) {
    using R = typename Tr::R;
    bulk_load(stage + x_bytes, static_cast<const R*>(p.residual) + row * p.residual_stride,
              static_cast<u32>(p.cols) * sizeof(R), barrier, policy);
  }
}

/// Sum over a group of kLanes threads. `partial` is this group's; two halves alternate by `phase`,
/// so one barrier a row is enough.
template <int kLanes>
__device__ inline float group_sum(float value, float* partial, int group, u32 phase) {
  value = warp_sum(value);
  if constexpr (kLanes == 32) {
    return value;
  } else {
    constexpr int kWarps = kLanes / 32;
    float* half = partial + (phase & 1) * kWarps;
    const int lane = static_cast<int>(threadIdx.x) % kLanes;
    if (lane % 32 == 0) half[lane / 32] = value;
    named_barrier(1 + group, kLanes);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kWarps; ++i) sum += half[i];
    return sum;
  }
}

/// Grid: any number of blocks; groups take rows in turn. kLanes a multiple of 32, kGroups at most
/// 15, kVec elements are 16 bytes of T; cols * sizeof(T) and every row stride are multiples of 16
/// bytes. Dynamic shared memory: kGroups * kStages * stage_bytes.
template <class Tr, int kVec, int kLanes, int kItems, int kGroups, int kStages, int kBlocks,
          bool kExact>
__global__ void __launch_bounds__(kLanes* kGroups, kBlocks)
    bulk_v1(const __grid_constant__ Params p) {
  using T = typename Tr::T;
  using W = typename Tr::W;
  using R = typename Tr::R;
  extern __shared__ __align__(128) unsigned char ring_memory[];
  __shared__ u64 barriers[kGroups * kStages];
  __shared__ float partials[kGroups * 2 * (kLanes / 32)];

  const int group = static_cast<int>(threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const u32 stage_size = stage_bytes<Tr>(p.cols);
  unsigned char* ring = ring_memory + static_cast<u32>(group) * kStages * stage_size;
  u64* full = barriers + group * kStages;
  float* partial = partials + group * 2 * (kLanes / 32);
  const i64 step = i64{gridDim.x} * kGroups;
  const i64 first = i64{blockIdx.x} * kGroups + group;
  const u64 policy = evict_first_policy();

  if (lane == 0) {
#pragma unroll
    for (int s = 0; s < kStages; ++s) barrier_init(full + s, 1);
    fence_barrier_init();
  }
  __syncthreads();
  wait_for_previous_kernel();
  if (lane == 0) {
#pragma unroll
    for (int s = 0; s < kStages; ++s) {
      if (first + s * step < p.rows) {
        load_row<Tr>(p, first + s * step, ring + s * stage_size, full + s, policy);
      }
    }
  }

  const auto inside = [&](int i) { return kExact || (i * kLanes + lane) * kVec < p.cols; };
  Vec<W, kVec> weight[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (inside(i)) {
      weight[i] = Vec<W, kVec>::template load<16, Cache::kReadOnly>(
          static_cast<const W*>(p.weight) + (i * kLanes + lane) * kVec);
    }
  }

  int stage = 0;
  u32 phase = 0;  // parity of the stage's current use
  u32 turn = 0;
  for (i64 row = first; row < p.rows; row += step) {
    const auto* x_row = reinterpret_cast<const T*>(ring + stage * stage_size);
    const auto* residual_row = reinterpret_cast<const R*>(x_row + p.cols);
    barrier_wait(full + stage, phase);

    Vec<T, kVec> x[kItems];
    Vec<R, kVec> residual[kItems];
    float sum = 0;
    const auto value_of = [&](int i, int j) {
      float h = x[i].get(j);
      if constexpr (Tr::kHasResidual) h += residual[i].get(j);
      return h;
    };
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int col = (i * kLanes + lane) * kVec;
      if (!inside(i)) continue;
      x[i] = Vec<T, kVec>::template load<16>(x_row + col);
      if constexpr (Tr::kHasResidual) {
        residual[i] = Vec<R, kVec>::template load<16>(residual_row + col);
      }
#pragma unroll
      for (int j = 0; j < kVec; ++j) {
        const float h = value_of(i, j);
        sum += h * h;
      }
    }
    // The sum's barrier (or the warp's own lock step) is also where everyone has read the stage.
    const float r = reciprocal_rms(group_sum<kLanes>(sum, partial, group, turn), p);
    if constexpr (kLanes == 32) __syncwarp();
    if (lane == 0 && row + kStages * step < p.rows) {
      load_row<Tr>(p, row + kStages * step, ring + stage * stage_size, full + stage, policy);
    }

    const float scale = scale_of<Tr>(r);
    T* y_row = static_cast<T*>(p.y) + row * p.y_stride;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int col = (i * kLanes + lane) * kVec;
      if (!inside(i)) continue;
      float h[kVec];
#pragma unroll
      for (int j = 0; j < kVec; ++j) h[j] = value_of(i, j);
      normalize_vec<Tr, kVec>(h, weight[i], scale, p.offset).template store<16>(y_row + col);
      if constexpr (Tr::kResidualOut) {
        Vec<R, kVec>::from(h).template store<16>(static_cast<R*>(p.residual_out) +
                                                 row * p.residual_out_stride + col);
      }
    }
    if constexpr (Tr::kRstd) {
      if (lane == 0) p.rstd[row] = r;
    }
    ++turn;
    if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
  allow_next_kernel();
}

}  // namespace einkorn::rms_norm::sm90
