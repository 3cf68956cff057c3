#pragma once

// Copies from global to shared memory that need no registers on the way (PTX ISA, "cp.async";
// sm_80). A thread's copies form groups; who waits for a group sees its own copies only, so a
// barrier must follow before other threads read them.

#include "src/cuda/device/common/address.cuh"

namespace einkorn {

/// kBytes is 4, 8 or 16, and both addresses are multiples of it. 16 bytes pass the L1 by.
template <int kBytes>
__device__ inline void cp_async(void* shared, const void* global) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(shared)),
                 "l"(global)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(shared)),
                 "l"(global), "n"(kBytes)
                 : "memory");
  }
}

/// The same, but only the first `bytes` (0 to kBytes) are read; zeros fill the rest. With 0 the
/// global address is not used, but has to be aligned.
template <int kBytes>
__device__ inline void cp_async_fill(void* shared, const void* global, int bytes) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)),
                 "l"(global), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(shared)),
                 "l"(global), "n"(kBytes), "r"(bytes)
                 : "memory");
  }
}

/// Ends a group: this thread's copies since the last one.
__device__ inline void cp_async_commit_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most the kPending latest groups of this thread are under way.
template <int kPending>
__device__ inline void cp_async_wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Waits for all copies of this thread, in a group or not.
__device__ inline void cp_async_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

}  // namespace einkorn
