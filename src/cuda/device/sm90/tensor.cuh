#pragma once

// Copies of boxes out of a tensor (PTX cp.async.bulk.tensor, sm_90): one thread moves what its map
// calls a box, rows with a stride of their own, swizzled on the way.

#include "src/cuda/device/sm90/bulk.cuh"
#include "src/cuda/device/sm90/tensor_map.h"

namespace einkorn {

/// The box that begins at (x, y, z), x the innermost, to `shared`, which 128 divides (1024 with
/// a swizzle of 128 bytes); `barrier` completes after all its bytes. `map` is part of the kernel's
/// parameters (__grid_constant__).
__device__ inline void tensor_load(void* shared, const TensorMap& map, int x, int y, int z,
                                   u64* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(shared)),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(shared_address(barrier))
      : "memory");
}

}  // namespace einkorn
