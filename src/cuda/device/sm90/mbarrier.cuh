#pragma once

// mbarrier objects in shared memory (PTX ISA, "Asynchronous barriers"; sm_90).

#include "src/cuda/device/common/address.cuh"

namespace einkorn {

/// One thread initialises; fence_barrier_init() and a block barrier must follow before use.
__device__ inline void barrier_init(u64* barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}

/// Makes initialised barriers visible to the copy engine.
__device__ inline void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Arrives; what this thread wrote before is visible to whoever waits.
__device__ inline void barrier_arrive(u64* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

/// Has this thread's cp.async copies so far arrive when they are done, one of the arrivals that the
/// barrier was initialised for.
__device__ inline void barrier_arrive_after_copies(u64* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

/// Arrives and announces that `bytes` will be written by copies completing on the barrier.
__device__ inline void barrier_expect(u64* barrier, u32 bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

/// Waits for the phase of the given parity (0 for the first) to complete.
__device__ inline void barrier_wait(u64* barrier, u32 parity) {
  const u32 address = shared_address(barrier);
  u32 done = 0;
  while (done == 0) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}\n"
        : "=r"(done)
        : "r"(address), "r"(parity)
        : "memory");
  }
}

}  // namespace einkorn
