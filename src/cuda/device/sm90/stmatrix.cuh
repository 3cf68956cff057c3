#pragma once

// Fragments of matrix products to shared memory (PTX stmatrix, sm_90).

#include "src/cuda/device/common/address.cuh"

namespace einkorn {

/// The inverse of ldmatrix: lane g * 4 + t holds M[g][2t] and M[g][2t + 1] of matrix m in in[m],
/// the lanes 8m to 8m + 7 name the rows of matrix m.
__device__ inline void stmatrix(void* row, const u32 (&in)[4]) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
      "r"(in[0]), "r"(in[1]), "r"(in[2]), "r"(in[3])
      : "memory");
}

/// The inverse of ldmatrix_transposed: lane g * 4 + t holds M[2t][g] and M[2t + 1][g] of matrix m
/// in in[m], the lanes 8m to 8m + 7 name the rows of matrix m.
__device__ inline void stmatrix_transposed(void* row, const u32 (&in)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared_address(row)),
               "r"(in[0]), "r"(in[1]), "r"(in[2]), "r"(in[3])
               : "memory");
}

}  // namespace einkorn
