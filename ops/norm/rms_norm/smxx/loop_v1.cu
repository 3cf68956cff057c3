// rms_norm/smxx/loop_v1: rows of any length. A block walks its row twice; the second walk finds
// what still lies in L2.
//
// Idea: the widest rows do not fit in registers or shared memory, and there are few of them.

#include "ops/norm/rms_norm/device.cuh"

namespace einkorn::rms_norm::smxx {

template <int kThreads>
__device__ inline float block_sum(float value) {
  __shared__ float partial[kThreads / 32];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kThreads / 32; ++i) sum += partial[i];
  return sum;
}

template <class Tr, int kVec, int kAlign, int kThreads>
__device__ inline void normalize_row(const Params& p, i64 row) {
  using T = typename Tr::T;
  using W = typename Tr::W;
  using R = typename Tr::R;
  const T* x_row = static_cast<const T*>(p.x) + row * p.x_stride;
  const R* residual_row = static_cast<const R*>(p.residual);
  if constexpr (Tr::kHasResidual) residual_row += row * p.residual_stride;
  const int start = static_cast<int>(threadIdx.x) * kVec;
  constexpr int kStep = kThreads * kVec;

  const auto load = [&](int col, float (&h)[kVec]) {
    const auto x = Vec<T, kVec>::template load<kAlign>(x_row + col);
#pragma unroll
    for (int j = 0; j < kVec; ++j) h[j] = x.get(j);
    if constexpr (Tr::kHasResidual) {
      const auto residual = Vec<R, kVec>::template load<kAlign>(residual_row + col);
#pragma unroll
      for (int j = 0; j < kVec; ++j) h[j] += residual.get(j);
    }
  };

  // Blocks of 64 sums are added up apart: the contract bounds the chain of dependent additions.
  float total = 0;
  float sum = 0;
  int terms = 0;
  for (int col = start; col < p.cols; col += kStep) {
    float h[kVec];
    load(col, h);
#pragma unroll
    for (int j = 0; j < kVec; ++j) sum += h[j] * h[j];
    terms += kVec;
    if (terms >= 64) {
      total += sum;
      sum = 0;
      terms = 0;
    }
  }
  const float r = reciprocal_rms(block_sum<kThreads>(total + sum), p);
  const float scale = scale_of<Tr>(r);

  T* y_row = static_cast<T*>(p.y) + row * p.y_stride;
  for (int col = start; col < p.cols; col += kStep) {
    float h[kVec];
    load(col, h);
    const auto weight = Vec<W, kVec>::template load<kAlign, Cache::kReadOnly>(
        static_cast<const W*>(p.weight) + col);
    normalize_vec<Tr, kVec>(h, weight, scale, p.offset).template store<kAlign>(y_row + col);
    if constexpr (Tr::kResidualOut) {
      Vec<R, kVec>::from(h).template store<kAlign>(static_cast<R*>(p.residual_out) +
                                                   row * p.residual_out_stride + col);
    }
  }
  if constexpr (Tr::kRstd) {
    if (threadIdx.x == 0) p.rstd[row] = r;
  }
}

/// Grid: any number of blocks; each takes rows in turn. The 1 in the launch bounds keeps the
/// assembler from spilling to make room for more blocks than its own choice of registers allows.
template <class Tr, int kVec, int kAlign, int kThreads>
__global__ void __launch_bounds__(kThreads, 1) loop_v1(const __grid_constant__ Params p) {
  wait_for_previous_kernel();
  for (i64 row = blockIdx.x; row < p.rows; row += gridDim.x) {
    normalize_row<Tr, kVec, kAlign, kThreads>(p, row);
    __syncthreads();  // the next row reuses the sums' shared memory
  }
}

}  // namespace einkorn::rms_norm::smxx
