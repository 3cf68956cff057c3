#pragma once

// What most kernels need of their block's other threads. Apart from reduce.cuh, whose operations
// and types take longer to compile than a small kernel has for it.

#include "src/cuda/device/common/types.cuh"

namespace einkorn {

inline constexpr u32 kFullWarp = 0xffffffffu;

/// Sum over `kLanes` neighbouring lanes (a power of two up to 32); every lane gets it. All lanes of
/// the warp must arrive. The order is fixed, so results repeat bit by bit.
template <int kLanes = 32>
__device__ inline float warp_sum(float value) {
  // warp_reduce<Sum>, spelled out: a template less for each kernel to instantiate. The shuffle is
  // __shfl_xor_sync, which is a function of a library that the compiler would link in.
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    float other;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, -1;" : "=f"(other) : "f"(value), "r"(offset));
    value += other;
  }
  return value;
}

/// Barrier among `threads` threads (a multiple of 32) of a block; ids 1 to 15, 0 is __syncthreads.
__device__ inline void named_barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

}  // namespace einkorn
