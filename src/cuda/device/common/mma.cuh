#pragma once

// Matrix products of one warp, D[16][8] += A[16][16] * B[16][8], and the loads of their operands
// from shared memory. All 32 lanes take part in every call.
//
// Which lane holds which element (PTX ISA, "Matrix fragments for mma.m16n8k16 with floating point
// type"); g = lane / 4, t = lane % 4. A register of 16-bit elements holds two neighbours, the one
// given and the next, the first in the low half:
//
//   a[0] A[g][2t]      a[1] A[g + 8][2t]      a[2] A[g][2t + 8]      a[3] A[g + 8][2t + 8]
//        neighbours along the columns of A (k)
//   b[0] B[2t][g]      b[1] B[2t + 8][g]
//        neighbours along the rows of B (k)
//   d[0] D[g][2t]      d[1] D[g][2t + 1]      d[2] D[g + 8][2t]      d[3] D[g + 8][2t + 1]

#include "src/cuda/device/common/address.cuh"

namespace einkorn {

/// T is f16 or bf16. Products are exact, sums at least as precise as f32, of unspecified order and
/// rounding (PTX ISA, "mma").
template <class T>
__device__ void mma_m16n8k16(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]);
template <>
__device__ inline void mma_m16n8k16<f16>(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
template <>
__device__ inline void mma_m16n8k16<bf16>(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Matrices of 8 x 8 elements of 16 bits from shared memory (PTX ISA, "ldmatrix"). The lanes 8m to
// 8m + 7 name the rows of matrix m: `row` is the address of 16 contiguous bytes, aligned to 16.
// Lane g * 4 + t gets M[g][2t] and M[g][2t + 1] of matrix m in out[m]; transposed, M[2t][g] and
// M[2t + 1][g]. Other lanes' addresses are ignored. For the operands above, from rows of `ld`
// elements that begin at the tile:
//
//   a, A stored by rows                ldmatrix(a, tile + lane % 16 * ld + lane / 16 * 8)
//   b, B stored by rows (k, then n)    ldmatrix_transposed(b, tile + lane % 16 * ld)
//   b, B stored by columns (n, then k) ldmatrix(b, tile + lane % 8 * ld + lane / 8 % 2 * 8)

__device__ inline void ldmatrix(u32 (&out)[1], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(out[0])
               : "r"(shared_address(row))
               : "memory");
}
__device__ inline void ldmatrix(u32 (&out)[2], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(out[0]), "=r"(out[1])
               : "r"(shared_address(row))
               : "memory");
}
__device__ inline void ldmatrix(u32 (&out)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(shared_address(row))
               : "memory");
}

__device__ inline void ldmatrix_transposed(u32 (&out)[1], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(out[0])
               : "r"(shared_address(row))
               : "memory");
}
__device__ inline void ldmatrix_transposed(u32 (&out)[2], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(out[0]), "=r"(out[1])
               : "r"(shared_address(row))
               : "memory");
}
__device__ inline void ldmatrix_transposed(u32 (&out)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(shared_address(row))
               : "memory");
}

}  // namespace einkorn
