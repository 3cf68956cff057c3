#pragma once

#include "src/cuda/device/common/types.cuh"

namespace einkorn {

/// The address by which PTX instructions name shared memory. The pointer must point there.
__device__ inline u32 shared_address(const void* pointer) {
  return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

}  // namespace einkorn
