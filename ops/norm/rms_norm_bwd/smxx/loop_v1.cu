// rms_norm_bwd/smxx/loop_v1: rows of any length in two passes over memory.
//
// Idea: the widest rows do not fit in registers, and neither do their sums of dweight. The first
// kernel takes a block to a row and leaves r and the slope of each row. With these known every
// element is on its own, so the second one cuts the matrix into tiles of 32 pieces of columns and a
// fixed part of the rows, whose warps write dx and carry dweight in registers down their columns.
// It reads each element before it writes it, so dx may lie where dy does.

#include "ops/norm/rms_norm_bwd/device.cuh"

namespace einkorn::rms_norm_bwd::smxx {

/// Grid: any number of blocks; each takes rows in turn.
template <class Tr, int kVec, int kAlign, int kThreads>
__global__ void __launch_bounds__(kThreads, 1) loop_v1_factors(const __grid_constant__ Params p) {
  using T = typename Tr::T;
  using W = typename Tr::W;
  __shared__ RowSums partial[kThreads / 32];
  allow_next_kernel();
  wait_for_previous_kernel();
  const W* weight = static_cast<const W*>(p.weight);
  for (i64 row = blockIdx.x; row < p.rows; row += gridDim.x) {
    const T* dy = static_cast<const T*>(p.dy) + row * p.dy_stride;
    const T* x = static_cast<const T*>(p.x) + row * p.x_stride;
    // Blocks of 64 sums are added up apart: the contract bounds the chain of dependent additions.
    RowSums total{};
    RowSums sums{};
    int terms = 0;
    for (int col = static_cast<int>(threadIdx.x) * kVec; col < p.cols; col += kThreads * kVec) {
      add_sums<Tr, kVec>(Vec<T, kVec>::template load<kAlign>(dy + col),
                         Vec<T, kVec>::template load<kAlign>(x + col),
                         Vec<W, kVec>::template load<kAlign, Cache::kReadOnly>(weight + col),
                         p.offset, sums);
      terms += kVec;
      if (terms >= 64) {
        total = total + sums;
        sums = {};
        terms = 0;
      }
    }
    total = warp_sums<32>(total + sums);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
      sums = {};
      for (int i = 0; i < kThreads / 32; ++i) sums = sums + partial[i];
      const float rstd = Tr::kRstd ? p.rstd[row] : 0.0f;
      reinterpret_cast<RowFactors*>(p.factors)[row] = row_factors<Tr>(sums, rstd, p);
    }
    __syncthreads();  // the next row reuses the shared memory
  }
}

inline constexpr int kTileWarps = 8;

/// Grid: partial_rows parts of the rows, for each of them a block for every 32 * kVec columns.
/// Warps take a part's rows in turn.
template <class Tr, int kVec, int kAlign>
__global__ void __launch_bounds__(kTileWarps * 32, 1) loop_v1(const __grid_constant__ Params p) {
  using T = typename Tr::T;
  using W = typename Tr::W;
  using R = typename Tr::R;
  __shared__ float shared[Tr::kDWeight ? kTileWarps : 1][kVec][32];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const u32 tiles = (static_cast<u32>(p.cols) + 32 * kVec - 1) / (32 * kVec);
  const i64 part = blockIdx.x / tiles;
  const int col = (static_cast<int>(blockIdx.x % tiles) * 32 + lane) * kVec;
  const bool inside = col < p.cols;
  allow_next_kernel();
  wait_for_previous_kernel();
  Vec<W, kVec> weight{};
  if (inside) {
    weight = Vec<W, kVec>::template load<kAlign, Cache::kReadOnly>(static_cast<const W*>(p.weight) +
                                                                   col);
  }
  float sums[kVec] = {};
  const i64 end = p.rows * (part + 1) / p.partial_rows;
  for (i64 row = p.rows * part / p.partial_rows + warp; inside && row < end; row += kTileWarps) {
    const RowFactors factors = reinterpret_cast<const RowFactors*>(p.factors)[row];
    const auto dy =
        Vec<T, kVec>::template load<kAlign>(static_cast<const T*>(p.dy) + row * p.dy_stride + col);
    const auto x =
        Vec<T, kVec>::template load<kAlign>(static_cast<const T*>(p.x) + row * p.x_stride + col);
    Vec<R, kVec> residual{};
    if constexpr (Tr::kHasResidual) {
      residual = Vec<R, kVec>::template load<kAlign>(static_cast<const R*>(p.residual) +
                                                     row * p.residual_stride + col);
    }
    gradients<Tr, kVec>(dy, x, weight, residual, factors, p.offset)
        .template store<kAlign>(static_cast<T*>(p.dx) + row * p.dx_stride + col);
    if constexpr (Tr::kDWeight) add_weight_gradients<Tr, kVec>(dy, x, factors.r, sums);
  }

  if constexpr (Tr::kDWeight) {
#pragma unroll
    for (int j = 0; j < kVec; ++j) shared[warp][j][lane] = sums[j];
    __syncthreads();
    if (warp != 0 || !inside) return;
#pragma unroll
    for (int j = 0; j < kVec; ++j) {
      for (int i = 1; i < kTileWarps; ++i) sums[j] += shared[i][j][lane];
    }
    Vec<float, kVec>::from(sums).template store<16>(p.partials + part * p.partial_stride + col);
  }
}

}  // namespace einkorn::rms_norm_bwd::smxx
