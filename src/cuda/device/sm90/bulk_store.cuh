#pragma once

// Bulk copies from shared to global memory (PTX cp.async.bulk, sm_90): one thread moves a
// contiguous piece. Addresses and sizes are multiples of 16 bytes.

#include "src/cuda/device/common/address.cuh"

namespace einkorn {

/// Who wrote the piece called fence_async_proxy() before a barrier. Belongs to this thread's group.
__device__ inline void bulk_store(void* global, const void* shared, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
               "r"(shared_address(shared)), "r"(bytes)
               : "memory");
}

/// Ends a group: this thread's bulk stores since the last one.
__device__ inline void bulk_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until at most the kPending latest groups of this thread still read shared memory, which
/// has to stay until then.
template <int kPending>
__device__ inline void bulk_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

}  // namespace einkorn
