// rms_norm/smxx/rows_v1: a row stays in the registers of kLanes threads between the two passes.
//
// Idea: memory is read once and written once; everything else hides behind it. Up to a warp a row
// needs no barrier, beyond that one barrier a row. The caches' ordinary order is kept: streaming
// hints save nothing here and take y from the L2 where its consumer would find it.
//
// Best: 91.1 us at 16384 x 4096 bf16, 98.8 % of a copy; H100, CUDA 13.0, 2026-11-27
// (docs/devlog/20261127-rms_norm-v1.md).

#include "ops/norm/rms_norm/device.cuh"

namespace einkorn::rms_norm::smxx {

/// Sum over the kLanes threads of one row; every thread gets it. `partial` holds one float for each
/// warp of the block.
template <int kLanes>
__device__ inline float row_sum(float value, float* partial) {
  if constexpr (kLanes <= 32) {
    return warp_sum<kLanes>(value);
  } else {
    constexpr int kWarps = kLanes / 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int first = warp / kWarps * kWarps;
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) partial[warp] = value;
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kWarps; ++i) sum += partial[first + i];
    return sum;
  }
}

/// Grid: one block for kRows rows of kLanes threads each. kVec elements a piece, kItems pieces a
/// thread; kAlign bytes divide every address. kExact: kLanes * kItems * kVec == cols.
template <class Tr, int kVec, int kAlign, int kLanes, int kItems, int kRows, bool kExact>
__global__ void __launch_bounds__(kLanes* kRows) rows_v1(const __grid_constant__ Params p) {
  using T = typename Tr::T;
  using W = typename Tr::W;
  using R = typename Tr::R;
  __shared__ float partial[(kLanes * kRows + 31) / 32];

  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const i64 row = i64{blockIdx.x} * kRows + static_cast<int>(threadIdx.x) / kLanes;
  const bool active = row < p.rows;
  wait_for_previous_kernel();

  Vec<T, kVec> x[kItems];
  Vec<R, kVec> residual[kItems];
  const auto inside = [&](int i) {
    return active && (kExact || (i * kLanes + lane) * kVec < p.cols);
  };
  const T* x_row = static_cast<const T*>(p.x) + row * p.x_stride;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int col = (i * kLanes + lane) * kVec;
    if (inside(i)) {
      x[i] = Vec<T, kVec>::template load<kAlign>(x_row + col);
      if constexpr (Tr::kHasResidual) {
        residual[i] = Vec<R, kVec>::template load<kAlign>(static_cast<const R*>(p.residual) +
                                                          row * p.residual_stride + col);
      }
    }
  }

  Vec<W, kVec> weight[kItems];
  const auto load_weight = [&](int i) {
    weight[i] = Vec<W, kVec>::template load<kAlign, Cache::kReadOnly>(
        static_cast<const W*>(p.weight) + (i * kLanes + lane) * kVec);
  };
  // With one vector a thread the weight is asked for before the sum, which hides its latency; with
  // more, the registers it would hold cost more than it hides.
  constexpr bool kEarlyWeight = kItems == 1;
  if constexpr (kEarlyWeight) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (inside(i)) load_weight(i);
    }
  }

  const auto value_of = [&](int i, int j) {
    float h = x[i].get(j);
    if constexpr (Tr::kHasResidual) h += residual[i].get(j);
    return h;
  };
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (!inside(i)) continue;
#pragma unroll
    for (int j = 0; j < kVec; ++j) {
      const float h = value_of(i, j);
      sum += h * h;
    }
  }
  const float r = reciprocal_rms(row_sum<kLanes>(sum, partial), p);
  const float scale = scale_of<Tr>(r);
  allow_next_kernel();
  if (!active) return;

  T* y_row = static_cast<T*>(p.y) + row * p.y_stride;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (!inside(i)) continue;
    const int col = (i * kLanes + lane) * kVec;
    float h[kVec];
#pragma unroll
    for (int j = 0; j < kVec; ++j) h[j] = value_of(i, j);
    if constexpr (!kEarlyWeight) load_weight(i);
    normalize_vec<Tr, kVec>(h, weight[i], scale, p.offset).template store<kAlign>(y_row + col);
    if constexpr (Tr::kResidualOut) {
      Vec<R, kVec>::from(h).template store<kAlign>(static_cast<R*>(p.residual_out) +
                                                   row * p.residual_out_stride + col);
    }
  }
  if constexpr (Tr::kRstd) {
    if (lane == 0) p.rstd[row] = r;
  }
}

}  // namespace einkorn::rms_norm::smxx
