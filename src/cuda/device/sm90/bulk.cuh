#pragma once

// Bulk copies without a tensor map (PTX cp.async.bulk, sm_90): one thread moves a contiguous piece.
// Addresses and sizes are multiples of 16 bytes.

#include "src/cuda/device/sm90/mbarrier.cuh"

namespace einkorn {

/// Cache policy for data that is read or written once.
__device__ inline u64 evict_first_policy() {
  u64 policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// Orders this thread's ordinary accesses to shared memory before those that the copy engine and
/// the tensor cores make after a barrier that follows.
__device__ inline void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Orders what this thread has seen of global memory, by load_acquire, before copies that it
/// starts.
__device__ inline void fence_async_proxy_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

/// Global to shared; `barrier` completes after `bytes` have arrived.
__device__ inline void bulk_load(void* shared, const void* global, u32 bytes, u64* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(shared)),
      "l"(global), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}
/// The same with a cache policy.
__device__ inline void bulk_load(void* shared, const void* global, u32 bytes, u64* barrier,
                                 u64 policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(shared)),
      "l"(global), "r"(bytes), "r"(shared_address(barrier)), "l"(policy)
      : "memory");
}

/// Shared to global: one thread starts it, when whoever wrote to shared memory has gone through
/// fence_async_proxy() and a barrier, and commits what it started.
__device__ inline void bulk_store(void* global, const void* shared, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
               "r"(shared_address(shared)), "r"(bytes)
               : "memory");
}
__device__ inline void bulk_store_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// This thread waits until what it has committed has been read from shared memory, before that is
/// written again or the block ends.
__device__ inline void bulk_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

}  // namespace einkorn
