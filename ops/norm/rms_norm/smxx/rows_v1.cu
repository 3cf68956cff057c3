// rms_norm/smxx/rows_v1: a row stays in the registers of kLanes threads between the two passes.
//
// Idea: memory is read once and written once; everything else hides behind it. Up to a warp a row
// needs no barrier, beyond that one barrier a row. The caches' ordinary order is kept: streaming
// hints save nothing here and take y from the L2 where its consumer would find it.
//
// Between two kernels memory must not idle, either. By programmatic dependent launch the first
// blocks sit on their multiprocessors while the previous kernel writes its last rows. They may not
// read yet, but they have their rows brought into the L2 meanwhile. That is safe whoever writes x:
// the L2 is where the writes of all multiprocessors arrive, so what lies there is never stale.
//
// Best: 89.6 us at 16384 x 4096 bf16, 100.2 % of a copy; H100, CUDA 13.0, 2026-11-28
// (docs/devlog/20261127-rms_norm-v1.md).

#include "ops/norm/rms_norm/device.cuh"

namespace einkorn::rms_norm::smxx {

/// Sum over the kLanes threads of the block's row number `row`; every one of them gets it.
/// `partial` holds a float for each warp of the block.
template <int kLanes>
__device__ inline float row_sum(float value, float* partial, int row) {
  if constexpr (kLanes <= 32) {
    return warp_sum<kLanes>(value);
  } else {
    constexpr int kWarps = kLanes / 32;
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kWarps; ++i) sum += partial[row * kWarps + i];
    return sum;
  }
}

/// Blocks that a multiprocessor must have registers for; 1 leaves the compiler alone. Two vectors
/// of 16 bits fit 40 registers, but with 512 threads it takes 48, and then there is room for two
/// blocks in place of three: 6 % at 8192 columns. With a residual they fit 48, and 50 would cost
/// the fifth block of 256 threads. Rows that leave threads without work need more and would spill.
template <class Tr, int kItems, int kThreads, bool kExact>
inline constexpr int kMinBlocks =
    sizeof(typename Tr::T) == 2 && sizeof(typename Tr::W) <= 2 && sizeof(typename Tr::R) <= 2 &&
            kItems == 2 && kThreads >= 256 && kExact
        ? 65536 / ((Tr::kHasResidual ? 48 : 40) * kThreads)
        : 1;

/// Grid: one block for kRows rows of kLanes threads each, kLanes a multiple of 32. kVec elements a
/// piece, kItems pieces a thread; kAlign bytes divide every address. kExact: kLanes * kItems * kVec
/// == cols.
template <class Tr, int kVec, int kAlign, int kLanes, int kItems, int kRows, bool kExact>
__global__ void __launch_bounds__(kLanes* kRows, (kMinBlocks<Tr, kItems, kLanes * kRows, kExact>))
    rows_v1(const __grid_constant__ Params p) {
  using T = typename Tr::T;
  using W = typename Tr::W;
  using R = typename Tr::R;
  __shared__ float partial[(kLanes * kRows + 31) / 32];

  const int row_in_block = kRows == 1 ? 0 : static_cast<int>(threadIdx.x / kLanes);
  const int lane = static_cast<int>(kRows == 1 ? threadIdx.x : threadIdx.x % kLanes);
  const i64 row = i64{blockIdx.x} * kRows + row_in_block;
  const bool active = kRows == 1 || row < p.rows;
  // A warp's pieces are neighbours, so it reads and writes kItems * 32 of them in one stretch.
  constexpr int kStep = 32 * kVec;
  const int first = (lane / 32 * 32 * kItems + lane % 32) * kVec;
  const auto inside = [&](int i) { return active && (kExact || first + i * kStep < p.cols); };
  const T* x_from = static_cast<const T*>(p.x) + row * p.x_stride + first;
  const R* residual_from = nullptr;
  if constexpr (Tr::kHasResidual) {
    residual_from = static_cast<const R*>(p.residual) + row * p.residual_stride + first;
  }

  // First of all: the next kernel's blocks then come as soon as the last of this one's have come.
  // They wait for the end of this kernel, which waits for the end of the previous one.
  allow_next_kernel();
  if (blockIdx.x < p.early_blocks) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (!inside(i)) continue;
      prefetch_to_l2(x_from + i * kStep);
      if constexpr (Tr::kHasResidual) prefetch_to_l2(residual_from + i * kStep);
    }
  }
  wait_for_previous_kernel();

  Vec<T, kVec> x[kItems];
  Vec<R, kVec> residual[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (!inside(i)) continue;
    x[i].template fill<kAlign>(x_from + i * kStep);
    if constexpr (Tr::kHasResidual) residual[i].template fill<kAlign>(residual_from + i * kStep);
  }

  Vec<W, kVec> weight[kItems];
  const auto load_weights = [&] {
    const W* from = static_cast<const W*>(p.weight) + first;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (!inside(i)) continue;
      weight[i].template fill<kAlign, Cache::kReadOnly>(from + i * kStep);
    }
  };
  // With one vector a thread the weight is asked for before the sum, which hides its latency; with
  // more, the compiler decides how many registers it can spare for that.
  constexpr bool kEarlyWeight = kItems == 1;
  if constexpr (kEarlyWeight) load_weights();

  constexpr int kPairs = (kVec + 1) / 2;
  const auto h_of = [&](int i, int j) {
    float2 h = x[i].pair(j);
    if constexpr (Tr::kHasResidual) {
      const float2 added = residual[i].pair(j);
      h.x += added.x;
      h.y += added.y;
    }
    return h;
  };
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (!inside(i)) continue;
#pragma unroll
    for (int j = 0; j < kPairs; ++j) {
      const float2 h = h_of(i, j);
      sum += h.x * h.x;
      if constexpr (kVec > 1) sum += h.y * h.y;
    }
  }
  const float r = reciprocal_rms(row_sum<kLanes>(sum, partial, row_in_block), p);
  const float scale = scale_of<Tr>(r);
  if (!active) return;

  if constexpr (!kEarlyWeight) load_weights();
  T* y_to = static_cast<T*>(p.y) + row * p.y_stride + first;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (!inside(i)) continue;
    Vec<T, kVec> y;
    Vec<R, kVec> sums;
#pragma unroll
    for (int j = 0; j < kPairs; ++j) {
      const float2 h = h_of(i, j);
      y.set_pair(j, normalize_pair<Tr>(h, weight[i].pair(j), scale, p.offset));
      if constexpr (Tr::kResidualOut) sums.set_pair(j, h);
    }
    y.template store<kAlign>(y_to + i * kStep);
    if constexpr (Tr::kResidualOut) {
      R* to = static_cast<R*>(p.residual_out) + row * p.residual_out_stride + first;
      sums.template store<kAlign>(to + i * kStep);
    }
  }
  if constexpr (Tr::kRstd) {
    if (lane == 0) p.rstd[row] = r;
  }
}

}  // namespace einkorn::rms_norm::smxx
