#include "src/cuda/tensor_map.h"

#include <cstring>
#include <optional>

#include <einkorn/cuda.h>

#include "src/cuda/driver.h"

namespace einkorn::cuda {
namespace {

static_assert(kTensorMapBytes == sizeof(CUtensorMap));

std::optional<CUtensorMapDataType> type_of(DType dtype) {
  if (dtype == kBF16) return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  if (dtype == kF16) return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  if (dtype == kF32) return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  return std::nullopt;
}

}  // namespace

bool make_tensor_map(int device, const void* data, const TensorMapShape& shape,
                     std::span<std::byte, kTensorMapBytes> map) {
  const auto type = type_of(shape.dtype);
  if (!type) return false;
  const std::int64_t bytes = bits(shape.dtype) / 8;
  cuuint64_t sizes[3];
  cuuint32_t box[3];
  for (std::size_t i = 0; i < 3; ++i) {
    sizes[i] = static_cast<cuuint64_t>(shape.sizes[i]);
    box[i] = static_cast<cuuint32_t>(shape.box[i]);
  }
  cuuint64_t strides[2];
  for (std::size_t i = 0; i < 2; ++i) {
    // There is no next one, whatever the stride says.
    const bool alone = shape.sizes[i + 1] == 1;
    strides[i] = static_cast<cuuint64_t>((alone ? shape.sizes[0] : shape.strides[i]) * bytes);
  }
  const cuuint32_t every[3] = {1, 1, 1};
  CUtensorMap made;                  // has its own alignment
  const ContextGuard guard(device);  // or the driver makes none
  const CUresult result = driver().cuTensorMapEncodeTiled(
      &made, *type, 3, const_cast<void*>(data), sizes, strides, box, every,
      CU_TENSOR_MAP_INTERLEAVE_NONE,
      shape.swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) return false;
  std::memcpy(map.data(), &made, sizeof(made));
  return true;
}

}  // namespace einkorn::cuda
