#pragma once

// Registers of a warp group, moved from those that need few to those that need many (PTX
// setmaxnreg, sm_90a). All warps of a group call it, in one branch for each role of a kernel whose
// launch bounds name its threads and one block.

#include "src/cuda/device/common/types.cuh"

namespace einkorn {

/// kCount: a multiple of 8, from 24 to 256; what all groups ask for fits the multiprocessor.
template <int kCount>
__device__ inline void grow_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}
template <int kCount>
__device__ inline void shrink_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}

}  // namespace einkorn
