#pragma once

// Tensor maps, which tell the copy engine of sm_90 how a tensor lies in memory.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <einkorn/dtype.h>

namespace einkorn::cuda {

/// A tensor of three dimensions, x the innermost and contiguous, and the box that a copy moves.
struct TensorMapShape {
  DType dtype;                          ///< bf16, f16 or f32
  std::array<std::int64_t, 3> sizes;    ///< elements: x, y, z
  std::array<std::int64_t, 2> strides;  ///< elements: from y to y, from z to z
  std::array<std::int64_t, 3> box;      ///< elements, each at most 256
  bool swizzled;                        ///< rows of the box are 128 bytes, swizzled by 128
};

inline constexpr std::size_t kTensorMapBytes = 128;

/// Writes `map` of what is at `data` on a device, for kernels that take one
/// (src/cuda/device/sm90/tensor.cuh). False: the driver makes none of such a tensor (of another
/// dtype, with an address or stride that 16 bytes do not divide, or with a size or stride beyond
/// its limits), and nothing is written.
bool make_tensor_map(int device, const void* data, const TensorMapShape& shape,
                     std::span<std::byte, kTensorMapBytes> map);

}  // namespace einkorn::cuda
