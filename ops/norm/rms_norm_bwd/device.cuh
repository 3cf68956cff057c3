#pragma once

// What all rms_norm_bwd kernels compute, apart from how they move data, and the second stage of
// dweight, which they share.

// Products and sums are fused where it is written, so that every instantiation gives a row the same
// bits.

#include "ops/norm/rms_norm/device.cuh"
#include "ops/norm/rms_norm_bwd/params.h"

namespace einkorn::rms_norm_bwd {

using rms_norm::Rounding;

/// Everything that a kernel is specialised on. W and R are `none` where the tensor is left out.
template <class T_, class W_, class R_, int kRounding_, bool kRstd_, bool kDWeight_>
struct Traits {
  using T = T_;
  using W = W_;
  using R = R_;
  static constexpr Rounding kRounding = static_cast<Rounding>(kRounding_);
  static constexpr bool kHasWeight = !is_none<W>;
  static constexpr bool kHasResidual = !is_none<R>;
  static constexpr bool kRstd = kRstd_;
  static constexpr bool kDWeight = kDWeight_;
};

/// The sums over a row that its gradients need: of h^2, not with a given rstd, and of m * h.
struct RowSums {
  float squares;
  float products;
};

__device__ inline RowSums operator+(const RowSums& a, const RowSums& b) {
  return {a.squares + b.squares, a.products + b.products};
}

/// Over each group of kLanes neighbouring lanes of a warp; every lane gets its group's.
template <int kLanes>
__device__ inline RowSums warp_sums(const RowSums& sums) {
  return {warp_sum<kLanes>(sums.squares), warp_sum<kLanes>(sums.products)};
}

/// What dx = r * m - h * r * slope and dweight need of a row.
struct RowFactors {
  float r;
  float slope;  ///< r * mean(m * h * r)
};

template <class Tr>
__device__ inline RowFactors row_factors(const RowSums& sums, float rstd, const Params& p) {
  const float r = Tr::kRstd ? rstd : rsqrtf(sums.squares * p.inverse_cols + p.eps);
  return {r, r * (r * (sums.products * p.inverse_cols))};
}

/// The same bits, which the assembler cannot know because only we know that `zero` is 0: it then
/// takes them apart again where they are used next, in place of keeping what it made of them, which
/// is twice as many registers. An instruction for 32 bits.
template <class T, int kN>
__device__ inline void forget(Vec<T, kN>& vec, u32 zero) {
  if constexpr (sizeof(T) == 2 && kN % 2 == 0) {
#pragma unroll
    for (int i = 0; i < kN / 2; ++i) reinterpret_cast<u32*>(vec.item)[i] ^= zero;
  }
}
template <int kN>
__device__ inline void forget(Vec<none, kN>&, u32) {}

/// m = dy * (w + offset) of kN columns.
template <class Tr, int kN>
__device__ inline void load_products(const Vec<typename Tr::T, kN>& dy,
                                     const Vec<typename Tr::W, kN>& weight, float offset,
                                     float (&m)[kN]) {
  rms_norm::to_floats(dy, m);
  if constexpr (Tr::kHasWeight) {
    float scales[kN];
    rms_norm::load_scales<Tr>(weight, offset, scales);
#pragma unroll
    for (int j = 0; j < kN; ++j) m[j] *= scales[j];
  }
}

template <class Tr, int kN>
__device__ inline void add_sums(const Vec<typename Tr::T, kN>& dy, const Vec<typename Tr::T, kN>& x,
                                const Vec<typename Tr::W, kN>& weight, float offset,
                                RowSums& sums) {
  float h[kN];
  float m[kN];
  rms_norm::to_floats(x, h);
  load_products<Tr>(dy, weight, offset, m);
#pragma unroll
  for (int j = 0; j < kN; ++j) {
    if constexpr (!Tr::kRstd) sums.squares = fmaf(h[j], h[j], sums.squares);
    sums.products = fmaf(m[j], h[j], sums.products);
  }
}

/// kN values of dx.
template <class Tr, int kN>
__device__ inline Vec<typename Tr::T, kN> gradients(const Vec<typename Tr::T, kN>& dy,
                                                    const Vec<typename Tr::T, kN>& x,
                                                    const Vec<typename Tr::W, kN>& weight,
                                                    const Vec<typename Tr::R, kN>& residual,
                                                    const RowFactors& row, float offset) {
  float h[kN];
  float dx[kN];
  rms_norm::to_floats(x, h);
  load_products<Tr>(dy, weight, offset, dx);
#pragma unroll
  for (int j = 0; j < kN; ++j) dx[j] = fmaf(-(h[j] * row.r), row.slope, row.r * dx[j]);
  if constexpr (Tr::kHasResidual) {
    float added[kN];
    rms_norm::to_floats(residual, added);
#pragma unroll
    for (int j = 0; j < kN; ++j) dx[j] += added[j];
  }
  return Vec<typename Tr::T, kN>::from(dx);
}

/// Adds dy * x^ of kN columns, x^ as the forward had it.
template <class Tr, int kN>
__device__ inline void add_weight_gradients(const Vec<typename Tr::T, kN>& dy,
                                            const Vec<typename Tr::T, kN>& x, float r,
                                            float (&sums)[kN]) {
  float normalised[kN];
  float gradient[kN];
  rms_norm::to_floats(x, normalised);
  rms_norm::to_floats(dy, gradient);
  const float factor = rms_norm::scale_of<Tr>(r);
#pragma unroll
  for (int j = 0; j < kN; ++j) normalised[j] *= factor;
  if constexpr (Tr::kRounding != Rounding::kGemma) rms_norm::round_all<typename Tr::T>(normalised);
#pragma unroll
  for (int j = 0; j < kN; ++j) sums[j] = fmaf(gradient[j], normalised[j], sums[j]);
}

/// dweight from the partial sums, in an order that partial_rows alone decides. Grid: a block of
/// 1024 threads for 32 columns; warps take partial rows in turn.
template <class D>
__global__ void __launch_bounds__(1024, 1) sum_partials(const __grid_constant__ Params p) {
  __shared__ float sums[32][33];  // one more: a column's reads then fall on 32 banks
  allow_next_kernel();
  wait_for_previous_kernel();
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const i64 col = i64{blockIdx.x} * 32 + lane;
  float sum = 0;
  if (col < p.cols) {
#pragma unroll 4
    for (i64 row = warp; row < p.partial_rows; row += 32) {
      sum += p.partials[row * p.partial_stride + col];
    }
  }
  sums[warp][lane] = sum;
  __syncthreads();
  const float total = warp_sum(sums[lane][warp]);
  const i64 out = i64{blockIdx.x} * 32 + warp;
  if (lane == 0 && out < p.cols) static_cast<D*>(p.dweight)[out] = from_float<D>(total);
}

}  // namespace einkorn::rms_norm_bwd
