// rms_norm_bwd/smxx/rows_v1: rows of dy and x stay in the registers of kLanes threads between the
// sums and the gradients; blocks that stay carry dweight in registers from row to row.
//
// Idea: dx alone would be rms_norm's kernel with a second sum. dweight adds over all rows, so each
// block stays and takes every gridDim-th row; its threads keep to their columns and add dy * x^ in
// registers. At its end a block writes one row of partial sums, some hundred rows in all, which the
// second stage adds up column by column: 1 % of the bytes. Which rows a block takes is a matter of
// the grid alone, and nothing is atomic, so dweight repeats bit by bit.
//
// Few blocks stay on a multiprocessor, so memory would idle while they exchange sums. With kAhead a
// block asks for its next row before it looks at the present one, at the price of registers for
// two.

#include "ops/norm/rms_norm_bwd/device.cuh"

namespace einkorn::rms_norm_bwd::smxx {

/// Sums over the kLanes threads of the block's row number `row`; every one of them gets them.
/// `partial` holds a pair for each warp of the block. One barrier; `partial` must not be the last
/// call's, which slower threads may still be reading.
template <int kLanes>
__device__ inline RowSums row_sums(RowSums sums, RowSums* partial, int row) {
  sums = warp_sums < kLanes<32 ? kLanes : 32>(sums);
  if constexpr (kLanes > 32) {
    constexpr int kWarps = kLanes / 32;
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sums;
    __syncthreads();
    if constexpr (kWarps > 4) {
      // Reading them all would take registers that the rows need.
      sums = warp_sums<kWarps>(partial[row * kWarps + static_cast<int>(threadIdx.x) % kWarps]);
    } else {
      sums = {};
#pragma unroll
      for (int i = 0; i < kWarps; ++i) sums = sums + partial[row * kWarps + i];
    }
  }
  return sums;
}

/// Adds the block's rows of sums to those of its first row, one row after the other; all threads
/// call it, `shared` holds one row.
template <int kRows, int kLanes, int kElements>
__device__ inline void add_rows(float (&sums)[kElements], float* shared, int row, int lane) {
#pragma unroll 1
  for (int from = kRows - 1; from >= 0; --from) {
    if (row == from) {
#pragma unroll
      for (int j = 0; j < kElements; ++j) {
        float& there = shared[j * kLanes + lane];
        sums[j] += from == kRows - 1 ? 0.0f : there;
        there = sums[j];
      }
    }
    __syncthreads();
  }
}

/// Grid: any number of blocks; each takes kRows rows of kLanes threads in turn, and writes the row
/// of partial sums of its number. kVec elements a piece, kItems pieces a thread; kAlign bytes
/// divide every address. kBlocks: blocks a multiprocessor has to have registers for. kExact: kLanes
/// * kItems
/// * kVec == cols.
template <class Tr, int kVec, int kAlign, int kLanes, int kItems, int kRows, int kBlocks,
          bool kAhead, bool kExact>
__global__ void __launch_bounds__(kLanes* kRows, kBlocks)
    rows_v1(const __grid_constant__ Params p) {
  using T = typename Tr::T;
  using W = typename Tr::W;
  using R = typename Tr::R;
  constexpr int kElements = kItems * kVec;
  constexpr int kWarps = (kLanes * kRows + 31) / 32;
  __shared__ RowSums partial[2][kWarps];  // by turns: one barrier a row is then enough
  __shared__ float together[Tr::kDWeight && kRows > 1 ? kLanes * kElements : 1];

  const int row_in_block = kRows == 1 ? 0 : static_cast<int>(threadIdx.x / kLanes);
  const int lane = static_cast<int>(kRows == 1 ? threadIdx.x : threadIdx.x % kLanes);
  // A warp's pieces are neighbours, so it reads and writes kItems * 32 of them in one stretch.
  constexpr int kGroup = kLanes < 32 ? kLanes : 32;
  constexpr int kStep = kGroup * kVec;
  const int first = (lane / kGroup * kGroup * kItems + lane % kGroup) * kVec;
  const auto inside = [&](int i) { return kExact || first + i * kStep < p.cols; };

  struct Row {
    Vec<T, kVec> dy[kItems];
    Vec<T, kVec> x[kItems];
    Vec<R, kVec> residual[kItems];
    float rstd;
  };
  const auto load = [&](i64 row, Row& to) {
    if (row >= p.rows) return;
    const T* dy = static_cast<const T*>(p.dy) + row * p.dy_stride + first;
    const T* x = static_cast<const T*>(p.x) + row * p.x_stride + first;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (!inside(i)) continue;
      to.x[i] = Vec<T, kVec>::template load<kAlign>(x + i * kStep);
      to.dy[i] = Vec<T, kVec>::template load<kAlign>(dy + i * kStep);
      if constexpr (Tr::kHasResidual) {
        to.residual[i] = Vec<R, kVec>::template load<kAlign>(
            static_cast<const R*>(p.residual) + row * p.residual_stride + first + i * kStep);
      }
    }
    if constexpr (Tr::kRstd) to.rstd = p.rstd[row];
  };

  allow_next_kernel();
  wait_for_previous_kernel();
  Vec<W, kVec> weight[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (!inside(i)) continue;
    weight[i] = Vec<W, kVec>::template load<kAlign, Cache::kReadOnly>(
        static_cast<const W*>(p.weight) + first + i * kStep);
  }
  float sums[kElements] = {};
  const i64 step = i64{gridDim.x} * kRows;
  i64 row = i64{blockIdx.x} * kRows + row_in_block;
  Row now{};
  load(row, now);
  int turn = 0;
  // All threads of the block go round as often as its first row does: they meet at barriers.
  for (i64 block_row = i64{blockIdx.x} * kRows; block_row < p.rows; block_row += step) {
    Row next{};
    if constexpr (kAhead) load(row + step, next);
    RowSums of_thread{};
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (inside(i)) add_sums<Tr, kVec>(now.dy[i], now.x[i], weight[i], p.offset, of_thread);
    }
    const RowSums of_row = row_sums<kLanes>(of_thread, partial[turn], row_in_block);
    turn ^= 1;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      forget(now.dy[i], p.zero);
      forget(now.x[i], p.zero);
      forget(weight[i], p.zero);
    }
    const RowFactors factors = row_factors<Tr>(of_row, now.rstd, p);
    if (kRows == 1 || row < p.rows) {
      T* dx = static_cast<T*>(p.dx) + row * p.dx_stride + first;
#pragma unroll
      for (int i = 0; i < kItems; ++i) {
        if (!inside(i)) continue;
        gradients<Tr, kVec>(now.dy[i], now.x[i], weight[i], now.residual[i], factors, p.offset)
            .template store<kAlign>(dx + i * kStep);
        if constexpr (Tr::kDWeight) {
          add_weight_gradients<Tr, kVec>(now.dy[i], now.x[i], factors.r,
                                         *reinterpret_cast<float (*)[kVec]>(sums + i * kVec));
        }
      }
    }
    row += step;
    if constexpr (kAhead) {
      now = next;
    } else {
      load(row, now);
    }
  }

  if constexpr (Tr::kDWeight) {
    if constexpr (kRows > 1) add_rows<kRows, kLanes>(sums, together, row_in_block, lane);
    if (row_in_block != 0) return;
    float* to = p.partials + blockIdx.x * p.partial_stride + first;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (!inside(i)) continue;
      Vec<float, kVec>::from(*reinterpret_cast<float (*)[kVec]>(sums + i * kVec))
          .template store<16>(to + i * kStep);
    }
  }
}

}  // namespace einkorn::rms_norm_bwd::smxx
