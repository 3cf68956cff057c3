// silu_mul/smxx/flat_v1: every thread loads all its vectors before it uses the first.
//
// Idea: nothing is reused, so the only question is how many bytes are in flight. Rows are cut into
// pieces of one block each; a contiguous problem is a single row.
//
// Best: 458.5 us at 16384 x 14336 bf16, 101.4 % of a copy; H100, CUDA 13.0, 2026-11-27
// (docs/devlog/20261127-silu_mul-v1.md).

#include "ops/activation/silu_mul/device.cuh"

namespace einkorn::silu_mul::smxx {

/// Grid: rows * pieces_per_row blocks, where a piece is kThreads * kItems * kVec columns. kAlign
/// bytes divide every address.
template <class Tr, int kVec, int kAlign, int kThreads, int kItems>
__global__ void __launch_bounds__(kThreads) flat_v1(const __grid_constant__ Params p) {
  using T = typename Tr::T;
  constexpr i64 kPiece = i64{kThreads} * kItems * kVec;
  const i64 pieces = (p.cols + kPiece - 1) / kPiece;
  const i64 row = pieces == 1 ? i64{blockIdx.x} : i64{blockIdx.x} / pieces;
  const i64 first = (i64{blockIdx.x} - row * pieces) * kPiece + i64{threadIdx.x} * kVec;
  const T* gate_row = static_cast<const T*>(p.gate) + row * p.gate_stride;
  const T* up_row = static_cast<const T*>(p.up) + row * p.up_stride;
  T* y_row = static_cast<T*>(p.y) + row * p.y_stride;
  wait_for_previous_kernel();

  constexpr int kGate = Tr::kInterleaved ? 2 * kVec : kVec;
  Vec<T, kGate> gate[kItems];
  Vec<T, kVec> up[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const i64 col = first + i * kThreads * kVec;
    if (col >= p.cols) continue;
    if constexpr (Tr::kInterleaved) {
      gate[i] = Vec<T, kGate>::template load<kAlign>(gate_row + 2 * col);
    } else {
      gate[i] = Vec<T, kVec>::template load<kAlign>(gate_row + col);
      up[i] = Vec<T, kVec>::template load<kAlign>(up_row + col);
    }
  }
  allow_next_kernel();
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const i64 col = first + i * kThreads * kVec;
    if (col >= p.cols) continue;
    Vec<T, kVec> y;
    if constexpr (Tr::kInterleaved) {
      y = silu_mul_pairs<Tr, kVec>(gate[i], p);
    } else {
      y = silu_mul_vec<Tr, kVec>(gate[i], up[i], p);
    }
    y.template store<kAlign>(y_row + col);
  }
}

}  // namespace einkorn::silu_mul::smxx
