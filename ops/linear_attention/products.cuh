#pragma once

// Products that preparing chunks needs beside those of src/cuda/device/common/mma.cuh, whose words
// for fragments these are.

#include "src/cuda/device/common/mma.cuh"

namespace einkorn::linear_attention {

/// D[16][8] += A[16][8] * B[8][8] of f32 numbers, of whose mantissas 10 bits are used; the others
/// are cut off. a[0] A[g][t], a[1] A[g + 8][t], a[2] A[g][t + 4], a[3] A[g + 8][t + 4], b[0]
/// B[t][g], b[1] B[t + 4][g], d as in mma.cuh (PTX ISA, "Matrix fragments for mma.m16n8k8"; sm_80).
__device__ inline void mma_tf32_m16n8k8(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// A number times this is cut to nearly its nearest of 10 bits of mantissa, so that errors have
/// both signs. cvt.rna.tf32 is several instructions on sm_90, and adding half a last place to the
/// bits would turn a NaN into -0.
inline constexpr float kTf32ToNearest = 1.0f + 0x1p-11f;

/// Products of two pairs of bf16, each rounded once.
__device__ inline u32 multiply_bf16x2(u32 a, u32 b) {
  u32 out;
  // A product plus -0 is the product; mul.bf16x2 itself begins with sm_90.
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(0x80008000u));
  return out;
}

}  // namespace einkorn::linear_attention
