#pragma once

// Programmatic dependent launch (PTX griddepcontrol, sm_90 and newer; nothing before).

namespace einkorn {

/// Waits until the kernels before this one have finished and their writes are visible. Needed
/// before the first access to memory that they write; returns at once without PDL.
__device__ inline void wait_for_previous_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Lets the next kernel of the stream start its preamble once every block has come here or ended.
__device__ inline void allow_next_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Has the cache line of `address` brought into the L2. The one access to global memory that may
/// come before wait_for_previous_kernel(), whoever writes there: writes of all multiprocessors meet
/// in the L2, so that nothing in it is ever stale.
__device__ inline void prefetch_to_l2(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

}  // namespace einkorn
