// silu_mul_bwd/smxx/flat_v1: every thread loads all its vectors before it uses the first.
//
// Idea: nothing is reused, so the only question is how many bytes are in flight, and with three
// inputs a thread has 48 of them from one vector each. Rows are cut into pieces of one block each;
// without gaps and halves all rows are a single one. A position's inputs are read by the thread
// that writes its outputs, before it writes, so any output may lie on any input.

#include "ops/activation/silu_mul_bwd/device.cuh"

namespace einkorn::silu_mul_bwd::smxx {

/// Grid: rows * pieces_per_row blocks, where a piece is kThreads * kItems * kVec columns. kAlign
/// bytes divide every address.
template <class Tr, int kVec, int kAlign, int kThreads, int kItems>
__global__ void __launch_bounds__(kThreads) flat_v1(const __grid_constant__ Params p) {
  using T = typename Tr::T;
  constexpr int kGate = Tr::kInterleaved ? 2 * kVec : kVec;
  constexpr i64 kPiece = i64{kThreads} * kItems * kVec;
  const i64 pieces = (p.cols + kPiece - 1) / kPiece;
  const i64 row = pieces == 1 ? i64{blockIdx.x} : i64{blockIdx.x} / pieces;
  const i64 first = (i64{blockIdx.x} - row * pieces) * kPiece + i64{threadIdx.x} * kVec;
  const T* dy_row = static_cast<const T*>(p.dy) + row * p.dy_stride;
  const T* gate_row = static_cast<const T*>(p.gate) + row * p.gate_stride;
  const T* up_row = static_cast<const T*>(p.up) + row * p.up_stride;
  T* dgate_row = static_cast<T*>(p.dgate) + row * p.dgate_stride;
  T* dup_row = static_cast<T*>(p.dup) + row * p.dup_stride;
  wait_for_previous_kernel();

  Vec<T, kVec> dy[kItems];
  Vec<T, kGate> gate[kItems];
  Vec<T, kVec> up[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const i64 col = first + i * kThreads * kVec;
    if (col >= p.cols) continue;
    dy[i] = Vec<T, kVec>::template load<kAlign>(dy_row + col);
    gate[i] = Vec<T, kGate>::template load<kAlign>(gate_row + col * (kGate / kVec));
    if constexpr (!Tr::kInterleaved) up[i] = Vec<T, kVec>::template load<kAlign>(up_row + col);
  }
  allow_next_kernel();
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const i64 col = first + i * kThreads * kVec;
    if (col >= p.cols) continue;
    if constexpr (Tr::kInterleaved) {
      gradients_pairs<Tr, kVec>(dy[i], gate[i], p).template store<kAlign>(dgate_row + 2 * col);
    } else {
      Vec<T, kVec> dgate;
      Vec<T, kVec> dup;
      gradients_vec<Tr, kVec>(dy[i], gate[i], up[i], p, dgate, dup);
      dgate.template store<kAlign>(dgate_row + col);
      dup.template store<kAlign>(dup_row + col);
    }
  }
}

}  // namespace einkorn::silu_mul_bwd::smxx
